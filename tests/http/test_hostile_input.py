"""Bad input gets a clear 4xx that names the field; nothing is written, and never a 500."""

import json
from typing import Any

import pytest

from infra.gateway import HttpResponse
from tests.http.client import Client

JSON = "application/json"
LEASE = "00000000-0000-4000-8000-000000000000"


def headers(client: Client, content_type: str | None = JSON) -> dict[str, str]:
    usual = {"authorization": f"Bearer {client.token}"}
    return usual if content_type is None else {**usual, "content-type": content_type}


def assert_refused(client: Client, response: HttpResponse, status: int, code: str) -> Any:
    answer = response.json()
    assert (response.status, answer["code"]) == (status, code), answer
    assert set(answer) <= {"error", "code", "details", "request_id", "retry_after_ms"}
    assert answer["error"].endswith((".", "?"))
    assert answer["request_id"] == response.header("X-Request-Id")
    assert client.world.transport.writes() == []
    return answer


NOT_OBJECTS = {
    "empty": b"",
    "spaces": b"  \n",
    "null": b"null",
    "array": b"[]",
    "string": b'"ttl"',
    "number": b"7",
    "half": b'{"ttl_seconds": 6',
    "two": b"{}{}",
    "form": b"ttl_seconds=60",
    "single quotes": b"{'ttl_seconds': 60}",
    "comment": b"{} // ttl",
    "trailing comma": b'{"ttl_seconds": 60,}',
    "BOM": b"\xef\xbb\xbf{}",
    "UTF-16": '{"ttl_seconds":60}'.encode("utf-16"),
    "UTF-32": '{"ttl_seconds":60}'.encode("utf-32"),
    "latin-1": b'{"metadata":"\xe9"}',
    "surrogate in a key": b'{"a\xed\xa0\x80":1}',
    "surrogate in an unknown value": b'{"x":"\xed\xa0\x80"}',
    "surrogate in a key that stands twice": b'{"x":{"\xed\xa0\x80":1,"\xed\xa0\x80":1}}',
    "escaped surrogate and NUL in a key": rb'{"\ud800\u0000":1}',
    "NUL below a thousand arrays": b'{"x":' + b"[" * 965 + rb'"\u0000"' + b"]" * 965 + b"}",
    "NaN": b'{"ttl_seconds":NaN}',
    "Infinity": b'{"ttl_seconds":-Infinity}',
    "NUL byte": b'{"metadata":"a\x00b"}',
    "raw control": b'{"metadata":"a\x01b"}',
    "deep array": b"[" * 100_000,
    "deep object": b'{"a":' * 20_000,
}


@pytest.mark.parametrize("body", NOT_OBJECTS.values(), ids=NOT_OBJECTS)
@pytest.mark.parametrize("verb", ["acquire", "renew", "release"])
def test_a_body_that_is_no_json_object_is_refused(client: Client, verb: str, body: bytes) -> None:
    response = client.send("POST", f"/locks/job/{verb}", body)
    if len(body) > 65_536:
        assert_refused(client, response, 413, "payload_too_large")
    else:
        assert_refused(client, response, 400, "invalid_input")


FIELDS = [
    ("ttl_seconds", b"true", "invalid_ttl"),
    ("ttl_seconds", b'"60"', "invalid_ttl"),
    ("ttl_seconds", b"60.5", "invalid_ttl"),
    ("ttl_seconds", b"60.0", "invalid_ttl"),
    ("ttl_seconds", b"0", "invalid_ttl"),
    ("ttl_seconds", b"-1", "invalid_ttl"),
    ("ttl_seconds", b"1e400", "invalid_ttl"),
    ("ttl_seconds", b"9" * 5000, "invalid_ttl"),
    ("ttl_seconds", b"86401", "invalid_ttl"),
    ("ttl_seconds", b"[]", "invalid_ttl"),
    ("metadata", b"7", "invalid_input"),
    ("metadata", b"[1]", "invalid_input"),
    ("metadata", b"true", "invalid_input"),
    ("metadata", b'"' + b"x" * 1025 + b'"', "invalid_input"),
    ("metadata", b'{"a":"' + b"x" * 1024 + b'"}', "invalid_input"),
    ("metadata", b'"\\ud800"', "invalid_input"),
    ("metadata", b'{"\\udfff":1}', "invalid_input"),
    ("metadata", b'"a\\u0000b"', "invalid_input"),
    ("metadata", b'{"a":["\\u0000"]}', "invalid_input"),
    ("metadata", b'{"a":1e400}', "invalid_input"),
    ("owner", b'""', "invalid_input"),
    ("owner", b"7", "invalid_input"),
    ("owner", b'"' + b"x" * 257 + b'"', "invalid_input"),
    ("owner", b'"\\u0000"', "invalid_input"),
    ("lock_delay_seconds", b"31", "invalid_input"),
    ("lock_delay_seconds", b"-1", "invalid_input"),
    ("lock_delay_seconds", b"1.5", "invalid_input"),
    ("idempotency_key", b'""', "invalid_input"),
    ("idempotency_key", b'"' + b"k" * 129 + b'"', "invalid_input"),
    ("idempotency_key", b"1", "invalid_input"),
    ("session_id", b'"x"', "invalid_input"),
    ("ephemeral", b"1", "invalid_input"),
    ("ephemeral", b'"yes"', "invalid_input"),
]


