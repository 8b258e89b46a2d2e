"""Cancel, evict, reopen and hand over, on the wire."""

from typing import Any

import pytest

from tests.http.client import Client

JOB = "job"


def steer(client: Client, verb: str, **body: Any) -> Any:
    return client.post(f"/jobs/{JOB}/{verb}", {"reason": "because", **body}).json()


def test_the_owner_hears_of_a_cancel_at_its_next_heartbeat(client: Client) -> None:
    lease = client.claim(JOB, "worker")
    answer = steer(client, "cancel", fencing_token=lease["fencing_token"])
    assert (answer["status"], answer["owner"]) == ("cancel_requested", "worker")
    kept = client.heartbeat(lease)
    assert (kept["cancel_requested"], kept["cancel_reason"]) == (True, "because")
    assert client.get(f"/jobs/{JOB}").json()["cancel_requested"] is True
    client.release(lease)
    client.world.time.advance(ms=1)
    assert client.heartbeat(client.claim(JOB))["cancel_requested"] is False


def test_an_evicted_owner_is_told_and_the_job_is_free(client: Client) -> None:
    lease = client.claim(JOB, "worker")
    answer = steer(client, "evict", fencing_token=lease["fencing_token"])
    assert (answer["status"], answer["owner"]) == ("evicted", "worker")
    assert str(lease["fencing_token"]) in answer["message"]
    assert client.heartbeat(lease)["code"] == "lease_not_current"
    assert client.release(lease)["code"] == "lease_not_current"
    client.world.time.advance(ms=1)
    taken = client.claim(JOB, "next")
    assert (taken["attempt"], taken["previous"]["ended"], taken["previous"]["reason"]) == (2, "evicted", "because")


def test_a_finished_job_is_reopened(client: Client) -> None:
    client.release(client.claim(JOB), outcome="done", result=1)
    assert steer(client, "reopen")["status"] == "reopened"
    found = client.get(f"/jobs/{JOB}").json()
    assert (found["status"], found["result"], found["previous"]["ended"]) == ("free", None, "done")
    client.world.time.advance(ms=1)
    taken = client.claim(JOB)
    assert (taken["attempt"], taken["previous"]["reason"]) == (1, "because")


@pytest.mark.parametrize("end", ["failed", "expired", "lapsed", "evicted"])
def test_a_job_whose_attempts_are_used_up_is_reopened(client: Client, end: str) -> None:
    lease = client.claim(JOB, ttl_seconds=10)
    if end == "failed":
        client.release(lease, outcome="failed")
    elif end == "evicted":
        steer(client, "evict")
    else:
        client.world.time.advance(seconds=11)
    if end == "expired":
        assert len(client.post("/recovery").json()["recovered"]) == 1
    client.world.time.advance(ms=1)
    assert client.claim(JOB, max_attempts=1)["status"] == "exhausted"
    assert steer(client, "reopen", fencing_token=lease["fencing_token"])["status"] == "reopened"
    client.world.time.advance(ms=1)
    assert client.claim(JOB, max_attempts=1)["attempt"] == 1


@pytest.mark.parametrize("verb", ["cancel", "evict", "reopen"])
def test_a_late_one_with_its_fence_leaves_the_next_holder_untouched(client: Client, verb: str) -> None:
    first = client.claim(JOB, "first")
    client.release(first, outcome="failed")
    client.world.time.advance(ms=1)
    client.claim(JOB, "second")
    before = client.world.raw_row(JOB)
    refused = client.post(f"/jobs/{JOB}/{verb}", {"reason": "late", "fencing_token": first["fencing_token"]})
    assert (refused.status, refused.json()["code"]) == (409, "conflict")
    assert client.world.raw_row(JOB) == before


@pytest.mark.parametrize("verb", ["cancel", "evict", "reopen"])
def test_on_a_free_job_there_is_nothing_to_do(client: Client, verb: str) -> None:
    assert steer(client, verb)["code"] == "conflict"
    client.release(client.claim(JOB))
    assert steer(client, verb)["code"] == "conflict"


def test_a_held_job_is_not_reopened(client: Client) -> None:
    client.claim(JOB, "worker")
    refused = steer(client, "reopen")
    assert (refused["code"], refused["details"]["owner"]) == ("conflict", "worker")


@pytest.mark.parametrize("verb", ["cancel", "evict", "reopen"])
@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "x" * 513}, {"reason": 1}])
def test_each_needs_a_reason(client: Client, verb: str, body: Any) -> None:
    client.claim(JOB)
    client.world.transport.forget()
    refused = client.post(f"/jobs/{JOB}/{verb}", body)
    assert (refused.status, refused.json()["details"]["field"]) == (400, "reason")
    assert client.world.transport.calls == []


@pytest.mark.parametrize("verb", ["cancel", "evict", "reopen"])
def test_the_reply_of_each_may_be_lost_inside(client: Client, verb: str) -> None:
    lease = client.claim(JOB, "worker")
    if verb == "reopen":
        client.release(lease, outcome="done")
    rev = client.world.row(JOB).rev
    client.world.transport.lose_reply()
    assert steer(client, verb)["owner"] == "worker"
    assert client.world.row(JOB).rev == rev + 1


