import json
import os
from pathlib import Path

import pytest

from infra.discovery import published


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


def test_a_file_that_somebody_removed_is_no_trouble(path: Path) -> None:
    with published(path, url="http://127.0.0.1:1", token="ours"):
        path.unlink()
    assert not path.exists()
