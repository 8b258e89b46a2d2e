import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import boto3
import pytest

from infra import embedded
from infra.options import Options
from infra.welcome import welcome
from tests.infra import endpoint

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
        self.said: list[str] = []
        self.curl = next(line for line in self._spoken(process.stdout) if line.startswith("curl "))
        self.token = self.curl.split("Bearer ")[1].split("'")[0]

    def _spoken(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            self.said.append(line)
            yield line

    def end(self, number: int) -> tuple[int, str, float]:
        """Exit code, what it said on stderr, and how long it took."""
        started = time.monotonic()
        self.process.send_signal(number)
        _, stderr = self.process.communicate(timeout=10)
        return self.process.returncode, stderr, time.monotonic() - started

    def run_curl(self) -> Any:
        *_, method, url, _, authorization, _, content_type, _, body = shlex.split(self.curl)
        headers = dict(header.split(": ") for header in (authorization, content_type))
        return self._answer(method, url, body, headers)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        url = re.sub("/locks/.*", "", shlex.split(self.curl)[6])
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        return self._answer(method, url + path, None if body is None else json.dumps(body), headers)

    def _answer(self, method: str, url: str, body: str | None, headers: dict[str, str]) -> Any:
        host, path = url.removeprefix("http://").split("/", 1)
        with closing(HTTPConnection(host)) as connection:
            connection.request(method, f"/{path}", body, headers)
            return json.loads(connection.getresponse().read())


@contextmanager
def started(folder: Path, **settings: str) -> Iterator[Service]:
    with subprocess.Popen(
        COMMAND,
        cwd=folder,
        env=environment(PORT="0", **settings),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
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


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"ENDPOINT": "http://127.0.0.1:99999"}, "ENDPOINT='http://127.0.0.1:99999' is no URL"),
        ({"ENDPOINT": "http://[::1"}, "ENDPOINT='http://[::1' is no URL"),
        ({"HOST": "a..b"}, "HOST=a..b is no name"),
        ({"HOST": "192.0.2.1"}, "HOST=192.0.2.1 is no address of this machine"),
        ({"SKEW_MARGIN_MS": "abc"}, "SKEW_MARGIN_MS='abc'"),
    ],
    ids=str,
)
def test_an_odd_setting_is_said_with_a_way_out(tmp_path: Path, settings: dict[str, str], said: str) -> None:
    assert said in refused(tmp_path, **{"PORT": "0", **settings})


def test_a_profile_that_does_not_exist_is_said(tmp_path: Path) -> None:
    assert "nobody" in refused(tmp_path, PORT="0", ENDPOINT="http://127.0.0.1:9", AWS_PROFILE="nobody")


@pytest.mark.parametrize("blocked", [".octolease", ".octolease/local.json/x"])
def test_a_folder_that_cannot_be_written_is_said_with_a_way_out(tmp_path: Path, blocked: str) -> None:
    """Not by its mode, which does not stop everybody: a file stands where a folder should, or the other way round."""
    (tmp_path / blocked).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / blocked).touch()
    assert ".octolease" in refused(tmp_path, PORT="0")


def test_a_second_service_in_the_folder_leaves_the_file_to_the_first_and_says_so(tmp_path: Path) -> None:
    with started(tmp_path) as first:
        published = first.file.read_text()
        with started(tmp_path) as second:
            assert json.loads(published)["url"] in next(line for line in second.said if line.startswith("Note: "))
            assert second.run_curl()["status"] == "acquired"
            second.end(signal.SIGTERM)
        assert first.file.read_text() == published
        first.end(signal.SIGTERM)
    assert not first.file.exists()


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])  # noqa: S104
def test_a_warning_is_given_where_others_can_read_the_token(host: str, warned: bool) -> None:
    text = welcome(Options(host=host, port=8080, endpoint=None), "http://127.0.0.1:8080", "olt_1_secret", [])
    assert ("clear text" in text) is warned


def history(service: Service, job: str, *types: str) -> None:
    """The log follows the table within moments; this is a process of its own, whose clock cannot be moved."""
    deadline = time.monotonic() + 20
    while True:
        seen = [event["type"] for event in service.ask("GET", f"/jobs/{job}/events")["events"]]
        if sorted(seen) == sorted(types):
            return
        assert time.monotonic() < deadline, seen
        time.sleep(0.05)


def work_on(service: Service, job: str) -> None:
    lease = service.ask("POST", f"/jobs/{job}/claim", {"owner": "agent"})
    assert lease["status"] == "claimed", lease
    service.ask("POST", f"/jobs/{job}/heartbeat", {"lease_id": lease["lease_id"]})
    service.ask("POST", f"/jobs/{job}/release", {"lease_id": lease["lease_id"], "outcome": "done"})


def test_what_happens_to_a_job_is_in_its_history_as_on_aws(tmp_path: Path) -> None:
    with started(tmp_path) as service:
        work_on(service, "issue-7")
        history(service, "issue-7", "claimed", "done")
        code, errors, _ = service.end(signal.SIGTERM)
    assert (code, "ERROR" in errors) == (0, False)


def test_somebodys_own_dynamodb_keeps_the_history_and_no_token_that_is_still_good(tmp_path: Path) -> None:
    with embedded.dynamodb(), endpoint.listening() as url:
        tokens = []
        for job in ("issue-1", "issue-2"):
            with started(tmp_path, ENDPOINT=url) as service:
                tokens.append(service.token.split("_")[1])
                work_on(service, job)
                history(service, "issue-1", "claimed", "done")
                history(service, job, "claimed", "done")
                assert service.end(signal.SIGINT)[0] == 0
        rows = boto3.client("dynamodb").scan(TableName="octolease-tokens")["Items"]
    assert sorted(row["token_id"]["S"] for row in rows) == sorted(tokens)
    assert all(int(row["revoked_at_ms"]["N"]) > 0 for row in rows)


def test_a_store_that_is_gone_at_the_end_holds_nobody_up(tmp_path: Path) -> None:
    with embedded.dynamodb(), ExitStack() as store, ExitStack() as services:
        url = store.enter_context(endpoint.listening())
        service = services.enter_context(started(tmp_path, ENDPOINT=url))
        store.close()
        code, errors, _ = service.end(signal.SIGINT)
    assert (code, errors) == (0, "")
