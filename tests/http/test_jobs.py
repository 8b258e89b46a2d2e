"""The job face on the wire: one backlog, one owner for each job, and the next one goes on where the last stopped."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from tests.http.client import Client
from tests.world import MARGIN_MS

JOB = "github-issue-1842"
CLAIMED = {
    "status",
    "job",
    "lease_id",
    "fencing_token",
    "owner",
    "metadata",
    "attempt",
    "acquired_at",
    "expires_at",
    "expires_in_ms",
    "heartbeat_after_ms",
    "session_id",
    "previous",
}
HELD = {
    "status",
    "job",
    "owner",
    "metadata",
    "attempt",
    "acquired_at",
    "heartbeat_at",
    "expires_at",
    "expires_in_ms",
    "fencing_token",
    "retry_after_ms",
    "message",
}


def test_of_five_agents_one_owns_the_job_and_the_rest_see_who(client: Client) -> None:
    start = Barrier(5)

    def agent(number: int) -> Any:
        start.wait()
        return client.claim(JOB, f"agent-{number}", metadata={"run": number})

    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(agent, range(5)))
    (winner,) = [answer for answer in answers if answer["status"] == "claimed"]
    refused = [answer for answer in answers if answer["status"] == "held"]
    assert len(refused) == 4
    assert set(winner) == CLAIMED
    for answer in refused:
        assert set(answer) == HELD
        assert (answer["owner"], answer["metadata"]) == (winner["owner"], winner["metadata"])
        assert answer["fencing_token"] == winner["fencing_token"]


def test_the_next_one_goes_on_where_a_dead_owner_stopped(client: Client) -> None:
    first = client.claim(JOB, "first", ttl_seconds=60)
    client.heartbeat(first, checkpoint={"step": 3})
    client.world.time.advance(ms=60_000 + MARGIN_MS - 1)
    assert client.claim(JOB, "second")["status"] == "held"
    client.world.time.advance(ms=1)
    second = client.claim(JOB, "second")
    assert (second["status"], second["attempt"]) == ("claimed", 2)
    assert second["previous"] == {
        "owner": "first",
        "ended": "expired",
        "ended_at": first["expires_at"],
        "reason": None,
        "checkpoint": {"step": 3},
    }
    dead = client.heartbeat(first)
    assert dead["code"] == "lease_not_current"
    assert dead["details"]["owner"] == "second"
    assert second["lease_id"] not in str(dead)


def test_two_agents_with_one_token_and_one_owner_name_contend_as_two(client: Client) -> None:
    assert [client.claim(JOB, "same")["status"] for _ in range(2)] == ["claimed", "held"]


def test_a_claim_repeated_with_its_key_is_the_same_lease(client: Client) -> None:
    first = client.claim(JOB, idempotency_key="k")
    client.world.time.advance(seconds=100)
    again = client.claim(JOB, idempotency_key="k", ttl_seconds=120)
    assert (again["lease_id"], again["fencing_token"]) == (first["lease_id"], first["fencing_token"])
    assert again["expires_in_ms"] == 20_000
    assert client.post(f"/jobs/{JOB}/claim", {"owner": "other", "idempotency_key": "k"}).status == 422


def test_a_claim_and_an_acquire_with_one_key_are_two_requests(client: Client) -> None:
    client.claim(JOB, owner="tester", idempotency_key="k", ttl_seconds=60)
    assert client.acquire(JOB, owner="tester", idempotency_key="k")["code"] == "idempotency_key_reused"


def test_a_refusal_says_what_to_do_next(client: Client) -> None:
    client.claim(JOB, "agent-3", ttl_seconds=41)
    refused = client.claim(JOB, "agent-4")
    assert refused["message"].startswith(f"Held by agent-3 until {refused['expires_at']}; try again in ")
    assert refused["message"].endswith(" s or take another job.")
    assert refused["retry_after_ms"] >= 41_000 + MARGIN_MS
    assert "lease_id" not in refused


def test_a_claim_without_a_ttl_lives_two_minutes(client: Client) -> None:
    lease = client.claim(JOB)
    assert (lease["expires_in_ms"], lease["heartbeat_after_ms"]) == (120_000, 60_000)


def test_a_heartbeat_without_a_ttl_gives_the_claims_own_again(client: Client) -> None:
    lease = client.claim(JOB, ttl_seconds=90)
    client.world.time.advance(seconds=50)
    kept = client.heartbeat(lease)
    assert (kept["status"], kept["expires_in_ms"], kept["heartbeat_after_ms"]) == ("held", 90_000, 45_000)
    assert (kept["late"], kept["cancel_requested"], kept["cancel_reason"]) == (False, False, None)
    client.world.time.advance(seconds=89)
    assert client.claim(JOB, "other")["status"] == "held"


def test_a_heartbeat_with_a_ttl_changes_it_for_those_that_follow(client: Client) -> None:
    lease = client.claim(JOB, ttl_seconds=10)
    assert client.heartbeat(lease, ttl_seconds=300)["expires_in_ms"] == 300_000
    client.world.time.advance(seconds=200)
    assert client.heartbeat(lease)["expires_in_ms"] == 300_000


def test_a_heartbeat_may_replace_metadata_and_checkpoint(client: Client) -> None:
    lease = client.claim(JOB, metadata="old")
    client.heartbeat(lease, checkpoint=[1, 2], metadata={"new": True})
    client.world.time.advance(seconds=1)
    client.heartbeat(lease)
    found = client.get(f"/jobs/{JOB}").json()
    assert (found["checkpoint"], found["metadata"]) == ([1, 2], {"new": True})


@pytest.mark.parametrize("checkpoint", [0, False, "", [], {}])
def test_an_empty_checkpoint_is_a_checkpoint(client: Client, checkpoint: Any) -> None:
    lease = client.claim(JOB)
    client.heartbeat(lease, checkpoint="something")
    client.world.time.advance(ms=1)
    client.heartbeat(lease, checkpoint=checkpoint)
    assert client.get(f"/jobs/{JOB}").json()["checkpoint"] == checkpoint


def test_done_stays_done_for_as_long_as_asked(client: Client) -> None:
    lease = client.claim(JOB, "worker")
    client.heartbeat(lease, checkpoint=1)
    released = client.release(lease, outcome="done", result={"pr": 77}, retain_seconds=3600)
    assert (released["status"], released["outcome"]) == ("done", "done")
    late = client.claim(JOB, "late agent")
    assert (late["status"], late["owner"], late["result"]) == ("done", "worker", {"pr": 77})
    assert late["done_until"] == released["done_until"]
    assert "nothing left to do" in late["message"]
    client.world.time.advance(seconds=3600)
    anew = client.claim(JOB, "late agent")
    assert (anew["status"], anew["attempt"]) == ("claimed", 1)
    assert (anew["previous"]["ended"], anew["previous"]["checkpoint"]) == ("done", None)


def test_done_is_kept_for_a_week_unless_said_otherwise(client: Client) -> None:
    client.release(client.claim(JOB), outcome="done")
    client.world.time.advance(seconds=7 * 24 * 3600 - 1)
    assert client.claim(JOB)["status"] == "done"
    client.world.time.advance(seconds=1)
    assert client.claim(JOB)["status"] == "claimed"


def test_a_lock_on_a_finished_job_is_held_until_it_may_be_done_again(client: Client) -> None:
    client.release(client.claim(JOB, "worker"), outcome="done", retain_seconds=60)
    held = client.acquire(JOB)
    assert (held["status"], held["owner"]) == ("held", "worker")
    assert client.get(f"/locks/{JOB}").json()["status"] == "held"
    client.world.time.advance(ms=held["retry_after_ms"])
    assert client.acquire(JOB)["status"] == "acquired"


def test_a_failure_is_counted_and_its_reason_kept(client: Client) -> None:
    client.release(client.claim(JOB, "first"), outcome="failed", reason="tests are red")
    client.world.time.advance(ms=1)
    second = client.claim(JOB, "second")
    assert second["attempt"] == 2
    assert (second["previous"]["ended"], second["previous"]["reason"]) == ("failed", "tests are red")


def test_a_job_that_used_up_its_attempts_is_exhausted_and_not_claimed_for_ever(client: Client) -> None:
    for number in range(3):
        client.world.time.advance(ms=1)
        client.release(client.claim(JOB, f"agent-{number}", max_attempts=3), outcome="failed")
    client.world.time.advance(ms=1)
    answer = client.claim(JOB, "agent-4", max_attempts=3)
    assert (answer["status"], answer["attempts"], answer["max_attempts"]) == ("exhausted", 3, 3)
    assert answer["previous"]["owner"] == "agent-2"
    assert "reopen" in answer["message"]
    assert client.claim(JOB, "agent-5", max_attempts=4)["attempt"] == 4


def test_a_plain_release_forgets_the_attempts(client: Client) -> None:
    client.release(client.claim(JOB), outcome="failed")
    client.world.time.advance(ms=1)
    client.release(client.claim(JOB))
    client.world.time.advance(ms=1)
    assert client.claim(JOB, max_attempts=1)["attempt"] == 1


@pytest.mark.parametrize("first", [None, "failed", "done"])
@pytest.mark.parametrize("second", [None, "failed", "done"])
def test_a_repeated_release_succeeds_only_with_the_same_outcome(
    client: Client, first: str | None, second: str | None
) -> None:
    lease = client.claim(JOB)
    told = client.release(lease, outcome=first)
    repeated = client.release(lease, outcome=second)
    if first == second:
        assert repeated == told
    else:
        assert repeated["code"] == "lease_not_current"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"result": 1}, "result"),
        ({"outcome": "failed", "result": 1}, "result"),
        ({"retain_seconds": 1}, "retain_seconds"),
        ({"reason": "why"}, "reason"),
        ({"outcome": "done", "reason": "why"}, "reason"),
        ({"outcome": "maybe"}, "outcome"),
        ({"outcome": "done", "result": "x" * 4097}, "result"),
        ({"outcome": "done", "retain_seconds": 90 * 24 * 3600 + 1}, "retain_seconds"),
        ({"outcome": "failed", "reason": "x" * 513}, "reason"),
    ],
)
def test_a_release_that_contradicts_itself_is_refused_by_field(client: Client, body: Any, field: str) -> None:
    lease = client.claim(JOB)
    refused = client.release(lease, **body)
    assert (refused["code"], refused["details"]["field"]) == ("invalid_input", field)
    assert client.get(f"/jobs/{JOB}").json()["status"] == "held"


@pytest.mark.parametrize(
    ("route", "body", "nearest"),
    [
        ("claim", {"owner": "a", "ttl": 5}, "ttl_seconds"),
        ("claim", {"owner": "a", "max_attempt": 5}, "max_attempts"),
        ("heartbeat", {"lease_id": "5b0c7a3e-8f5d-4a57-9d0e-2f4b1c9a6e11", "check_point": 5}, "checkpoint"),
    ],
)
def test_an_unknown_field_is_refused_with_the_nearest_known_one(
    client: Client, route: str, body: Any, nearest: str
) -> None:
    refused = client.post(f"/jobs/{JOB}/{route}", body)
    assert refused.status == 400
    assert nearest in refused.json()["error"]
    assert client.world.raw_row(JOB) is None


def test_a_claim_needs_an_owner(client: Client) -> None:
    refused = client.post(f"/jobs/{JOB}/claim", {})
    assert (refused.status, refused.json()["details"]["field"]) == (400, "owner")


def test_a_checkpoint_of_more_than_four_kilobytes_is_refused(client: Client) -> None:
    lease = client.claim(JOB)
    assert client.heartbeat(lease, checkpoint="x" * 4094)["status"] == "held"
    assert client.heartbeat(lease, checkpoint="x" * 4095)["details"]["field"] == "checkpoint"


def test_a_name_never_seen_is_free(client: Client) -> None:
    response = client.get("/jobs/never-seen")
    assert response.status == 200
    found = response.json()
    assert (found["job"], found["status"], found["fencing_token"], found["attempt"]) == ("never-seen", "free", 0, 0)
    assert {value for key, value in found.items() if key not in {"job", "status", "fencing_token", "attempt"}} == {
        None,
        False,
    }


def test_a_look_tells_the_whole_story(client: Client) -> None:
    lease = client.claim(JOB, "first", metadata="m")
    client.heartbeat(lease, checkpoint={"step": 1})
    held = client.get(f"/jobs/{JOB}").json()
    assert (held["status"], held["owner"], held["checkpoint"]) == ("held", "first", {"step": 1})
    assert "lease_id" not in held
    assert "session_id" not in held
    client.release(lease, outcome="failed", reason="no luck")
    free = client.get(f"/jobs/{JOB}").json()
    assert (free["status"], free["owner"], free["attempt"]) == ("free", None, 1)
    assert free["previous"]["owner"] == "first"
    assert free["previous"]["reason"] == "no luck"
    assert free["checkpoint"] == free["previous"]["checkpoint"] == {"step": 1}
    client.world.time.advance(ms=1)
    client.release(client.claim(JOB, "second"), outcome="done", result="r")
    done = client.get(f"/jobs/{JOB}").json()
    assert (done["status"], done["owner"], done["result"], done["checkpoint"]) == ("done", "second", "r", None)


def test_every_field_of_a_look_is_there_in_every_state(client: Client) -> None:
    never = client.get(f"/jobs/{JOB}").json()
    lease = client.claim(JOB)
    held = client.get(f"/jobs/{JOB}").json()
    client.release(lease, outcome="done")
    assert set(never) == set(held) == set(client.get(f"/jobs/{JOB}").json())


def test_jobs_are_listed_by_prefix_and_by_owner(client: Client) -> None:
    for number in range(6):
        client.claim(f"repo%2Facme%2Fissue-{number}", f"agent-{number % 2}")
    client.claim("elsewhere", "agent-0")
    listed = client.get("/jobs?prefix=repo/acme/&owner=agent-0").json()
    assert [job["job"] for job in listed["jobs"]] == [f"repo/acme/issue-{number}" for number in (0, 2, 4)]
    assert listed["next_cursor"] is None
    assert {job["status"] for job in listed["jobs"]} == {"held"}


def test_a_list_goes_on_where_its_page_ended(client: Client) -> None:
    for number in range(7):
        client.claim(f"job-{number}")
    seen, cursor = [], ""
    while True:
        page = client.get(f"/jobs?limit=3{cursor}").json()
        seen += [job["job"] for job in page["jobs"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == [f"job-{number}" for number in range(7)]


def test_one_row_serves_both_faces(client: Client) -> None:
    lease = client.acquire(JOB, owner="locker", metadata={"a": 1})
    assert client.claim(JOB)["metadata"] == {"a": 1}
    assert client.post(f"/jobs/{JOB}/heartbeat", {"lease_id": lease["lease_id"], "checkpoint": 1}).status == 200
    assert client.post(f"/locks/{JOB}/release", {"lease_id": lease["lease_id"]}).status == 200
    client.world.time.advance(ms=1)
    taken = client.claim(JOB)
    assert (taken["previous"]["owner"], taken["previous"]["checkpoint"]) == ("locker", 1)


def test_a_job_in_its_lock_delay_is_held(client: Client) -> None:
    lease = client.acquire(JOB, owner="locker", lock_delay_seconds=10)
    client.post(f"/locks/{JOB}/release", {"lease_id": lease["lease_id"]})
    held = client.claim(JOB)
    assert (held["status"], held["owner"]) == ("held", "locker")
    client.world.time.advance(ms=held["retry_after_ms"])
    assert client.claim(JOB)["status"] == "claimed"


@pytest.mark.parametrize("ttl_seconds", [None, 30])
def test_a_heartbeat_keeps_a_lock_delay_counting_from_the_end(client: Client, ttl_seconds: int | None) -> None:
    lease = client.acquire(JOB, ttl_seconds=30, lock_delay_seconds=10)
    client.world.time.advance(seconds=20)
    body = {"lease_id": lease["lease_id"], "ttl_seconds": ttl_seconds}
    assert client.post(f"/jobs/{JOB}/heartbeat", body).json()["expires_in_ms"] == 30_000
    client.world.time.advance(seconds=39)
    assert client.acquire(JOB)["status"] == "delayed"
    client.world.time.advance(seconds=1)
    assert client.acquire(JOB)["status"] == "acquired"


def test_reserved_names_are_no_jobs(client: Client) -> None:
    for name in ("claim-any", "claim-all"):
        assert client.get(f"/jobs/{name}").status == 400 or client.get(f"/jobs/{name}").status == 405
        assert client.post(f"/jobs/{name}/claim", {"owner": "a"}).json()["code"] == "invalid_lock_name"


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, [{"a": 2**70}]])
def test_a_number_that_other_readers_cannot_hold_is_refused(client: Client, value: Any) -> None:
    lease = client.claim(JOB)
    assert client.heartbeat(lease, checkpoint=value)["details"]["field"] == "checkpoint"
    assert client.heartbeat(lease, metadata={"a": value})["details"]["field"] == "metadata"
    assert client.release(lease, outcome="done", result=value)["details"]["field"] == "result"


def test_a_value_nested_too_deeply_is_refused(client: Client) -> None:
    lease, deep = client.claim(JOB), json.loads("[" * 65 + "]" * 65)
    assert client.heartbeat(lease, checkpoint=deep)["details"]["field"] == "checkpoint"
    assert client.heartbeat(lease, checkpoint=deep[0])["status"] == "held"