def test_cancel_is_for_claimers_evict_and_reopen_for_admins(client: Client) -> None:
    client.claim(JOB)
    claimer, reader = client.new_token("claim"), client.new_token("read")
    assert claimer.post(f"/jobs/{JOB}/cancel", {"reason": "r"}).status == 200
    assert reader.post(f"/jobs/{JOB}/cancel", {"reason": "r"}).status == 403
    for verb in ("evict", "reopen"):
        assert claimer.post(f"/jobs/{JOB}/{verb}", {"reason": "r"}).status == 403


def hand_over(client: Client, lease: Any, **body: Any) -> Any:
    body = {"lease_id": lease["lease_id"], "to_owner": "heir", **body}
    return client.post(f"/jobs/{lease['job']}/handover", body).json()


def test_a_job_is_handed_over_in_one_write(client: Client) -> None:
    lease = client.claim(JOB, "worker", ttl_seconds=60, metadata="m")
    client.world.time.advance(seconds=10)
    client.world.transport.forget()
    new = hand_over(client, lease, checkpoint={"step": 4})
    assert client.world.transport.calls == ["UpdateItem"]
    assert (new["status"], new["owner"], new["attempt"]) == ("claimed", "heir", 1)
    assert new["fencing_token"] == lease["fencing_token"] + 1
    assert new["expires_in_ms"] == 60_000
    assert new["previous"] | {"ended_at": None} == {
        "owner": "worker",
        "ended": "handed_over",
        "ended_at": None,
        "reason": None,
        "checkpoint": {"step": 4},
    }
    assert client.heartbeat(new)["status"] == "held"
    for refused in (client.heartbeat(lease), client.release(lease), hand_over(client, lease)):
        assert (refused["code"], refused["details"]["owner"]) == ("lease_not_current", "heir")


def test_a_handover_whose_answer_was_lost_is_repeated_by_its_key(client: Client) -> None:
    lease = client.claim(JOB, idempotency_key="claim")
    new = hand_over(client, lease, idempotency_key="pass")
    assert hand_over(client, lease, idempotency_key="pass")["lease_id"] == new["lease_id"]
    assert client.world.row(JOB).rev == 2
    assert client.claim(JOB, idempotency_key="claim")["status"] == "held"
    assert hand_over(client, lease, idempotency_key="pass", to_owner="other")["code"] == "idempotency_key_reused"
    client.release(new)
    assert hand_over(client, lease, idempotency_key="pass")["code"] == "lease_not_current"


def test_a_handover_whose_reply_was_lost_inside_succeeds(client: Client) -> None:
    lease = client.claim(JOB)
    client.world.transport.lose_reply()
    assert hand_over(client, lease)["owner"] == "heir"
    assert client.world.row(JOB).rev == 2


def test_a_handover_unbinds_the_job_from_its_session(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    lease = client.claim(JOB, ttl_seconds=60, session_id=session_id)
    client.heartbeat(lease)
    new = hand_over(client, lease)
    assert (new["session_id"], new["expires_in_ms"], new["heartbeat_after_ms"]) == (None, 60_000, 30_000)
    client.delete(f"/sessions/{session_id}")
    assert client.heartbeat(new)["status"] == "held"
    assert "ttl" in (client.world.raw_row(JOB) or {})


def test_a_handover_after_the_sessions_known_end_asks_the_session(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    lease = client.claim(JOB, ttl_seconds=60, session_id=session_id)
    client.world.time.advance(seconds=8)
    client.post(f"/sessions/{session_id}/keepalive")
    client.world.time.advance(seconds=4)
    assert hand_over(client, lease)["owner"] == "heir"


def test_a_handover_from_a_dead_session_is_gone(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    lease = client.claim(JOB, ttl_seconds=60, session_id=session_id)
    client.world.time.advance(seconds=11)
    client.post(f"/sessions/{session_id}/keepalive")
    assert hand_over(client, lease)["code"] == "session_expired"


def test_a_handover_keeps_a_lock_delay(client: Client) -> None:
    lease = client.acquire(JOB, ttl_seconds=30, lock_delay_seconds=10)
    new = hand_over(client, {**lease, "job": JOB})
    assert new["expires_in_ms"] == 30_000
    client.world.time.advance(seconds=39)
    assert client.acquire(JOB)["status"] == "delayed"


@pytest.mark.parametrize("verb", ["evict", "cancel"])
def test_our_own_retry_never_hits_the_next_holder(client: Client, verb: str) -> None:
    lease = client.claim(JOB, "first")

    def somebody_else_claims() -> None:
        client.release(lease)
        client.world.time.advance(ms=1)
        client.claim(JOB, "second")

    client.world.transport.lose_reply(meanwhile=somebody_else_claims)
    assert steer(client, verb)["owner"] in {"first", "second"}
    found = client.get(f"/jobs/{JOB}").json()
    assert (found["status"], found["owner"], found["cancel_requested"]) == ("held", "second", False)
