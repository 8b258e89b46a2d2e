"""What callers see of the log."""

import json
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from chalicelib import cursors, positions
from chalicelib.auth import Principal
from chalicelib.call import Answer, Call, Request
from chalicelib.errors import Forbidden, InvalidInput, InvalidName
from chalicelib.faces import events as face
from chalicelib.holders import pseudonym
from chalicelib.operations import events as operations
from chalicelib.service import Service
from chalicelib.times import rfc3339
from tests.events.conftest import Aws
from tests.events.jobs import Job
from tests.events.rig import NAMESPACE, Rig
from tests.events.shard import Shard


class Reader:
    """A caller with a token of the namespace, restricted to names under `prefix`."""

    def __init__(self, rig: Rig, prefix: str = "") -> None:
        self._rig = rig
        self._principal = Principal("p7", NAMESPACE, "label", frozenset({"read"}), prefix, 0)
        self.notes: list[str] = []

    def history(self, name: str = "job", **query: str) -> dict[str, Any]:
        return _body(face.history(self._call(query), name))

    def feed(self, **query: str) -> dict[str, Any]:
        return _body(face.feed(self._call(query)))

    def _call(self, query: dict[str, str]) -> Call:
        service = cast(Service, SimpleNamespace(events=self._rig.reader))
        request = Request(b"", None, None, query)
        return Call(service, request, self._principal, self._rig.clock(), 0.0, self.notes.append)


def _body(answer: Answer) -> dict[str, Any]:
    assert answer.status == 200
    body: dict[str, Any] = json.loads(msgspec.json.encode(answer.body))
    return body


@pytest.fixture
def reader(rig: Rig) -> Reader:
    return Reader(rig)


def past_the_lag(rig: Rig) -> None:
    rig.time.advance(ms=rig.settings.feed_lag_ms + 1)


def test_a_history_tells_each_change_in_full(rig: Rig, reader: Reader) -> None:
    job = Job("repo/issue-1")
    rig.handle(Shard().add(job.claim("agent-7", principal="p1")))
    assert reader.history("repo%2Fissue-1") == {
        "events": [
            {
                "job": "repo/issue-1",
                "type": "claimed",
                "at": rfc3339(job.now_ms),
                "owner": "agent-7",
                "principal": pseudonym(job.key, "p1"),
                "fencing_token": job.now_ms * 1000,
                "rev": 1,
                "attempt": 1,
                "detail": {
                    "previous": None,
                    "session": False,
                    "ttl_seconds": 60,
                    "acquired_at": rfc3339(job.now_ms),
                },
                "gap": None,
            }
        ],
        "next_cursor": None,
    }


def test_a_principal_is_shown_by_its_pseudonym_alone(rig: Rig, reader: Reader) -> None:
    rig.handle(Shard().add(Job().claim(principal="9f86d081884c7d65")))
    past_the_lag(rig)
    said = json.dumps([reader.history(), reader.feed(), rig.bus.entries])
    assert "9f86d081884c7d65" not in said
    assert said.count(pseudonym("default/job", "9f86d081884c7d65")) == 3


def test_the_history_of_a_name_never_seen_is_empty(reader: Reader) -> None:
    assert reader.history("nobody") == {"events": [], "next_cursor": None}


def test_a_name_that_is_none_is_refused(reader: Reader) -> None:
    with pytest.raises(InvalidName):
        reader.history("..")


def test_a_history_outside_the_tokens_prefix_is_refused(rig: Rig) -> None:
    with pytest.raises(Forbidden):
        Reader(rig, prefix="ci/").history("deploy")


def revs_and_gaps(page: dict[str, Any]) -> list[tuple[int, int | None]]:
    return [(event["rev"], event["gap"]) for event in page["events"]]


def test_a_complete_history_has_no_gap(rig: Rig, reader: Reader) -> None:
    job = Job()
    rig.handle(Shard().add(job.claim(), job.release(), job.claim()))
    assert revs_and_gaps(reader.history()) == [(1, None), (2, None), (3, None)]


def test_a_history_whose_beginning_is_no_longer_kept_says_how_much_is_missing(rig: Rig, reader: Reader) -> None:
    job = Job()
    records = Shard().add(job.claim(), job.release(), job.claim(), job.release())
    rig.handle(records[2:])
    assert revs_and_gaps(reader.history()) == [(3, 2), (4, None)]


