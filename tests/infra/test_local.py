import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from infra.laptop import welcome
from infra.options import Options

REPOSITORY = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "infra.local"]


def environment(**settings: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "HOST": "", "ENDPOINT": "", **settings}


class Service:
    """`make run` in an empty folder, started and ready."""

    def __init__(self, process: "subprocess.Popen[str]", folder: Path) -> None:
        assert process.stdout
        self.process = process
        self.file = folder / ".octolease" / "local.json"
        self.curl = next(line for line in process.stdout if line.startswith("curl "))

    def end(self, number: int) -> tuple[int, str, float]:
        """Exit code, what it said on stderr, and how long it took."""
        started = time.monotonic()
        self.process.send_signal(number)
        _, stderr = self.process.communicate(timeout=10)
        return self.process.returncode, stderr, time.monotonic() - started

    def run_curl(self) -> Any:
        *_, method, url, _, authorization, _, content_type, _, body = shlex.split(self.curl)
        host, path = url.removeprefix("http://").split("/", 1)
        connection = HTTPConnection(host)
        headers = dict(header.split(": ") for header in (authorization, content_type))
        connection.request(method, f"/{path}", body, headers)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer


@contextmanager
def started(folder: Path) -> Iterator[Service]:
    with subprocess.Popen(
        COMMAND, cwd=folder, env=environment(PORT="0"), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield Service(process, folder)
        finally:
            process.kill()


def refused(folder: Path, **settings: str) -> str:
    """What it says when it does not start."""
    result = subprocess.run(
        COMMAND, cwd=folder, env=environment(**settings), text=True, capture_output=True, timeout=30, check=False
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_the_curl_line_works_as_printed_and_again_says_held(tmp_path: Path) -> None:
    with started(tmp_path) as service:
        first, second = service.run_curl(), service.run_curl()
        _, log, _ = service.end(signal.SIGTERM)
    assert (first["status"], first["metadata"]) == ("acquired", "host=runner-7 build=1842")
    assert (second["status"], second["metadata"]) == ("held", "host=runner-7 build=1842")
    line = r"\d\d:\d\d:\d\d\.\d{3} POST /locks/deploy-main/acquire 200 \d+\.\d ms req_[0-9a-f]{32}\n"
    assert re.fullmatch(line * 2, log)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_quietly_and_at_once_though_a_client_is_connected(tmp_path: Path, number: int) -> None:
    with started(tmp_path) as service:
        published = json.loads(service.file.read_text())
        assert published["pid"] == service.process.pid
        assert published["token"] in service.curl
        port = int(published["url"].rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port)):
            code, stderr, seconds = service.end(number)
    assert (code, stderr) == (0, "")
    assert seconds < 10, "it must not wait until the client leaves"
    assert not service.file.exists()


def test_a_taken_port_is_said_with_a_way_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"Port {port} is taken" in refused(tmp_path, PORT=str(port))


def test_a_wrong_port_is_said_with_a_way_out(tmp_path: Path) -> None:
    assert "PORT='http' is no port" in refused(tmp_path, PORT="http")


def test_a_store_that_does_not_answer_is_said_with_a_way_out(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert f"No DynamoDB answers at {endpoint}" in refused(tmp_path, PORT="0", ENDPOINT=endpoint)


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])  # noqa: S104
def test_a_warning_is_given_where_others_can_read_the_token(host: str, warned: bool) -> None:
    text = welcome(Options(host=host, port=8080, endpoint=None), "http://127.0.0.1:8080", "olt_1_secret")
    assert ("clear text" in text) is warned
