"""Claims over several names: any one of them, or all of them."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from unittest.mock import patch

import pytest
from botocore.exceptions import ClientError

from tests.engine.contest import switching_every_ten_microseconds
from tests.http.client import Client

BACKLOG = [f"issue-{number:02}" for number in range(25)]


def claim_any(client: Client, jobs: list[str], owner: str = "agent", **body: Any) -> Any:
    return client.post("/jobs/claim-any", {"owner": owner, "jobs": jobs, **body}).json()


def claim_all(client: Client, jobs: list[str], owner: str = "agent", **body: Any) -> Any:
    return client.post("/jobs/claim-all", {"owner": owner, "jobs": jobs, **body}).json()


def test_fifty_agents_over_a_backlog_of_25_own_a_different_job_each(client: Client) -> None:
    start = Barrier(50)

    def agent(number: int) -> Any:
        start.wait()
        while True:
            answer = claim_any(client, BACKLOG, f"agent-{number}")
            if answer.get("code") != "upstream_unavailable":
                return answer

    with switching_every_ten_microseconds(), ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(agent, range(50)))
    won = [answer["job"] for answer in answers if answer["status"] == "claimed"]
    assert sorted(won) == BACKLOG
    assert [answer["status"] for answer in answers].count("none") == 25


def test_one_read_and_one_write_claim_a_free_one(client: Client) -> None:
    for name in BACKLOG[:24]:
        client.claim(name)
    client.world.transport.forget()
    assert claim_any(client, BACKLOG)["job"] == BACKLOG[24]
    assert client.world.transport.calls == ["BatchGetItem", "UpdateItem"]


def test_a_swarm_starts_at_different_places_unless_it_asks_for_the_first(client: Client) -> None:
    first = {claim_any(client, BACKLOG, f"agent-{number}")["job"] for number in range(5)}
    assert first != set(BACKLOG[:5])
    free = [name for name in BACKLOG if name not in first]
    assert claim_any(client, BACKLOG, in_order=True)["job"] == free[0]


def test_none_is_told_with_everyone_who_is_in_the_way(client: Client) -> None:
    client.claim("held", "holder", ttl_seconds=60)
    client.release(client.claim("done"), outcome="done")
    client.release(client.claim("exhausted"), outcome="failed")
    client.world.time.advance(ms=1)
    answer = claim_any(client, ["done", "held", "exhausted"], max_attempts=1)
    assert answer["status"] == "none"
    assert [(job["job"], job["status"]) for job in answer["jobs"]] == [
        ("done", "done"),
        ("held", "held"),
        ("exhausted", "exhausted"),
    ]
    assert answer["retry_after_ms"] == answer["jobs"][1]["retry_after_ms"]


def test_none_that_waiting_will_not_help_has_no_time_to_come_back(client: Client) -> None:
    client.release(client.claim("done"), outcome="done")
    assert claim_any(client, ["done"])["retry_after_ms"] is None


def test_a_repeat_of_a_claim_any_gets_its_own_job_and_never_a_second_one(client: Client) -> None:
    first = claim_any(client, BACKLOG, idempotency_key="k")
    again = claim_any(client, BACKLOG, idempotency_key="k")
    assert (again["job"], again["lease_id"]) == (first["job"], first["lease_id"])
    client.release(first)
    assert claim_any(client, BACKLOG, idempotency_key="k")["code"] == "lease_not_current"
    assert claim_any(client, BACKLOG[1:] + BACKLOG[:1], idempotency_key="k")["code"] == "lease_not_current"
    assert claim_any(client, BACKLOG, "other", idempotency_key="k")["code"] == "idempotency_key_reused"


def test_a_claim_any_takes_over_from_the_dead(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    client.heartbeat(client.claim("carried", "dead", session_id=session_id))
    client.world.time.advance(seconds=11)
    answer = claim_any(client, ["carried"])
    assert (answer["status"], answer["previous"]["owner"]) == ("claimed", "dead")


def test_a_row_edited_by_hand_keeps_nobody_from_the_others(client: Client) -> None:
    client.claim("broken")
    client.world.edit("broken", fence={"S": "high"})
    assert claim_any(client, ["broken", "whole"], in_order=True)["job"] == "whole"


def test_all_are_claimed_in_one_transaction(client: Client) -> None:
    client.release(client.claim("b", "before"), outcome="failed")
    client.world.time.advance(ms=1)
    client.world.transport.forget()
    answer = claim_all(client, ["a", "b", "c"], ttl_seconds=30)
    assert client.world.transport.calls == ["TransactWriteItems", "BatchGetItem"]
    assert answer["status"] == "claimed"
    assert [job["job"] for job in answer["jobs"]] == ["a", "b", "c"]
    assert [job["attempt"] for job in answer["jobs"]] == [1, 2, 1]
    assert answer["jobs"][1]["previous"]["owner"] == "before"
    assert len({job["lease_id"] for job in answer["jobs"]}) == 3
    for job in answer["jobs"]:
        assert job["expires_in_ms"] == 30_000
        assert client.heartbeat(job)["status"] == "held"


def test_one_in_the_way_leaves_all_the_others_alone(client: Client) -> None:
    client.claim("b", "holder")
    answer = claim_all(client, ["a", "b", "c"])
    assert answer["status"] == "held"
    assert [(job["job"], job["owner"]) for job in answer["jobs"]] == [("b", "holder")]
    assert answer["retry_after_ms"] == answer["jobs"][0]["retry_after_ms"]
    assert "b" in answer["message"]
    assert client.world.raw_row("a") is None
    assert client.world.raw_row("c") is None


def test_a_repeat_of_a_claim_all_is_the_same_leases(client: Client) -> None:
    first = claim_all(client, ["a", "b"], idempotency_key="k")
    client.world.time.advance(seconds=20)
    again = claim_all(client, ["a", "b"], idempotency_key="k")
    assert [job["lease_id"] for job in again["jobs"]] == [job["lease_id"] for job in first["jobs"]]
    assert {job["expires_in_ms"] for job in again["jobs"]} == {100_000}
    client.release(first["jobs"][0])
    assert claim_all(client, ["a", "b"], idempotency_key="k")["code"] == "lease_not_current"
    assert claim_all(client, ["a", "c"], idempotency_key="k")["code"] == "idempotency_key_reused"


def test_a_claim_all_whose_reply_was_lost_inside_finds_its_own_leases(client: Client) -> None:
    client.world.transport.lose_reply()
    answer = claim_all(client, ["a", "b"])
    assert answer["status"] == "claimed"
    assert client.world.row("a").rev == 1


def test_fences_ahead_of_the_clock_cost_a_claim_all_one_more_transaction(client: Client) -> None:
    for name in ("a", "b"):
        client.release(client.claim(name))
    client.world.transport.forget()
    assert claim_all(client, ["a", "b"])["status"] == "claimed"
    assert client.world.transport.writes() == ["TransactWriteItems"] * 2


def test_under_contention_nobody_holds_a_part(client: Client) -> None:
    """Each wants three neighbours of a ring, so that every two of them overlap somewhere."""
    ring, start = BACKLOG[:6], Barrier(12)

    def agent(number: int) -> Any:
        wanted = [ring[(number + step) % 6] for step in range(3)]
        start.wait()
        return claim_all(client, wanted, f"agent-{number}")

    with switching_every_ten_microseconds(), ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(agent, range(12)))
    held = {job["job"]: job["owner"] for job in client.get("/jobs").json()["jobs"]}
    won = [answer for answer in answers if answer["status"] == "claimed"]
    assert won
    assert held == {job["job"]: job["owner"] for answer in won for job in answer["jobs"]}


@pytest.mark.parametrize("route", ["/jobs/claim-any", "/jobs/claim-all"])
@pytest.mark.parametrize(
    ("jobs", "code"),
    [
        ([], "invalid_input"),
        (["a"] * 2, "invalid_input"),
        ([f"n{number}" for number in range(26)], "invalid_input"),
        (["a b"], "invalid_lock_name"),
        (["claim-any"], "invalid_lock_name"),
        ([1], "invalid_input"),
        ("a", "invalid_input"),
        (None, "invalid_input"),
    ],
)
def test_a_list_of_names_that_is_none_is_refused(client: Client, route: str, jobs: Any, code: str) -> None:
    response = client.post(route, {"owner": "a", "jobs": jobs})
    assert (response.status, response.json()["code"]) == (400, code)
    assert response.json()["details"]["field"].startswith("jobs")
    assert client.world.transport.writes() == []


def test_a_token_claims_no_names_beyond_its_prefix(client: Client) -> None:
    limited = client.new_token("claim", prefix="ci/")
    for route in ("/jobs/claim-any", "/jobs/claim-all"):
        assert limited.post(route, {"owner": "a", "jobs": ["ci/a", "b"]}).status == 403


def test_a_conflict_with_another_transaction_is_a_retry_and_no_loss(client: Client) -> None:
    """No stand-in has conflicts, so one is put in: beside the refusal by the caller's own lease."""
    claim_all(client, ["a", "b"], idempotency_key="k")
    dynamodb = client.world.service.client
    answers = [conflict_beside(client.world.raw_row("a")), conflict_beside(client.world.raw_row("a"))]
    transact = dynamodb.transact_write_items

    def conflicting(**request: Any) -> Any:
        if answers:
            raise answers.pop()
        return transact(**request)

    with patch.object(dynamodb, "transact_write_items", conflicting), patch("chalicelib.store.time.sleep"):
        assert claim_all(client, ["a", "b"], idempotency_key="k")["status"] == "claimed"
    assert answers == []