def test_changes_that_were_lost_are_said_where_they_are_missing(rig: Rig, reader: Reader) -> None:
    job = Job()
    records = Shard().add(job.claim(), job.cancel(), job.fail(), job.claim(), job.release())
    rig.handle([records[0], *records[3:]])
    assert revs_and_gaps(reader.history()) == [(1, None), (4, 2), (5, None)]


def test_a_page_knows_what_came_before_it(rig: Rig, reader: Reader) -> None:
    job = Job()
    records = Shard().add(job.claim(), job.cancel(), job.fail(), job.claim(), job.release())
    rig.handle([*records[:2], *records[3:]])
    first = reader.history(limit="2")
    second = reader.history(limit="2", cursor=first["next_cursor"])
    assert revs_and_gaps(first) == [(1, None), (2, None)]
    assert revs_and_gaps(second) == [(4, 1), (5, None)]
    assert second["next_cursor"] is None


def test_a_row_that_ttl_removed_begins_anew_without_a_gap(rig: Rig, reader: Reader) -> None:
    job = Job()
    rig.handle(Shard().add(job.claim(), job.release(), job.removed_by_ttl(), job.claim(), job.release()))
    assert revs_and_gaps(reader.history()) == [(1, None), (2, None), (1, None), (2, None)]


def test_a_row_that_began_anew_and_lost_its_beginning_says_so(rig: Rig, reader: Reader) -> None:
    job = Job()
    records = Shard().add(*(job.claim(), job.fail(), job.removed_by_ttl(), job.claim(), job.release()))
    rig.handle([*records[:3], records[4]])
    assert revs_and_gaps(reader.history()) == [(1, None), (2, None), (2, 1)]


def test_a_change_of_a_restored_table_is_shown_beside_its_twin_without_a_gap(rig: Rig, reader: Reader) -> None:
    job = Job()
    claimed, released = job.claim(), job.release()
    restored = Job()
    restored.claim()
    rig.handle(Shard("a").add(claimed, released))
    rig.handle(Shard("b").add(restored.expire()))
    assert [(event["type"], event["rev"], event["gap"]) for event in reader.history()["events"]] == [
        ("claimed", 1, None),
        ("released", 2, None),
        ("expired", 2, None),
    ]
    assert rig.complaints == ["event_number_used_twice"]


def test_a_poller_of_the_feed_sees_every_event_once(rig: Rig, reader: Reader) -> None:
    jobs = [Job(f"job-{number}") for number in range(6)]
    page = reader.feed()
    seen: list[tuple[str, int]] = []
    for round_ in range(12):
        rig.handle(Shard(f"{round_}-").add(jobs[round_ % 6].claim(), jobs[(round_ + 1) % 6].claim()))
        rig.time.advance(ms=1500)
        page = reader.feed(cursor=page["next_cursor"], limit="3")
        seen += [(event["job"], event["rev"]) for event in page["events"]]
    past_the_lag(rig)
    while page["more"] or page["events"]:
        page = reader.feed(cursor=page["next_cursor"], limit="3")
        seen += [(event["job"], event["rev"]) for event in page["events"]]
    assert sorted(seen) == sorted((f"job-{number}", rev) for number in range(6) for rev in range(1, 5))


def test_the_feed_always_has_a_cursor_and_says_whether_there_is_more(rig: Rig, reader: Reader) -> None:
    empty = reader.feed()
    assert (empty["events"], empty["more"]) == ([], False)
    rig.handle(Shard().add(Job().claim()))
    past_the_lag(rig)
    page = reader.feed(cursor=empty["next_cursor"])
    assert [event["type"] for event in page["events"]] == ["claimed"]
    assert reader.feed(cursor=page["next_cursor"])["events"] == []
    assert "gap" not in page["events"][0]


def test_the_feed_since_a_time_leaves_out_what_was_logged_before(rig: Rig, reader: Reader) -> None:
    job = Job()
    rig.handle(Shard("a").add(job.claim()))
    rig.time.advance(seconds=10)
    since = rfc3339(rig.time.ms)
    rig.handle(Shard("b").add(job.release()))
    past_the_lag(rig)
    page = reader.feed(since=since)
    assert [event["type"] for event in page["events"]] == ["released"]
    assert reader.feed(since=since, cursor=page["next_cursor"])["events"] == []


