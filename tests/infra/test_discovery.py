import json
import os
import socket
from pathlib import Path

import pytest

from infra.discovery import answers, published
from tests.infra.running import Running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".octolease" / "local.json"


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_tools_find_the_url_the_token_and_the_process(path: Path) -> None:
    with published(path, url="http://127.0.0.1:1", token="secret"):
        assert json.loads(path.read_text()) == {"url": "http://127.0.0.1:1", "token": "secret", "pid": os.getpid()}


def test_nobody_else_can_read_the_token(path: Path) -> None:
    path.parent.mkdir(mode=0o755)
    path.touch(mode=0o644)
    with published(path, url="http://127.0.0.1:1", token="secret"):
        assert (mode_of(path.parent), mode_of(path)) == (0o700, 0o600)


def test_nothing_is_left_at_the_end(path: Path) -> None:
    with published(path, url="http://127.0.0.1:1", token="secret"):
        pass
    assert list(path.parent.iterdir()) == []


def test_another_service_that_came_later_stays_published(path: Path) -> None:
    with published(path, url="http://127.0.0.1:1", token="ours"):
        path.write_text("theirs")
    assert path.read_text() == "theirs"


def test_a_service_that_still_runs_stays_published(path: Path) -> None:
    with published(path, url="http://127.0.0.1:1", token="theirs"):
        theirs = path.read_text()
        with published(path, url="http://127.0.0.1:2", token="ours", is_running=lambda _: True) as other:
            assert other == "http://127.0.0.1:1"
            assert path.read_text() == theirs
        assert path.read_text() == theirs


@pytest.mark.parametrize("left", ['{"url": "http://127.0.0.1:1", "token": "t"}', "", "[]", '{"url": 1}', "{}", "\x00"])
def test_what_a_service_left_behind_that_runs_no_more_is_replaced(path: Path, left: str) -> None:
    path.parent.mkdir()
    path.write_text(left)
    with published(path, url="http://127.0.0.1:2", token="ours", is_running=lambda _: False) as other:
        assert other is None
        assert json.loads(path.read_text())["url"] == "http://127.0.0.1:2"


def test_a_service_runs_if_it_says_that_it_is_well(service: Running) -> None:
    assert answers(f"http://127.0.0.1:{service.server.port}")


def test_what_is_no_service_of_ours_does_not_run() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        for url in (f"http://127.0.0.1:{silent.getsockname()[1]}", "http://", "x", "http://[", "http://a:b", ""):
            assert not answers(url), url


def test_a_file_that_somebody_removed_is_no_trouble(path: Path) -> None:
    with published(path, url="http://127.0.0.1:1", token="ours"):
        path.unlink()
    assert not path.exists()