@pytest.mark.parametrize(("field", "value", "code"), FIELDS, ids=lambda value: str(value)[:30])
def test_a_bad_field_is_refused_by_its_name(client: Client, field: str, value: bytes, code: str) -> None:
    response = client.send("POST", "/locks/job/acquire", b'{"' + field.encode() + b'":' + value + b"}")
    answer = assert_refused(client, response, 400, code)
    assert answer["details"]["field"].startswith(field)
    assert field in answer["error"]


@pytest.mark.parametrize("verb", ["renew", "release"])
@pytest.mark.parametrize(
    "body", [{}, {"lease_id": None}, {"lease_id": 7}, {"lease_id": "x"}, {"lease_id": LEASE + "0"}]
)
def test_a_lease_id_that_is_none_is_refused_by_name(client: Client, verb: str, body: dict[str, Any]) -> None:
    answer = assert_refused(client, client.post(f"/locks/job/{verb}", body), 400, "invalid_input")
    assert answer["details"]["field"] == "lease_id"


@pytest.mark.parametrize(
    ("body", "key"),
    [
        (b'{"ttl_seconds":60,"ttl_seconds":61}', "ttl_seconds"),
        (b'{"metadata":{"a":1,"a":2}}', "a"),
        (b'{"x":1,"x":1}', "x"),
        (b'{"metadata":{"b":{"c":1,"\\u0063":2}}}', "c"),
    ],
)
def test_a_key_that_stands_twice_is_refused_by_name(client: Client, body: bytes, key: str) -> None:
    answer = assert_refused(client, client.send("POST", "/locks/job/acquire", body), 400, "invalid_input")
    assert answer["details"]["field"] == key


@pytest.mark.parametrize(
    "content_type",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "application", "json", "*/*"],
)
def test_a_body_without_a_json_type_is_refused_and_told_what_to_send(client: Client, content_type: str | None) -> None:
    response = client.send("POST", "/locks/job/acquire", b"{}", headers=headers(client, content_type))
    answer = assert_refused(client, response, 415, "unsupported_media_type")
    assert "application/json" in answer["error"]


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "APPLICATION/JSON",
        "application/json; charset=utf-8",
        "application/vnd.x+json",
        " application/json ",
    ],
)
def test_every_spelling_of_a_json_type_is_taken(client: Client, content_type: str) -> None:
    response = client.send("POST", "/locks/job/acquire", b"{}", headers=headers(client, content_type))
    assert response.status == 200


def test_a_body_of_just_the_limit_is_taken(client: Client) -> None:
    frame = b'{"x":""}'
    body = frame[:-2] + b"x" * (65_536 - len(frame)) + frame[-2:]
    assert len(body) == 65_536
    assert client.send("POST", "/locks/job/acquire", body).status == 200
    assert client.send("POST", "/locks/other/acquire", body + b" ").status == 413


@pytest.mark.parametrize("size", [65_537, 10 * 1024 * 1024, 10 * 1024 * 1024 + 1])
def test_a_body_that_is_too_large_is_refused(client: Client, size: int) -> None:
    body = b'{"metadata":"' + b"x" * size + b'"}'
    assert_refused(client, client.send("POST", "/locks/job/acquire", body), 413, "payload_too_large")


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/nowhere", 404),
        ("GET", "/locks/", 404),
        ("GET", "/locks/a/b/c", 404),
        ("POST", "/locks/a/steal", 404),
        ("PUT", "/locks/a", 405),
        ("DELETE", "/locks/a", 405),
        ("GET", "/locks/a/acquire", 405),
        ("PATCH", "/tokens", 405),
        ("OPTIONS", "/locks", 405),
        ("FETCH", "/locks", 405),
    ],
)
def test_an_unknown_route_or_method_is_refused_in_our_shape(
    client: Client, method: str, target: str, status: int
) -> None:
    code = "not_found" if status == 404 else "method_not_allowed"
    assert_refused(client, client.send(method, target), status, code)


def test_what_a_caller_sends_stays_one_line_of_the_log(client: Client) -> None:
    client.acquire("a%0D%0Ab", owner="x\r\ny", metadata="\n\n")
    client.acquire("job", owner="x\r\n{}", metadata="\n\n")
    assert len(client.lines) == 2
    assert not any(character in json.dumps(line) for line in client.lines for character in "\r\n")


def test_nothing_secret_is_logged(client: Client) -> None:
    lease = client.acquire()
    client.post("/locks/job/renew", {"lease_id": lease["lease_id"]})
    client.post("/locks/job/release", {"lease_id": lease["lease_id"]})
    client.post("/locks/job/renew", {"lease_id": lease["lease_id"]})
    created = client.post("/tokens", {"label": "x"}).json()
    client.with_token(created["token"][:-1] + "0").get("/locks")
    logged = json.dumps(client.lines)
    for secret in (lease["lease_id"], client.token.split("_")[2], created["token"].split("_")[2]):
        assert secret not in logged