def test_a_poller_that_began_before_anything_happened_misses_nothing(rig: Rig, reader: Reader) -> None:
    page = reader.feed(since=rfc3339(rig.time.ms))
    rig.handle(Shard().add(Job().claim()))
    past_the_lag(rig)
    assert [event["type"] for event in reader.feed(cursor=page["next_cursor"])["events"]] == ["claimed"]


def test_a_token_for_a_prefix_sees_its_own_names_alone_and_goes_on_past_the_others(rig: Rig) -> None:
    shard, restricted = Shard(), Reader(rig, prefix="ci/")
    for number in range(8):
        shard.add(Job(f"hidden-{number}").claim())
    shard.add(Job("ci/build").claim())
    rig.handle(shard.records)
    past_the_lag(rig)
    page, seen, pages = restricted.feed(limit="2"), list[str](), 1
    while page["more"]:
        seen += [event["job"] for event in page["events"]]
        page, pages = restricted.feed(limit="2", cursor=page["next_cursor"]), pages + 1
    seen += [event["job"] for event in page["events"]]
    assert (seen, pages) == (["ci/build"], 5)


def test_a_cursor_does_not_tell_a_token_of_names_that_it_may_not_see(rig: Rig) -> None:
    rig.handle(Shard().add(Job("hidden").claim()))
    past_the_lag(rig)
    cursor = Reader(rig, prefix="ci/").feed()["next_cursor"]
    assert "hidden" not in positions.in_feed(cursor)


FOREIGN = [
    "",
    "x",
    "ZGVwbG95LW1haW4",
    "====",
    "a b",
    "é",
    cursors.opaque("0"),
    cursors.opaque("1" * 14),
    "A" * 5000,
]


@pytest.mark.parametrize("cursor", [*FOREIGN, cursors.opaque("1" * 15)])
def test_a_history_refuses_a_foreign_cursor(reader: Reader, cursor: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        reader.history(cursor=cursor)
    assert refused.value.details == {"field": "cursor"}


@pytest.mark.parametrize("cursor", [*FOREIGN, cursors.opaque(f"{1:016d}.{1:010d}")])
def test_a_feed_refuses_a_foreign_cursor(reader: Reader, cursor: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        reader.feed(cursor=cursor)
    assert refused.value.details == {"field": "cursor"}


@pytest.mark.parametrize("since", ["", "yesterday", "1795000000", "2026-11-18", "2026-11-18T12:00:00"])
def test_a_since_that_is_no_time_is_refused(reader: Reader, since: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        reader.feed(since=since)
    assert refused.value.details == {"field": "since"}


@pytest.mark.parametrize("limit", ["0", "101", "-1", "1e1", ""])
def test_a_page_size_out_of_bounds_is_refused(reader: Reader, limit: str) -> None:
    with pytest.raises(InvalidInput):
        reader.feed(limit=limit)
    with pytest.raises(InvalidInput):
        reader.history(limit=limit)


def test_an_edited_row_of_the_log_is_noted_and_shows_as_a_gap(rig: Rig, reader: Reader, aws: Aws) -> None:
    job = Job()
    rig.handle(Shard().add(job.claim(), job.cancel(), job.release()))
    key = {"key": {"S": job.key}, "seq": {"S": rig.history()[1].seq}}
    row = aws.unwatched.get_item(TableName=rig.settings.events_table, Key=key)["Item"]
    aws.unwatched.put_item(TableName=rig.settings.events_table, Item={**row, "type": {"N": "1"}})
    assert revs_and_gaps(reader.history()) == [(1, None), (3, 1)]
    assert len(reader.notes) == 1


@pytest.mark.parametrize("operation", [operations.HISTORY, operations.FEED])
def test_the_examples_are_of_the_shape_that_is_answered(operation: Any) -> None:
    for (_, shape), example in zip(operation.answers, operation.examples, strict=True):
        said = json.loads(msgspec.json.encode(msgspec.json.decode(json.dumps(example), type=shape)))
        assert said == example
