"""The reading side of the log: a history in pages, and a feed whose cursor skips nothing."""

from typing import Any

import pytest

from chalicelib import positions
from chalicelib.event_reader import Page
from tests.events.conftest import Aws
from tests.events.jobs import Job
from tests.events.rig import NAMESPACE, NewRig, Rig
from tests.events.shard import Shard
from tests.transport import Transport

START = positions.at_time(0)


@pytest.fixture
def jobs() -> list[Job]:
    return [Job(f"job-{number}") for number in range(8)]


def feed(rig: Rig, after: str = START, limit: int = 100) -> Page:
    return rig.reader.feed(NAMESPACE, after=after, limit=limit, clock=rig.clock())


def past_the_lag(rig: Rig) -> None:
    rig.time.advance(ms=rig.settings.feed_lag_ms + 1)


def names(page: Page) -> list[str]:
    return [entry.event.key.removeprefix(f"{NAMESPACE}/") for entry in page.entries]


def test_a_history_comes_in_pages_that_fit_together(rig: Rig) -> None:
    job, shard = Job(), Shard()
    shard.add(job.claim(), *(change for _ in range(6) for change in (job.fail(), job.claim())))
    rig.handle(shard.records)
    revs, after, more = [], positions.START_OF_HISTORY, True
    while more:
        page = rig.reader.history(job.key, after=after, limit=5, clock=rig.clock())
        revs += [entry.event.rev for entry in page.entries]
        after, more = page.position, page.more
    assert revs == list(range(1, 14))


def test_a_history_that_fills_its_page_exactly_has_no_other(rig: Rig) -> None:
    job = Job()
    rig.handle(Shard().add(job.claim(), job.release()))
    assert not rig.reader.history(job.key, after=positions.START_OF_HISTORY, limit=2, clock=rig.clock()).more


def test_a_history_is_a_single_consistent_query(rig: Rig, transport: Transport) -> None:
    rig.history()
    assert transport.calls == ["Query"]
    assert b'"ConsistentRead": true' in transport.requests[0]


def test_the_history_of_a_name_never_seen_is_empty(rig: Rig) -> None:
    page = rig.reader.history("default/nobody", after=positions.START_OF_HISTORY, limit=5, clock=rig.clock())
    assert (page.entries, page.more) == ([], False)


def test_a_history_has_no_lag(rig: Rig) -> None:
    rig.handle(Shard().add(Job().claim()))
    assert rig.types() == ["claimed"]
    assert feed(rig).entries == []


def test_the_feed_is_in_the_order_of_logging_over_all_shards(rig: Rig, jobs: list[Job]) -> None:
    order = [jobs[place] for place in (3, 1, 4, 1, 5, 2, 6, 5, 3, 0, 7)]
    for job in order:
        rig.handle(Shard(job.key[-1] + str(job.now_ms)).add(job.claim()))
        rig.time.advance(ms=1)
    past_the_lag(rig)
    assert names(feed(rig)) == [job.key.removeprefix("default/") for job in order]


def test_events_logged_in_one_millisecond_stay_in_the_order_of_their_job(rig: Rig) -> None:
    job = Job()
    rig.handle(Shard().add(job.claim(), job.fail(), job.claim(), job.hand_over(), job.release()))
    past_the_lag(rig)
    assert [entry.event.rev for entry in feed(rig).entries] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("limit", [1, 3, 7, 100])
def test_a_cursor_walks_over_every_event_once(rig: Rig, jobs: list[Job], limit: int) -> None:
    shard = Shard()
    for job in jobs:
        shard.add(job.claim(), job.fail(), job.claim())
    rig.handle(shard.records)
    past_the_lag(rig)
    seen, after, more = [], START, True
    while more:
        page = feed(rig, after, limit)
        seen += [(entry.event.key, entry.event.rev) for entry in page.entries]
        after, more = page.position, page.more
    assert sorted(seen) == sorted((job.key, rev) for job in jobs for rev in (1, 2, 3))
    assert feed(rig, after).entries == []


def test_what_lands_late_is_neither_skipped_nor_shown_twice(rig: Rig, transport: Transport, jobs: list[Job]) -> None:
    """A's handler reads its clock first and its write lands last; a reader polls all the while."""
    slow, quick = jobs[:2]
    seen: list[str] = []
    position = START

    def poll() -> None:
        nonlocal position
        page = feed(rig, position)
        seen.extend(names(page))
        position = page.position

    def meanwhile() -> None:
        rig.handle(Shard("b").add(quick.claim()))
        for _ in range(29):
            rig.time.advance(ms=100)
            poll()

    transport.before_next(meanwhile)
    rig.handle(Shard("a").add(slow.claim()))
    for _ in range(40):
        rig.time.advance(ms=100)
        poll()
    assert seen == ["job-0", "job-1"]


