"""Ten thousand generated bad requests: a 4xx in our shape each, and not one write."""

import json
import re
from typing import Any
from urllib.parse import quote

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.wire import service as wire
from infra.gateway import HttpResponse
from tests.http.client import Client

GOOD_NAME = re.compile(r"(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9._:@-]{0,63}(/[A-Za-z0-9_][A-Za-z0-9._:@-]{0,63})*")
LOCK_VERBS = ("acquire", "renew", "release")
JOB_VERBS = ("claim", "heartbeat", "release", "handover", "cancel", "evict", "reopen")
ROUTES = tuple([f"/locks/{{name}}/{verb}" for verb in LOCK_VERBS] + [f"/jobs/{{name}}/{verb}" for verb in JOB_VERBS])
WITHOUT_A_NAME = ("/jobs/claim-any", "/jobs/claim-all", "/sessions", "/tokens")
REQUEST_ID = re.compile("req_[0-9a-f]{32}")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
fuzzed = settings(
    max_examples=2_500,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def assert_refused_without_a_write(client: Client, response: HttpResponse) -> None:
    error = msgspec.json.decode(response.body, type=wire.Error)
    assert 400 <= response.status < 500
    assert REQUEST_ID.fullmatch(error.request_id)
    assert response.header("X-Request-Id") == error.request_id
    assert error.error
    assert client.world.transport.writes() == []


def is_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


@fuzzed
@given(
    route=st.sampled_from(ROUTES + WITHOUT_A_NAME),
    body=(
        st.binary(max_size=200)
        | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
        | json_values.map(lambda value: json.dumps(value).encode())
    ).filter(lambda body: not is_object(body)),
)
def test_bodies_that_are_no_objects(client: Client, route: str, body: bytes) -> None:
    assert_refused_without_a_write(client, client.send("POST", route.format(name="job"), body))


WRONG_FOR: dict[str, Any] = {
    "ttl_seconds": json_values.filter(
        lambda value: value is not None and not (type(value) is int and 1 <= value <= 3600)
    ),
    "metadata": json_values.filter(lambda value: value is not None and not isinstance(value, str | dict))
    | st.text("ab\x00", min_size=1).filter(lambda text: "\x00" in text)
    | st.text(min_size=1025, max_size=1100),
    "owner": json_values.filter(lambda value: value is not None and not isinstance(value, str))
    | st.just("")
    | st.text(min_size=257, max_size=300),
    "lock_delay_seconds": json_values.filter(
        lambda value: value is not None and not (type(value) is int and 0 <= value <= 30)
    ),
    "idempotency_key": json_values.filter(lambda value: value is not None and not isinstance(value, str))
    | st.just("")
    | st.text(min_size=129, max_size=200),
    "session_id": json_values.filter(lambda value: value is not None),
    "ephemeral": json_values.filter(lambda value: value is not None and value is not False),
}
one_wrong_field = st.one_of(*(st.tuples(st.just(field), wrong) for field, wrong in WRONG_FOR.items()))


@fuzzed
@given(others=st.dictionaries(st.text(max_size=10), json_values, max_size=3), wrong=one_wrong_field)
def test_objects_with_a_wrong_field(client: Client, others: dict[str, Any], wrong: tuple[str, Any]) -> None:
    field, value = wrong
    body = json.dumps({**others, field: value}).encode()
    assert_refused_without_a_write(client, client.send("POST", "/locks/job/acquire", body))


LEASE_ID = "5b0c7a3e-8f5d-4a57-9d0e-2f4b1c9a6e11"
GOOD_JOB_BODIES: dict[str, dict[str, Any]] = {
    "/jobs/job/claim": {"owner": "a"},
    "/jobs/claim-any": {"owner": "a", "jobs": ["b"]},
    "/jobs/claim-all": {"owner": "a", "jobs": ["b"]},
    "/jobs/job/heartbeat": {"lease_id": LEASE_ID},
    "/jobs/job/release": {"lease_id": LEASE_ID},
    "/jobs/job/handover": {"lease_id": LEASE_ID, "to_owner": "b"},
}
no_text = json_values.filter(lambda value: value is not None and not isinstance(value, str))
WRONG_FOR_JOBS: dict[str, Any] = {
    "ttl_seconds": WRONG_FOR["ttl_seconds"],
    "metadata": WRONG_FOR["metadata"],
    "owner": WRONG_FOR["owner"],
    "to_owner": WRONG_FOR["owner"],
    "lease_id": json_values,
    "session_id": WRONG_FOR["session_id"],
    "idempotency_key": WRONG_FOR["idempotency_key"],
    "max_attempts": json_values.filter(lambda value: value is not None and not (type(value) is int and value >= 1)),
    "outcome": json_values.filter(lambda value: value is not None),
    "retain_seconds": json_values.filter(lambda value: value is not None),
    "jobs": no_text,
    "checkpoint": st.text(min_size=4097, max_size=4200),
    "misspelt": json_values,
}
one_wrong_field_of_a_job = st.one_of(*(st.tuples(st.just(field), wrong) for field, wrong in WRONG_FOR_JOBS.items()))


@fuzzed
@given(route=st.sampled_from(sorted(GOOD_JOB_BODIES)), wrong=one_wrong_field_of_a_job)
def test_jobs_with_a_wrong_field(client: Client, route: str, wrong: tuple[str, Any]) -> None:
    """A field that is right for another route is an unknown one here, and refused by its name too."""
    field, value = wrong
    body = json.dumps({**GOOD_JOB_BODIES[route], field: value}).encode()
    assert_refused_without_a_write(client, client.send("POST", route, body))


@fuzzed
@given(
    route=st.sampled_from(ROUTES),
    name=(st.text(min_size=1, max_size=80) | st.text("ab./:@-_%", min_size=1, max_size=300)).filter(
        lambda name: not (GOOD_NAME.fullmatch(name) and len(name) <= 256)
    ),
)
def test_names_that_are_none(client: Client, route: str, name: str) -> None:
    segment = quote(name.encode("utf-8", "surrogatepass"), safe="")
    assert_refused_without_a_write(client, client.send("POST", route.format(name=segment), b"{}"))


header_text = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=100)


@fuzzed
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "X"]),
    target=st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=60),
    authorization=header_text.map(lambda text: f"Bearer {text}") | header_text,
    content_type=header_text,
    body=st.binary(max_size=50),
)
def test_requests_that_nobody_would_send(
    client: Client, method: str, target: str, authorization: str, content_type: str, body: bytes
) -> None:
    headers = {"Authorization": authorization, "Content-Type": content_type}
    for path in (f"/{target}", f"/locks/job?{target}"):
        response = client.send(method, path, body, headers=headers)
        if path not in {"/health", "/openapi.json"}:
            assert_refused_without_a_write(client, response)
