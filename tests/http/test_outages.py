"""What a caller is told when the clock or the store behind the service fails, and what operators are."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from infra.gateway import Gateway, HttpResponse
from tests.http.client import Client

LEASE = {"lease_id": "00000000-0000-4000-8000-000000000000"}
MUTATIONS: list[tuple[str, dict[str, Any]]] = [("acquire", {}), ("renew", LEASE), ("release", LEASE)]


def faults(client: Client) -> list[Any]:
    return [line for line in client.lines if line.get("level") == "ERROR"]


def dynamodb_answers(client: Client, code: str) -> None:
    def fail() -> None:
        raise ClientError({"Error": {"Code": code, "Message": "as told by the test"}}, "UpdateItem")

    for _ in range(2):
        client.world.transport.before_next(fail)


def warm(client: Client) -> None:
    client.get("/locks/warm")
    client.world.transport.forget()


@pytest.mark.parametrize(("verb", "body"), MUTATIONS)
def test_nobody_is_told_that_they_hold_when_dynamodb_cannot_be_reached(
    client: Client, verb: str, body: dict[str, Any]
) -> None:
    warm(client)
    client.world.transport.lose_request(times=2)
    response = client.post(f"/locks/job/{verb}", body)
    assert (response.status, response.json()["code"]) == (503, "upstream_unavailable")
    assert (response.header("Retry-After"), response.json()["retry_after_ms"]) == ("1", 1000)
    assert client.world.raw_row() is None
    (fault,) = faults(client)
    assert "ConnectTimeoutError" in fault["what"]
    assert fault["id"] == response.header("X-Request-Id")


@pytest.mark.parametrize(
    "code", ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"]
)
def test_a_throttled_write_is_429_and_not_tried_again_at_once(client: Client, code: str) -> None:
    warm(client)
    dynamodb_answers(client, code)
    response = client.post("/locks/job/acquire", {})
    assert (response.status, response.json()["code"]) == (429, "rate_limited")
    assert response.header("Retry-After") == "1"
    assert client.world.transport.calls == ["UpdateItem"]
    assert response.json()["details"] is None
    assert code not in response.body.decode()
    (line,) = faults(client)
    assert (line["code"], line["id"]) == ("rate_limited", response.header("X-Request-Id"))
    assert code in line["what"]


def test_dynamodbs_own_fault_is_tried_once_more(client: Client) -> None:
    warm(client)
    dynamodb_answers(client, "InternalServerError")
    assert client.post("/locks/job/acquire", {}).status == 503
    assert client.world.transport.calls == ["UpdateItem", "UpdateItem"]


@pytest.mark.parametrize(
    ("call", "method", "target", "answer"),
    [
        ("UpdateItem", "POST", "/locks/job/acquire", '"status":"acquired"'),
        ("UpdateItem", "POST", "/locks/taken/acquire", '"status":"held"'),
        ("GetItem", "GET", "/locks/taken", '"status":"held"'),
        ("Query", "GET", "/locks", '"total":1'),
        ("BatchGetItem", "GET", "/locks", '"total":1'),
    ],
)
def test_an_answer_of_dynamodb_that_was_cut_short_is_as_good_as_lost(
    client: Client, call: str, method: str, target: str, answer: str
) -> None:
    """Half an answer reads like one without a row: a held name would be told as free, a refused write as made."""
    client.acquire("taken")
    warm(client)
    client.world.transport.cut_reply(call)
    response = client.send(method, target, b"{}")
    assert (response.status, answer in response.body.decode()) == (200, True), response.body
    client.world.transport.cut_reply(call, times=2)
    assert client.send(method, target, b"{}").json()["code"] == "upstream_unavailable"
    assert "ChecksumError" in faults(client)[0]["what"]


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "AccessDeniedException", "UnrecognizedClientException"])
def test_a_stage_set_up_wrongly_is_an_outage_that_operators_can_read(client: Client, code: str) -> None:
    warm(client)
    dynamodb_answers(client, code)
    response = client.post("/locks/job/acquire", {})
    assert response.status == 503
    assert code not in response.body.decode()
    assert code in faults(client)[0]["what"]
    assert client.world.settings.leases_table in faults(client)[0]["what"]


def test_the_token_table_being_down_is_an_outage_and_no_wrong_token(client: Client) -> None:
    client.world.transport.lose_request(times=2)
    assert client.get("/locks").json()["code"] == "upstream_unavailable"


def test_a_row_edited_by_hand_is_an_outage_of_that_name_alone(client: Client) -> None:
    client.acquire("job")
    client.world.edit("job", fence={"S": "high"})
    assert client.post("/locks/job/acquire", {}).json()["code"] == "upstream_unavailable"
    assert client.get("/locks/job").status == 503
    assert client.acquire("other")["status"] == "acquired"
    assert [lock["name"] for lock in client.get("/locks").json()["locks"]] == ["other"]
    assert all("default/job" in fault["what"] for fault in faults(client))
    assert len(faults(client)) == 3


@pytest.mark.parametrize("off_by_ms", [-501, 29_001, 10**10])
def test_a_clock_that_the_gateways_stamp_disproves_writes_nothing(client: Client, off_by_ms: int) -> None:
    client.gateway = Gateway(client.app, clock_ms=lambda: client.world.time.ms - off_by_ms)
    response = client.post("/locks/job/acquire", {})
    assert (response.status, response.json()["code"]) == (503, "clock_unreliable")
    assert response.header("Retry-After") == "1"
    assert client.world.transport.calls == []
    assert str(off_by_ms) in faults(client)[0]["what"]


def test_an_error_of_our_own_is_a_500_that_says_nothing_of_its_inside(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> HttpResponse:
        raise RuntimeError("a secret of the inside")

    warm(client)
    monkeypatch.setattr("chalicelib.faces.status.health", broken)
    response = client.get("/health")
    assert (response.status, response.json()["code"]) == (500, "internal_error")
    assert "inside" not in response.json()["error"].replace("inside the service", "")
    assert "a secret of the inside" in faults(client)[0]["what"]


def test_health_needs_no_token_and_no_store(client: Client) -> None:
    response = client.send("GET", "/health", headers={})
    assert (response.status, response.json()["status"]) == (200, "ok")
    assert client.world.transport.calls == []


def test_every_answer_has_a_request_id_of_its_own_and_is_not_cached(client: Client) -> None:
    answers = [client.get("/locks/a"), client.get("/locks/a"), client.send("GET", "/health", headers={})]
    assert len({answer.header("X-Request-Id") for answer in answers}) == 3
    assert {answer.header("Cache-Control") for answer in answers} == {"no-store"}


def test_a_request_is_one_line_that_is_log_and_metric_at_once(client: Client) -> None:
    client.acquire("deploy-main")
    (line,) = client.lines
    assert {name: line[name] for name in ("op", "outcome", "name", "ns", "status")} == {
        "op": "acquireLock",
        "outcome": "acquired",
        "name": "deploy-main",
        "ns": "default",
        "status": 200,
    }
    assert line["_aws"]["CloudWatchMetrics"][0]["Metrics"] == [{"Name": "ms", "Unit": "Milliseconds"}]
    assert line["ms"] >= 0


def test_of_the_path_the_log_has_the_name_alone(client: Client) -> None:
    client.send("DELETE", "/tokens/" + "0" * 16)
    client.get("/locks/" + "x" * 400)
    client.get(f"/locks/{client.token}")
    other, long, secret = client.lines
    assert "0" * 16 not in str(other)
    assert long["name"] == "x" * 300
    assert secret["name"] == client.token[:21] + "***"


def test_an_error_is_counted_by_its_code(client: Client) -> None:
    client.get("/locks/-")
    (line,) = client.lines
    assert (line["code"], line["errors"]) == ("invalid_lock_name", 1)
    assert line["_aws"]["CloudWatchMetrics"][1]["Dimensions"] == [["code"]]


def test_chalices_own_errors_come_in_our_shape(client: Client) -> None:
    """API Gateway never sends such an event, but a mistake in a template might."""
    context = {"resourcePath": "/locks", "httpMethod": "PUT"}
    absent = dict.fromkeys(("headers", "pathParameters", "multiValueQueryStringParameters", "body", "stageVariables"))
    answer = client.app({**absent, "headers": {}, "requestContext": context, "isBase64Encoded": False}, None)
    assert answer["statusCode"] == 405
    assert '"code":"method_not_allowed"' in answer["body"]
    assert set(answer["headers"]["Allow"].split(", ")) == {"GET"}
