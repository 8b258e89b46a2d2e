"""Two images in, an event or nothing out."""

import json
import random
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from chalicelib.events import LARGEST_EVENT_BYTES, TYPES, Event, PoisonImage, event_of
from chalicelib.holders import pseudonym
from chalicelib.row import RawRow, read
from chalicelib.times import rfc3339
from tests.events.jobs import SECRETS, START_MS, Change, Job
from tests.events.replay import replayed, told_by

BY = pseudonym("default/job", "admin")


def told(change: Change) -> Event:
    event = event_of(change.old, change.new)
    assert event is not None
    return event


def detail_of(change: Change) -> dict[str, Any]:
    detail: dict[str, Any] = json.loads(told(change).detail_json)
    return detail


def claimed(name: str = "job", **asked: Any) -> Job:
    job = Job(name)
    job.claim(**asked)
    return job


def test_a_first_claim_is_told_with_all_its_facts() -> None:
    job = Job("repo/issue-1")
    event = told(job.claim("agent-7", principal="p9"))
    assert event == Event(
        key="default/repo/issue-1",
        type="claimed",
        at_ms=START_MS + 1000,
        owner="agent-7",
        principal="p9",
        fence=(START_MS + 1000) * 1000,
        rev=1,
        attempt=1,
        detail_json=event.detail_json,
    )
    assert json.loads(event.detail_json) == {
        "previous": None,
        "session": False,
        "ttl_seconds": 60,
        "acquired_at": rfc3339(START_MS + 1000),
    }


def test_a_claim_of_a_free_name_says_who_had_it_before_and_how_that_ended() -> None:
    job = claimed(owner="first")
    job.fail("no disk")
    ended_at = rfc3339(job.now_ms)
    change = job.claim("second")
    assert told(change).type == "claimed"
    assert told(change).attempt == 2
    assert detail_of(change)["previous"] == {
        "owner": "first",
        "ended": "failed",
        "ended_at": ended_at,
        "reason": "no disk",
    }


def test_a_claim_over_a_lease_that_nobody_ended_is_a_takeover() -> None:
    job = claimed(owner="first")
    end = rfc3339(job.held["expires_at_ms"])
    change = job.claim("second")
    assert told(change).type == "taken_over"
    assert detail_of(change)["previous"] == {"owner": "first", "ended": "expired", "ended_at": end, "reason": None}


def test_a_claim_after_the_sweep_has_marked_the_end_is_no_takeover() -> None:
    job = claimed()
    job.expire()
    assert told(job.claim()).type == "claimed"


def test_a_claim_in_a_session_says_so_without_naming_the_session() -> None:
    job = Job()
    change = job.claim(session_id="secret-session")
    assert detail_of(change)["session"] is True
    assert "secret-session" not in told(change).detail_json


def test_a_heartbeat_that_raised_rev_is_told_by_the_time_of_the_heartbeat() -> None:
    job = claimed()
    event = told(job.heartbeat(logged=True))
    assert (event.type, event.at_ms, event.rev, event.detail_json) == ("heartbeat", job.now_ms, 2, "{}")


def test_a_heartbeat_that_left_rev_alone_is_no_event() -> None:
    change = claimed().heartbeat()
    assert event_of(change.old, change.new) is None


def test_a_plain_release_tells_the_attempt_that_ended_though_the_row_forgets_it() -> None:
    job = claimed(owner="agent-7")
    job.fail()
    job.claim("agent-7")
    event = told(job.release())
    assert (event.type, event.owner, event.attempt, event.rev) == ("released", "agent-7", 2, 4)
    assert json.loads(event.detail_json) == {"reason": None}


def test_a_failure_keeps_its_reason_and_its_attempt() -> None:
    change = claimed().fail("no disk")
    assert (told(change).type, told(change).attempt) == ("failed", 1)
    assert detail_of(change) == {"reason": "no disk"}


def test_done_tells_the_result_and_until_when_it_counts() -> None:
    job = claimed()
    change = job.finish({"url": "https://example.org", "n": [1, None]}, retain_ms=5000)
    assert (told(change).type, told(change).attempt) == ("done", 1)
    assert detail_of(change) == {
        "reason": None,
        "result": {"url": "https://example.org", "n": [1, None]},
        "done_until": rfc3339(job.now_ms + 5000),
    }


def test_an_expiry_tells_when_the_lease_ended_and_when_that_was_noticed() -> None:
    job = claimed(owner="lost")
    end_ms = job.held["expires_at_ms"]
    change = job.expire()
    event = told(change)
    assert (event.type, event.owner, event.attempt) == ("expired", "lost", 1)
    assert event.at_ms >= end_ms + 30_000
    assert detail_of(change) == {"expired_at": rfc3339(end_ms)}


def test_an_eviction_tells_whose_lease_it_ended_and_why() -> None:
    change = claimed(owner="stuck-agent").evict("stuck")
    assert (told(change).type, told(change).owner, told(change).attempt) == ("evicted", "stuck-agent", 1)
    assert detail_of(change) == {"reason": "stuck", "by": BY}


