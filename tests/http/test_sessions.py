"""Sessions on the wire: one keepalive for any number of jobs."""

from typing import Any
from uuid import UUID

import pytest

from tests.http.client import Client
from tests.world import MARGIN_MS


def test_a_session_is_made_as_octostores_clients_expect(client: Client) -> None:
    response = client.post("/sessions", {"ttl_seconds": 30, "owner": "worker-7"})
    assert response.status == 201
    made = response.json()
    assert set(made) == {"session_id", "expires_at", "expires_in_ms", "keepalive_interval_secs"}
    assert UUID(made["session_id"])
    assert (made["expires_in_ms"], made["keepalive_interval_secs"]) == (30_000, 15)
    assert client.post("/sessions", {}).json()["expires_in_ms"] == 60_000
    assert client.post("/sessions", {"ttl_seconds": 1}).json()["keepalive_interval_secs"] == 1


@pytest.mark.parametrize("ttl_seconds", [0, 3601, -1, 1.5, "60", True])
def test_a_sessions_ttl_is_what_was_asked_or_refused(client: Client, ttl_seconds: Any) -> None:
    response = client.post("/sessions", {"ttl_seconds": ttl_seconds})
    assert (response.status, response.json()["code"]) == (400, "invalid_ttl")
    assert client.world.transport.writes() == []


def test_a_keepalive_comes_without_body_and_type_and_gives_the_ttl_again(client: Client) -> None:
    session_id = client.session(ttl_seconds=30)
    client.world.time.advance(seconds=20)
    client.world.transport.forget()
    headers = {"Authorization": f"Bearer {client.token}"}
    response = client.send("POST", f"/sessions/{session_id}/keepalive", headers=headers)
    assert response.status == 200
    assert set(response.json()) == {"session_id", "expires_at", "expires_in_ms"}
    assert response.json()["expires_in_ms"] == 30_000
    assert client.world.transport.calls == ["UpdateItem"]


def test_a_keepalive_ignores_its_body(client: Client) -> None:
    session_id = client.session(ttl_seconds=30)
    assert client.send("POST", f"/sessions/{session_id}/keepalive", b"not JSON at all").status == 200


def test_a_look_at_a_session_counts_what_hangs_on_it(client: Client) -> None:
    session_id = client.session()
    client.claim("a", session_id=session_id)
    client.acquire("b", session_id=session_id)
    client.claim("c")
    seen = client.get(f"/sessions/{session_id}").json()
    assert set(seen) >= {"session_id", "user_id", "expires_at", "lock_count", "active"}
    assert (seen["lock_count"], seen["active"]) == (2, True)
    assert UUID(seen["user_id"])
    client.world.time.advance(seconds=11)
    assert client.get(f"/sessions/{session_id}").json()["active"] is False


UNKNOWN = "5b0c7a3e-8f5d-4a57-9d0e-2f4b1c9a6e11"


@pytest.mark.parametrize("session_id", [UNKNOWN, "no-uuid", "..", "%00"])
def test_an_unknown_session_is_not_found(client: Client, session_id: str) -> None:
    assert client.get(f"/sessions/{session_id}").status == 404
    assert client.post(f"/sessions/{session_id}/keepalive").status == 404
    assert client.delete(f"/sessions/{session_id}").status == 404


