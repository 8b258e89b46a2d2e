import re
from typing import Any

import pytest

from infra.gateway import Gateway, HttpRequest, HttpResponse

NOON_MS = 1_800_000_000_123


def get(app: Any, target: str) -> HttpResponse:
    return Gateway(app).handle(HttpRequest("GET", target))


def assert_refused(response: HttpResponse, status: int, code: str) -> None:
    body = response.json()
    assert (response.status, body["code"]) == (status, code)
    assert set(body) >= {"error", "code", "details", "request_id"}
    assert re.fullmatch("req_[0-9a-f]{32}", body["request_id"])
    assert response.header("X-Request-Id") == body["request_id"]
    assert response.header("Content-Type") == "application/json"
    assert response.header("Cache-Control") == "no-store"


def test_the_answer_of_the_app_comes_back(app: Any) -> None:
    response = Gateway(app).handle(HttpRequest("POST", "/locks/deploy-main/acquire"))
    assert (response.status, response.json()) == (200, {"acquired": "deploy-main"})


@pytest.mark.parametrize("name", ["repo%2Facme%2Fissue-7", "%64eploy", "%2564eploy", "a%20b", "%00", "..", "a;b"])
def test_a_name_is_passed_on_as_it_came(app: Any, name: str) -> None:
    get(app, f"/locks/{name}")
    assert app.events[0]["pathParameters"] == {"name": name}
    assert app.events[0]["path"] == f"/locks/{name}"


def test_a_literal_route_comes_before_a_parameter(app: Any) -> None:
    assert get(app, "/locks/all").json() == {"name": "the literal route"}


def test_the_event_is_that_of_a_rest_proxy(app: Any) -> None:
    request = HttpRequest(
        "POST",
        "/locks/deploy/acquire?prefix=repo%2Fa&limit=1&limit=2",
        headers=[("Content-Type", "application/json"), ("X-Many", "1"), ("X-Many", "2")],
        body='{"owner":"Zoë"}'.encode(),
        client_ip="203.0.113.9",
    )
    Gateway(app, clock_ms=lambda: NOON_MS).handle(request)
    (event,) = app.events
    context = event.pop("requestContext")
    assert event == {
        "resource": "/locks/{name}/acquire",
        "path": "/locks/deploy/acquire",
        "httpMethod": "POST",
        "headers": {"Content-Type": "application/json", "X-Many": "2"},
        "multiValueHeaders": {"Content-Type": ["application/json"], "X-Many": ["1", "2"]},
        "queryStringParameters": {"prefix": "repo/a", "limit": "2"},
        "multiValueQueryStringParameters": {"prefix": ["repo/a"], "limit": ["1", "2"]},
        "pathParameters": {"name": "deploy"},
        "stageVariables": None,
        "body": '{"owner":"Zoë"}',
        "isBase64Encoded": False,
    }
    assert re.fullmatch("[0-9a-f-]{36}", context.pop("requestId"))
    assert context == {
        "resourcePath": "/locks/{name}/acquire",
        "httpMethod": "POST",
        "path": "/locks/deploy/acquire",
        "protocol": "HTTP/1.1",
        "stage": "local",
        "requestTime": "15/Jan/2027:08:00:00 +0000",
        "requestTimeEpoch": NOON_MS,
        "identity": {"sourceIp": "203.0.113.9"},
    }


def test_what_is_absent_is_none(app: Any) -> None:
    get(app, "/health")
    absent = ("body", "queryStringParameters", "multiValueQueryStringParameters", "pathParameters")
    assert [app.events[0][field] for field in absent] == [None] * len(absent)


def test_a_body_that_is_not_utf8_travels_in_base64(app: Any) -> None:
    Gateway(app).handle(HttpRequest("POST", "/locks/a/acquire", body=b"\xff\xfe"))
    assert (app.events[0]["body"], app.events[0]["isBase64Encoded"]) == ("//4=", True)


@pytest.mark.parametrize("path", ["/nowhere", "/locks//acquire", "/locks/", "/locks/a/", "/locks/a/b/acquire", "*", ""])
def test_a_path_without_a_route_is_not_found(app: Any, path: str) -> None:
    assert_refused(get(app, path), 404, "not_found")
    assert app.events == []


def test_a_wrong_method_is_told_the_right_ones(app: Any) -> None:
    response = Gateway(app).handle(HttpRequest("PUT", "/locks/a"))
    assert_refused(response, 405, "method_not_allowed")
    assert response.header("Allow") == "DELETE, GET, HEAD"
    assert response.json()["details"] == {"allowed": ["DELETE", "GET", "HEAD"]}


def test_head_is_answered_as_get_without_its_body(app: Any) -> None:
    whole = get(app, "/health")
    head = Gateway(app).handle(HttpRequest("HEAD", "/health"))
    assert (head.status, head.body) == (200, b"")
    assert head.header("Content-Length") == str(len(whole.body))


def test_a_body_over_10_mb_never_reaches_the_app(app: Any) -> None:
    largest = HttpRequest("POST", "/locks/a/acquire", body=b" " * 10 * 1024 * 1024)
    too_large = HttpRequest("POST", "/locks/a/acquire", body=largest.body + b" ")
    assert Gateway(app).handle(largest).status == 200
    assert_refused(Gateway(app).handle(too_large), 413, "payload_too_large")
    assert len(app.events) == 1


class Answering:
    """An app that gives one fixed answer, or raises it."""

    def __init__(self, answer: Any) -> None:
        self.routes = {"/": {"GET": None}}
        self.answer = answer

    def __call__(self, _event: dict[str, Any], context: Any) -> Any:
        self.context = context
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    "answer",
    [
        ZeroDivisionError("a bug"),
        None,
        {},
        {"statusCode": 200, "body": b"bytes"},
        {"statusCode": 200, "headers": {"X-Owner": "a\r\nSet-Cookie: b"}},
    ],
)
def test_an_app_that_fails_is_an_internal_error_with_a_traceback(
    answer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    response = get(Answering(answer), "/")
    assert_refused(response, 500, "internal_error")
    assert response.header("Retry-After") == "1"
    assert "Traceback" in capsys.readouterr().err


def test_an_answer_may_be_binary_and_repeat_a_header() -> None:
    answer = {
        "statusCode": 201,
        "headers": {"Content-Type": "image/png"},
        "multiValueHeaders": {"Set-Cookie": ["a", "b"]},
        "body": "//4=",
        "isBase64Encoded": True,
    }
    response = get(Answering(answer), "/")
    assert (response.status, response.body) == (201, b"\xff\xfe")
    assert response.headers == (("Content-Type", "image/png"), ("Set-Cookie", "a"), ("Set-Cookie", "b"))


def test_the_app_is_told_which_lambda_it_is_and_how_long_it_has() -> None:
    app = Answering({"statusCode": 200})
    get(app, "/")
    assert app.context.function_name == "octolease-local"
    assert 0 < app.context.get_remaining_time_in_millis() <= 10_000