def test_a_handover_tells_the_new_owner_and_who_handed_over() -> None:
    job = claimed(owner="first", session_id="secret-session")
    change = job.hand_over("heir")
    event = told(change)
    assert (event.type, event.owner, event.attempt, event.rev) == ("handed_over", "heir", 1, 2)
    assert event.fence == told(Change(None, change.old)).fence + 1
    assert detail_of(change) == {
        "previous": {"owner": "first", "ended": "handed_over", "ended_at": rfc3339(job.now_ms), "reason": None},
        "session": False,
        "ttl_seconds": 60,
        "acquired_at": rfc3339(job.now_ms),
    }


def test_a_wish_to_cancel_is_told_with_its_reason() -> None:
    change = claimed().cancel("not needed")
    assert (told(change).type, detail_of(change)) == ("cancel_requested", {"reason": "not needed", "by": BY})


def test_a_reopened_job_is_told_with_the_attempts_that_are_forgiven() -> None:
    job = claimed()
    job.expire()
    change = job.reopen("once more")
    assert (told(change).type, told(change).attempt, detail_of(change)) == (
        "reopened",
        1,
        {"reason": "once more", "by": BY},
    )


def test_what_ttl_removes_is_no_event() -> None:
    job = claimed()
    job.release()
    change = job.removed_by_ttl()
    assert event_of(change.old, change.new) is None


def test_housekeeping_rows_are_no_event() -> None:
    assert event_of(None, {"key": {"S": "#sweep"}, "cursor": {"S": "default/job"}}) is None


def test_a_row_that_begins_anew_is_claimed_again_at_rev_one() -> None:
    job = claimed()
    job.release()
    job.removed_by_ttl()
    event = told(job.claim())
    assert (event.type, event.rev, event.attempt) == ("claimed", 1, 1)


def held_row(**changed: dict[str, Any]) -> RawRow:
    return {**(claimed().claim().new or {}), **changed}


UNREADABLE = {
    "no attribute but its key": {"key": {"S": "default/job"}},
    "no key": {"state": {"S": "held"}},
    "a key of the wrong type": held_row(key={"N": "1"}),
    "a key without a namespace": held_row(key={"S": "job"}),
    "an op that no verb has": held_row(op={"S": "conquer"}),
    "a release that ended in no known way": held_row(op={"S": "release"}, ended={"S": "somehow"}),
    "a number that is a text": held_row(fence={"S": "5"}),
    "a number that is not whole": held_row(rev={"N": "1.5"}),
    "rev 0": held_row(rev={"N": "0"}),
    "a rev with more digits than the log has": held_row(rev={"N": "10000000000"}),
    "a state that is none": held_row(state={"S": "asleep"}),
    "a result that is not JSON": held_row(result={"S": "{"}),
    "an owner larger than the bus takes": held_row(owner={"S": "é" * (LARGEST_EVENT_BYTES // 2)}),
}


@pytest.mark.parametrize("new", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_an_image_that_cannot_be_read_is_poison(new: RawRow) -> None:
    with pytest.raises(PoisonImage):
        event_of(None, new)


def test_an_old_image_that_cannot_be_read_is_poison_too() -> None:
    change = claimed().release()
    with pytest.raises(PoisonImage):
        event_of({"key": {"S": "default/job"}}, change.new)


def whole_life() -> list[Change]:
    """Each verb at least once."""
    job = Job()
    return [
        job.claim(session_id="secret-session"),
        job.heartbeat(),
        job.heartbeat(logged=True),
        job.cancel(),
        job.hand_over(),
        job.fail(),
        job.claim(),
        job.cancel("too slow"),
        job.claim("thief"),
        job.expire(),
        job.reopen(),
        job.claim(),
        job.evict(),
        job.claim(),
        job.finish({"answer": 42}),
        job.reopen(),
        job.claim(),
        job.release(),
    ]


def test_no_event_has_a_secret_in_it() -> None:
    changes = whole_life()
    assert {event.type for change in changes if (event := event_of(change.old, change.new))} == set(TYPES)
    for change in changes:
        event = event_of(change.old, change.new)
        said = "" if event is None else json.dumps(asdict(event))
        assert "secret" not in said
        assert not any(name in said for name in SECRETS)


def test_replaying_the_events_gives_the_row_after_every_change() -> None:
    events: list[Event] = []
    for change in whole_life():
        assert change.new is not None
        events += [event] if (event := event_of(change.old, change.new)) else []
        assert replayed(events) == told_by(read(change.new))


def test_replaying_gives_the_row_whatever_the_order_of_verbs() -> None:
    chance = random.Random(7)
    for _ in range(30):
        job, events = Job(), list[Event]()
        for _ in range(25):
            change = chance.choice(_possible(job))()
            events += [event] if (event := event_of(change.old, change.new)) else []
            assert replayed(events) == told_by(read(change.new or {}))


def _possible(job: Job) -> list[Callable[[], Change]]:
    if job.row is None or job.row["state"] in ("released", "expired"):
        return [job.claim] if job.row is None or not job.row["attempt"] else [job.claim, job.reopen]
    if job.row["state"] == "done":
        return [job.reopen, job.claim]
    ends = [job.release, job.fail, job.finish, job.expire, job.evict]
    return [*ends, job.claim, job.heartbeat, job.cancel, job.hand_over, lambda: job.heartbeat(logged=True)]