def test_a_session_that_has_ended_is_gone(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    client.world.time.advance(ms=10_000 + MARGIN_MS)
    refused = client.post(f"/sessions/{session_id}/keepalive")
    assert (refused.status, refused.json()["code"]) == (410, "session_expired")
    assert client.post("/jobs/job/claim", {"owner": "a", "session_id": session_id}).status == 410
    assert client.get(f"/sessions/{session_id}").json()["active"] is False


def test_a_keepalive_within_the_margin_still_counts(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    client.world.time.advance(ms=10_000 + MARGIN_MS - 1)
    assert client.post(f"/sessions/{session_id}/keepalive").status == 200


def test_a_deleted_session_is_not_found_and_its_jobs_are_free(client: Client) -> None:
    session_id = client.session()
    lease = client.claim("job", "worker", session_id=session_id)
    assert client.delete(f"/sessions/{session_id}").status == 204
    assert client.delete(f"/sessions/{session_id}").body == b""
    assert client.get(f"/sessions/{session_id}").status == 404
    assert client.post(f"/sessions/{session_id}/keepalive").status == 404
    assert client.heartbeat(lease)["code"] == "lease_not_current"
    client.world.time.advance(ms=1)
    taken = client.claim("job", "next")
    assert (taken["status"], taken["previous"]["ended"]) == ("claimed", "released")


def test_a_session_belongs_to_the_token_that_made_it(client: Client) -> None:
    session_id = client.session()
    for stranger in (client.new_token("admin"), client.new_token("admin", namespace="other")):
        assert stranger.get(f"/sessions/{session_id}").status == 404
        assert stranger.post(f"/sessions/{session_id}/keepalive").status == 404
        assert stranger.delete(f"/sessions/{session_id}").status == 404
        assert stranger.post("/jobs/job/claim", {"owner": "a", "session_id": session_id}).status == 404
    assert client.get(f"/sessions/{session_id}").json()["active"] is True


def test_a_claim_in_an_unknown_session_is_not_found_and_writes_nothing(client: Client) -> None:
    body = {"owner": "a", "session_id": UNKNOWN}
    for route in ("/jobs/job/claim", "/locks/job/acquire"):
        assert client.post(route, body).status == 404
    assert client.world.transport.writes() == []


def test_ephemeral_needs_a_session(client: Client) -> None:
    assert client.post("/locks/job/acquire", {"ephemeral": True}).status == 400
    assert client.acquire("job", ephemeral=True, session_id=client.session())["status"] == "acquired"


def test_the_first_heartbeat_of_a_bound_job_hands_it_to_its_session(client: Client) -> None:
    session_id = client.session(ttl_seconds=60)
    lease = client.claim("job", ttl_seconds=10, session_id=session_id)
    assert (lease["expires_in_ms"], lease["heartbeat_after_ms"]) == (10_000, 5_000)
    assert lease["session_id"] == session_id
    client.world.time.advance(seconds=5)
    kept = client.heartbeat(lease)
    assert (kept["expires_in_ms"], kept["heartbeat_after_ms"]) == (55_000, None)
    client.world.time.advance(seconds=50)
    assert client.claim("job", "other")["status"] == "held"


def test_a_claim_whose_answer_nobody_got_ends_by_its_own_ttl_though_its_session_lives(client: Client) -> None:
    session_id = client.session(ttl_seconds=600)
    client.claim("job", ttl_seconds=10, session_id=session_id)
    client.world.time.advance(ms=10_000 + MARGIN_MS)
    assert client.claim("job", "other")["status"] == "claimed"


def test_a_hundred_jobs_live_by_one_write_and_die_with_their_session(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    leases = [client.claim(f"job-{number}", session_id=session_id) for number in range(100)]
    for lease in leases:
        client.heartbeat(lease)
    for _ in range(5):
        client.world.time.advance(seconds=8)
        client.world.transport.forget()
        assert client.post(f"/sessions/{session_id}/keepalive").status == 200
        assert client.world.transport.writes() == ["UpdateItem"]
    assert len(client.get("/jobs?limit=100").json()["jobs"]) == 100
    client.world.time.advance(ms=10_000 + MARGIN_MS)
    for number, lease in enumerate(leases):
        assert client.get(f"/jobs/job-{number}").json()["status"] == "free"
        taken = client.claim(f"job-{number}", "next")
        assert (taken["status"], taken["previous"]["ended"]) == ("claimed", "expired")
        assert client.heartbeat(lease)["code"] == "lease_not_current"
    assert client.post(f"/sessions/{session_id}/keepalive").status == 410


def test_a_hundred_jobs_are_free_when_their_session_is_deleted(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    leases = [client.claim(f"job-{number}", session_id=session_id) for number in range(100)]
    for lease in leases:
        client.heartbeat(lease)
    client.delete(f"/sessions/{session_id}")
    assert client.get("/jobs").json()["jobs"] == []
    for lease in leases:
        assert client.heartbeat(lease)["code"] == "lease_not_current"


def test_a_renewal_never_outlives_its_session(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    lease = client.acquire("job", ttl_seconds=300, session_id=session_id)
    assert lease["expires_in_ms"] == 10_000
    renewal = {"lease_id": lease["lease_id"], "ttl_seconds": 300}
    client.world.time.advance(seconds=5)
    assert client.post("/locks/job/renew", renewal).json()["expires_in_ms"] == 5_000
    client.post(f"/sessions/{session_id}/keepalive")
    client.world.time.advance(seconds=6)
    assert client.post("/locks/job/renew", renewal).json()["expires_in_ms"] == 4_000


def test_a_renewal_with_a_dead_session_is_gone(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    lease = client.acquire("job", ttl_seconds=300, session_id=session_id)
    client.world.time.advance(ms=10_000 + MARGIN_MS)
    assert client.post(f"/sessions/{session_id}/keepalive").status == 410
    response = client.post("/locks/job/renew", {"lease_id": lease["lease_id"]})
    assert (response.status, response.json()["code"]) == (410, "session_expired")


def test_a_lock_in_a_session_is_free_to_look_at_once_the_session_is_over(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    client.acquire("job", ttl_seconds=300, session_id=session_id)
    assert client.get("/locks/job").json()["status"] == "held"
    client.world.time.advance(ms=10_000 + MARGIN_MS)
    assert client.get("/locks/job").json()["status"] == "free"
    assert client.get("/locks").json()["locks"] == []


def test_a_session_asking_again_without_a_key_gets_its_own_lock_back(client: Client) -> None:
    session_id = client.session()
    first = client.acquire("job", session_id=session_id)
    again = client.acquire("job", session_id=session_id)
    assert (again["status"], again["lease_id"]) == ("acquired", first["lease_id"])
    assert client.acquire("job", session_id=session_id, idempotency_key="k")["status"] == "held"
    assert client.acquire("job", session_id=client.session())["status"] == "held"
    assert client.acquire("job")["status"] == "held"


def test_a_session_asking_again_for_what_it_claimed_with_a_key_is_a_contender(client: Client) -> None:
    session_id = client.session()
    client.acquire("job", session_id=session_id, idempotency_key="k")
    assert client.acquire("job", session_id=session_id)["status"] == "held"


def test_a_session_asking_again_for_a_job_is_a_contender(client: Client) -> None:
    session_id = client.session()
    client.claim("job", session_id=session_id)
    assert client.claim("job", session_id=session_id)["status"] == "held"
