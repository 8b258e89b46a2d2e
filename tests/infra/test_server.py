import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from tests.infra.running import Running, answer_on, answer_to, running
from tests.infra.tiny_app import RecordingApp

CONNECTIONS = 200


def test_a_connection_is_kept_for_the_next_request(service: Running) -> None:
    with service.connect() as connection:
        for _ in range(3):
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert answer_on(connection)[1] == {"status": "ok"}


def test_requests_sent_at_once_are_answered_in_order(service: Running) -> None:
    with service.connect() as connection:
        connection.sendall(b"GET /locks/a HTTP/1.1\r\n\r\nGET /locks/b HTTP/1.1\r\nConnection: close\r\n\r\n")
        with connection.makefile("rb") as stream:
            received = stream.read()
    assert re.findall(rb'{"name":"(.)"}', received) == [b"a", b"b"]


@pytest.mark.parametrize("head", [b"HTTP/1.1\r\nConnection: close", b"HTTP/1.0"])
def test_a_connection_ends_when_the_client_wants_it(service: Running, head: bytes) -> None:
    with service.connect() as connection:
        connection.sendall(b"GET /health " + head + b"\r\n\r\n")
        assert answer_on(connection)[0].getheader("Connection") == "close"
        assert connection.recv(1) == b""


def test_200_connections_are_served_at_once(service: Running) -> None:
    barrier = Barrier(CONNECTIONS)

    def ask_twice(number: int) -> list[Any]:
        with service.connect() as connection:
            barrier.wait(timeout=30)  # all of them are open now
            answers = []
            for _ in range(2):
                connection.sendall(b"POST /locks/n%d/acquire HTTP/1.1\r\nContent-Length: 0\r\n\r\n" % number)
                answers.append(answer_on(connection)[1])
            return answers

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        answers = list(pool.map(ask_twice, range(CONNECTIONS)))
    assert answers == [[{"acquired": f"n{number}"}] * 2 for number in range(CONNECTIONS)]


def test_an_idle_connection_is_closed_without_a_word(app: RecordingApp) -> None:
    with running(app, idle_seconds=0.05) as service:
        with service.connect() as connection:
            assert connection.recv(1) == b""
        assert service.lines == []


def test_a_whole_url_as_target_means_its_path(service: Running, app: RecordingApp) -> None:
    answer_to(service, b"GET http://localhost:8080/locks/a?x=1 HTTP/1.1\r\n\r\n")
    assert app.events[0]["path"] == "/locks/a"


def test_an_answer_without_a_body_leaves_nothing_for_the_next_one(service: Running) -> None:
    with service.connect() as connection:
        connection.sendall(b"DELETE /nothing HTTP/1.1\r\n\r\n")
        assert answer_on(connection)[0].status == 204
        connection.sendall(b"GET /health HTTP/1.1\r\n\r\n")
        assert answer_on(connection)[1] == {"status": "ok"}


def test_head_gets_the_length_and_no_body(service: Running) -> None:
    client = service.client()
    client.request("HEAD", "/health")
    response = client.getresponse()
    assert (response.read(), response.getheader("Content-Length")) == (b"", "15")
    client.close()


def test_an_answer_does_not_tell_what_software_runs(service: Running) -> None:
    response, _ = answer_to(service, b"GET /health HTTP/1.1\r\n\r\n")
    assert response.getheader("Server") is None
    assert response.getheader("Date") is not None


def test_a_client_that_goes_away_harms_nobody(service: Running, capsys: pytest.CaptureFixture[str]) -> None:
    for part in (b"", b"GET", b"GET /health HTTP/1.1\r\n\r\n"):
        connection = service.connect()
        connection.sendall(part)
        # With no time to linger, closing resets the connection.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        connection.close()
    response, _ = answer_to(service, b"GET /health HTTP/1.1\r\n\r\n")
    assert response.status == 200
    assert capsys.readouterr().err == ""


def test_each_request_leaves_one_line_without_secrets(service: Running) -> None:
    answer_to(
        service,
        b"DELETE /nothing?token=olt_1_secret HTTP/1.1\r\nAuthorization: Bearer olt_1_secret\r\n\r\n",
    )
    (line,) = service.lines
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3} DELETE /nothing 204 \d+\.\d ms req_of_the_app", line)


@pytest.mark.parametrize("join", ["_", "%5F"])
def test_a_token_in_the_path_loses_its_secret_in_the_log(service: Running, join: str) -> None:
    answer_to(service, f"GET /locks/olt{join}1f{join}5ecre7 HTTP/1.1\r\n\r\n".encode())
    (line,) = service.lines
    assert f"/locks/olt{join}1f{join}*** 200" in line
    assert "5ecre7" not in line


def test_a_control_character_never_reaches_the_log(service: Running) -> None:
    answer_to(service, b"GET /locks/\x1b[31m HTTP/1.1\r\n\r\n")
    (line,) = service.lines
    assert line.isprintable()


def test_stopping_answers_what_is_under_way_and_drops_what_is_idle(app: RecordingApp) -> None:
    entered, may_answer = threading.Event(), threading.Event()

    @app.route("/slow")
    def slow() -> dict[str, str]:
        entered.set()
        may_answer.wait(timeout=10)
        return {"answered": "in full"}

    service = Running(app, idle_seconds=10)
    with service.connect() as idle, service.connect() as busy:
        busy.sendall(b"GET /slow HTTP/1.1\r\n\r\n")
        entered.wait(timeout=10)
        threading.Timer(0.05, may_answer.set).start()
        started = time.monotonic()
        service.stop()
        assert time.monotonic() - started < 4
        assert answer_on(busy)[1] == {"answered": "in full"}
        assert idle.recv(1) == b""
