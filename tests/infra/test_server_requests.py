import pytest

from tests.infra.running import Running, answer_on, answer_to, running
from tests.infra.tiny_app import RecordingApp

ACQUIRE = b"POST /locks/a/acquire HTTP/1.1\r\nHost: x\r\n"


def test_a_body_comes_whole_by_length_or_in_chunks(service: Running, app: RecordingApp) -> None:
    answer_to(service, ACQUIRE + b"Content-Length: 5\r\n\r\nhello")
    answer_to(
        service, ACQUIRE + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nTrailer: 1\r\n\r\n"
    )
    assert [event["body"] for event in app.events] == ["hello", "hello"]


@pytest.mark.parametrize(
    "part",
    [
        b"Content-Length: 50\r\n\r\nhalf",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"Content-Len",
    ],
)
def test_a_request_cut_in_the_middle_never_reaches_the_app(service: Running, app: RecordingApp, part: bytes) -> None:
    response, body = answer_to(service, ACQUIRE + part, then_cut=True)
    assert (response.status, body["code"]) == (400, "invalid_input")
    assert app.events == []


def test_a_body_that_stops_coming_never_reaches_the_app(app: RecordingApp) -> None:
    with running(app, idle_seconds=0.05) as service:
        response, body = answer_to(service, ACQUIRE + b"Content-Length: 50\r\n\r\nhalf")
    assert (response.status, body["code"]) == (400, "invalid_input")
    assert app.events == []


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: %d\r\n\r\n" % (10 * 1024 * 1024 + 1),
        b"Content-Length: 999999999999999999\r\nExpect: 100-continue\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nA00001\r\n",
    ],
)
def test_a_body_over_10_mb_is_refused_before_it_is_read(service: Running, app: RecordingApp, body: bytes) -> None:
    response, answer = answer_to(service, ACQUIRE + body)
    assert (response.status, answer["code"]) == (413, "payload_too_large")
    assert response.getheader("Connection") == "close"
    assert app.events == []


def test_a_client_that_sends_all_of_a_large_body_first_still_gets_the_answer(service: Running) -> None:
    client = service.client()
    client.request("POST", "/locks/a/acquire", body=b" " * (20 * 1024 * 1024))
    assert client.getresponse().status == 413
    client.close()


def test_a_client_that_waits_for_100_continue_is_told_to_go_on(service: Running) -> None:
    with service.connect() as connection:
        connection.sendall(ACQUIRE + b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(1024) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"{}")
        assert answer_on(connection)[1] == {"acquired": "a"}


@pytest.mark.parametrize(
    "garbage",
    [
        b"hello\r\n\r\n",
        b"GET /health\r\n\r\n",
        b"GET /health HTTP/2.0\r\n\r\n",
        b"GET  /health HTTP/1.1\r\n\r\n",
        b"GET /locks/\x1b[31m HTTP/1.1\r\n\r\n",
        b"GET /locks/\xc3\xa9 HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\n",
        b"\x00" * 70_000,
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nNo colon\r\n\r\n",
        b"GET /health HTTP/1.1\r\nName : value\r\n\r\n",
        b"GET /health HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
        b"GET /health HTTP/1.1\r\n" + b"A: b\r\n" * 101 + b"\r\n",
        ACQUIRE + b"Content-Length: -1\r\n\r\n",
        ACQUIRE + b"Content-Length: +1\r\n\r\na",
        ACQUIRE + b"Content-Length: 1e3\r\n\r\n",
        ACQUIRE + b"Content-Length: \r\n\r\n",
        ACQUIRE + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\na",
        ACQUIRE + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ACQUIRE + b"Transfer-Encoding: gzip\r\n\r\n",
        ACQUIRE + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        ACQUIRE + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused_in_our_shape(service: Running, app: RecordingApp, garbage: bytes) -> None:
    response, body = answer_to(service, garbage)
    assert (response.status, body["code"], body["details"]) == (400, "invalid_input", None)
    assert response.getheader("X-Request-Id") == body["request_id"]
    assert response.getheader("Connection") == "close"
    assert app.events == []