def test_a_reader_with_no_lag_would_have_skipped_it(new_rig: NewRig, transport: Transport, jobs: list[Job]) -> None:
    """Why there is a lag: the test above has teeth."""
    rig = new_rig(feed_lag_ms=0)
    seen: list[str] = []

    def meanwhile() -> None:
        rig.time.advance(ms=1)
        rig.handle(Shard("b").add(jobs[1].claim()))
        rig.time.advance(ms=1)
        seen.append(feed(rig).position)

    transport.before_next(meanwhile)
    rig.handle(Shard("a").add(jobs[0].claim()))
    rig.time.advance(seconds=60)
    assert names(feed(rig, seen[0])) == []


def test_a_position_stays_where_it_is_while_nothing_new_is_shown(rig: Rig) -> None:
    since = positions.at_time(rig.time.ms)
    page = feed(rig, since)
    assert (page.entries, page.position, page.more) == ([], since, False)


def test_a_position_that_lies_ahead_waits_for_its_time(rig: Rig) -> None:
    ahead = positions.at_time(rig.time.ms + 60_000)
    rig.handle(Shard().add(Job().claim()))
    past_the_lag(rig)
    assert feed(rig, ahead).entries == []
    assert feed(rig, ahead).position == ahead


def test_the_feed_starts_with_what_was_logged_at_that_very_moment(rig: Rig) -> None:
    job = Job()
    rig.handle(Shard("a").add(job.claim()))
    rig.time.advance(ms=1)
    since = positions.at_time(rig.time.ms)
    rig.handle(Shard("b").add(job.release()))
    past_the_lag(rig)
    assert [entry.event.type for entry in feed(rig, since).entries] == ["released"]


def test_another_namespace_is_never_in_the_feed(rig: Rig) -> None:
    rig.handle(Shard().add(Job(namespace="other").claim()))
    past_the_lag(rig)
    assert feed(rig).entries == []


def test_the_feed_costs_one_query_a_shard(rig: Rig, transport: Transport) -> None:
    feed(rig)
    assert transport.calls == ["Query"] * rig.settings.feed_shards


def test_pages_that_dynamodb_cuts_at_one_megabyte_skip_nothing(new_rig: NewRig, jobs: list[Job]) -> None:
    """One shard has large events and ends early: what the others have behind that place must wait."""
    rig, large, small = new_rig(feed_shards=2), jobs[0], jobs[1:]
    large.claim()
    for round_ in range(60):
        changes = [large.finish("x" * 20_000), large.finish("y" * 20_000), small[round_ % 7].claim()]
        rig.handle(Shard(f"{round_}-").add(*changes))
        rig.time.advance(ms=1)
    past_the_lag(rig)
    seen, after, more, sizes = [], START, True, list[int]()
    while more:
        page = feed(rig, after)
        seen += [(entry.event.key, entry.event.rev) for entry in page.entries]
        after, more, sizes = page.position, page.more, [*sizes, len(page.entries)]
    assert len(seen) == len(set(seen)) == 180
    assert sizes[0] < 100 < len(seen)
    assert [key for key, _ in seen if key != large.key] == [small[round_ % 7].key for round_ in range(60)]


def test_a_row_of_the_log_that_somebody_edited_is_left_out_and_said(rig: Rig, aws: Aws) -> None:
    job = Job()
    rig.handle(Shard().add(job.claim(), job.cancel(), job.release()))
    _edit(aws, rig, rig.history()[1].seq, detail={"S": "{not json"})
    page = rig.reader.history(job.key, after=positions.START_OF_HISTORY, limit=5, clock=rig.clock())
    assert [entry.event.type for entry in page.entries] == ["claimed", "released"]
    assert len(page.unreadable) == 1


@pytest.mark.parametrize("broken", [{"owner": {"N": "1"}}, {"rev": {"N": "1.5"}}, {"detail": {"S": "[]"}}])
def test_an_edited_row_does_not_stop_the_feed(rig: Rig, aws: Aws, broken: dict[str, Any]) -> None:
    job = Job()
    rig.handle(Shard().add(job.claim(), job.release()))
    _edit(aws, rig, rig.history()[0].seq, **broken)
    past_the_lag(rig)
    page = feed(rig)
    assert [entry.event.type for entry in page.entries] == ["released"]
    assert len(page.unreadable) == 1
    assert feed(rig, page.position).entries == []


def _edit(aws: Aws, rig: Rig, seq: str, **values: dict[str, Any]) -> None:
    table, key = rig.settings.events_table, {"key": {"S": "default/job"}, "seq": {"S": seq}}
    row = aws.unwatched.get_item(TableName=table, Key=key)["Item"]
    aws.unwatched.put_item(TableName=table, Item={**row, **values})
