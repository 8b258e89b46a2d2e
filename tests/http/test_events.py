"""From a request to the log and back: through the table's stream, the app's own handler, and the event face."""

import importlib
from typing import Any

import boto3
import pytest

from infra.schedule import scheduled_event
from infra.stream_reader import StreamReader
from tests.http.client import Client
from tests.world import MARGIN_MS

JOB = "job"


class Stream:
    """What Lambda does between the table's stream and the app's handler, when it is told to."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._reader = StreamReader(boto3.client("dynamodbstreams"), client.world.settings.leases_table)

    def pump(self) -> None:
        for batch in self._reader.batches():
            answer = importlib.import_module("app").on_lease({"Records": batch}, None)
            assert answer == {"batchItemFailures": []}
        # The feed shows what has been in the log for a while.
        self._client.world.time.advance(ms=self._client.world.settings.feed_lag_ms + 1)


@pytest.fixture
def stream(client: Client) -> Stream:
    return Stream(client)


def history(client: Client, job: str = JOB) -> Any:
    return client.get(f"/jobs/{job}/events").json()["events"]


def sweep_by_schedule(client: Client) -> None:
    importlib.import_module("app").recover(scheduled_event(client.world.time.ms // 1000), None)


def test_a_whole_life_is_in_the_history_in_order_and_exactly_once(client: Client, stream: Stream) -> None:
    client.release(client.claim(JOB, "a"), outcome="failed", reason="red")
    client.world.time.advance(ms=1)
    lost = client.claim(JOB, "b", ttl_seconds=1)
    client.heartbeat(lost, checkpoint=1)
    client.world.time.advance(seconds=10)
    passed = client.claim(JOB, "c")
    heir = client.post(f"/jobs/{JOB}/handover", {"lease_id": passed["lease_id"], "to_owner": "d"}).json()
    client.post(f"/jobs/{JOB}/cancel", {"reason": "closed"})
    client.release(heir, outcome="done", result={"pr": 7})
    client.post(f"/jobs/{JOB}/reopen", {"reason": "again"})
    client.world.time.advance(ms=1)
    client.claim(JOB, "e")
    client.post(f"/jobs/{JOB}/evict", {"reason": "stuck"})
    stream.pump()
    stream.pump()
    told = history(client)
    assert [event["type"] for event in told] == [
        "claimed",
        "failed",
        "claimed",
        "taken_over",
        "handed_over",
        "cancel_requested",
        "done",
        "reopened",
        "claimed",
        "evicted",
    ]
    assert [event["rev"] for event in told] == list(range(1, 11))
    assert {event["gap"] for event in told} == {None}
    fences = [event["fencing_token"] for event in told]
    assert fences == sorted(fences)
    assert "lease_id" not in str(told)
    assert client.token.split("_")[1] not in str(told)


def test_a_killed_workers_end_is_in_the_log_though_nobody_claims_the_job(client: Client, stream: Stream) -> None:
    lease = client.claim(JOB, "killed", ttl_seconds=10)
    client.world.time.advance(seconds=12)
    sweep_by_schedule(client)
    stream.pump()
    last = history(client)[-1]
    assert (last["type"], last["owner"], last["attempt"]) == ("expired", "killed", 1)
    assert last["detail"] == {"expired_at": lease["expires_at"]}


def test_a_deleted_session_is_told_as_releases(client: Client, stream: Stream) -> None:
    session_id = client.session()
    client.claim(JOB, session_id=session_id)
    client.delete(f"/sessions/{session_id}")
    stream.pump()
    assert [event["type"] for event in history(client)] == ["claimed", "released"]


def test_the_schedules_own_time_is_held_against_the_clock(client: Client) -> None:
    client.claim(JOB, ttl_seconds=1)
    client.world.time.advance(seconds=60)
    with pytest.raises(Exception, match="clock"):
        importlib.import_module("app").recover(scheduled_event(client.world.time.ms // 1000 - 40), None)
    assert client.world.row(JOB).state == "held"


def test_the_sweeps_clock_counts_no_later_than_the_schedules_time(client: Client) -> None:
    client.claim(JOB, ttl_seconds=10)
    client.world.time.advance(ms=10_000 + MARGIN_MS + 5_000)
    importlib.import_module("app").recover(scheduled_event(client.world.time.ms // 1000 - 6), None)
    assert client.world.row(JOB).state == "held"


def test_the_feed_tells_all_jobs_of_the_namespace_in_the_order_of_logging(client: Client, stream: Stream) -> None:
    elsewhere = client.new_token("admin", namespace="other")
    for number in range(9):
        client.world.time.advance(ms=1)
        client.claim(f"job-{number}")
        elsewhere.claim(f"job-{number}")
    stream.pump()
    seen: list[str] = []
    cursor = ""
    while True:
        page = client.get(f"/events?limit=2{cursor}").json()
        seen += [event["job"] for event in page["events"]]
        cursor = f"&cursor={page['next_cursor']}"
        if not page["more"]:
            break
    assert seen == [f"job-{number}" for number in range(9)]
    client.claim("later")
    stream.pump()
    assert [event["job"] for event in client.get(f"/events?limit=50{cursor}").json()["events"]] == ["later"]


def test_a_token_with_a_prefix_sees_only_what_it_may(client: Client, stream: Stream) -> None:
    client.claim("ci%2Fjob")
    client.claim("secret")
    stream.pump()
    limited = client.new_token("read", prefix="ci/")
    assert [event["job"] for event in limited.get("/events").json()["events"]] == ["ci/job"]
    assert limited.get("/jobs/secret/events").status == 403


def test_leases_are_unaffected_while_nobody_reads_the_stream(client: Client, stream: Stream) -> None:
    for number in range(30):
        client.world.time.advance(ms=1)
        client.release(client.claim(JOB, f"agent-{number}"))
    stream.pump()
    assert len(client.get(f"/jobs/{JOB}/events?limit=100").json()["events"]) == 60