def conflict_beside(row: Any) -> ClientError:
    reasons = [{"Code": "ConditionalCheckFailed", "Item": row}, {"Code": "TransactionConflict"}]
    error: Any = {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": reasons}
    return ClientError(error, "TransactWriteItems")


def test_a_repeat_of_a_claim_all_of_which_a_part_is_lost_is_told_so(client: Client) -> None:
    claim_all(client, ["a", "b"], idempotency_key="k")
    client.post("/jobs/b/evict", {"reason": "r"})
    client.world.time.advance(ms=1)
    client.claim("b", "other")
    again = claim_all(client, ["a", "b"], idempotency_key="k")
    assert (again["code"], again["details"]["still_held"]) == ("lease_not_current", ["a"])


def test_names_of_which_nothing_can_be_read_are_an_outage(client: Client) -> None:
    client.claim("broken")
    client.world.edit("broken", fence={"S": "high"})
    assert claim_any(client, ["broken"])["code"] == "upstream_unavailable"
    assert any("default/broken" in str(line) for line in client.lines)


def test_a_session_that_cannot_be_read_keeps_nobody_from_the_other_names(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    client.heartbeat(client.claim("broken", session_id=session_id))
    client.world.dynamodb.put_item(
        TableName=client.world.settings.sessions_table, Item={"session_id": {"S": session_id}}
    )
    client.world.time.advance(seconds=11)
    client.claim("held")
    assert claim_any(client, ["broken", "held"], in_order=True)["status"] == "none"
    assert claim_any(client, ["broken", "free"], in_order=True)["job"] == "free"
