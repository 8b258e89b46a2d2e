"""The writing side of the log: append-only, each change once, kept as long as it is set."""

import json
from dataclasses import replace
from typing import Any

import pytest

from chalicelib import positions
from chalicelib.event_log import Appended, AppendedBeside
from chalicelib.events import Event, event_of
from tests.events.conftest import Aws
from tests.events.jobs import Job
from tests.events.rig import NewRig, Rig
from tests.transport import Transport


def an_event(job: Job | None = None) -> Event:
    change = (job or Job()).claim()
    event = event_of(change.old, change.new)
    assert event is not None
    return event


def rows(aws: Aws, rig: Rig) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = aws.unwatched.scan(TableName=rig.settings.events_table)["Items"]
    return found


def test_an_append_is_one_put_and_nothing_else(rig: Rig, transport: Transport) -> None:
    assert rig.log.append(an_event(), "e1", rig.clock()) == Appended(positions.seq(an_event()))
    assert transport.calls == ["PutItem"]


def test_every_put_is_conditional(rig: Rig, transport: Transport) -> None:
    rig.log.append(an_event(), "e1", rig.clock())
    rig.log.append(an_event(), "e2", rig.clock())
    assert transport.calls == ["PutItem"] * 3
    for request in transport.requests:
        assert json.loads(request)["ConditionExpression"] == "attribute_not_exists(#key)"


def test_the_same_record_again_changes_nothing(rig: Rig, aws: Aws) -> None:
    rig.log.append(an_event(), "e1", rig.clock())
    before = rows(aws, rig)
    rig.time.advance(seconds=60)
    assert rig.log.append(an_event(), "e1", rig.clock()) == Appended(positions.seq(an_event()))
    assert rows(aws, rig) == before


def test_a_change_of_a_restored_table_is_kept_beside_the_one_that_has_its_number(rig: Rig) -> None:
    before = an_event()
    after = replace(before, type="expired", at_ms=before.at_ms + 3_600_000, detail_json="{}")
    rig.log.append(before, "e1", rig.clock())
    for _ in range(2):
        appended = rig.log.append(after, "e2", rig.clock())
        assert appended == AppendedBeside(f"{positions.seq(before)}.e2", twin="e1")
    assert [entry.event for entry in rig.history()] == [before, after]


def test_it_stands_between_its_twin_and_what_came_next(rig: Rig) -> None:
    first = an_event()
    for event, event_id in ((first, "e1"), (replace(first, rev=2), "e3"), (first, "e2")):
        rig.log.append(event, event_id, rig.clock())
    assert [entry.seq.split(".")[1:] for entry in rig.history()] == [
        ["0000000001"],
        ["0000000001", "e2"],
        ["0000000002"],
    ]


@pytest.mark.parametrize(("days", "kept_seconds"), [(90, 90 * 86_400), (1, 86_400)])
def test_retention_counts_in_seconds_from_the_logging(new_rig: NewRig, aws: Aws, days: int, kept_seconds: int) -> None:
    rig = new_rig(event_retention_days=days)
    rig.log.append(an_event(), "e1", rig.clock())
    (row,) = rows(aws, rig)
    assert int(row["ttl"]["N"]) == rig.time.ms // 1000 + kept_seconds


def test_without_retention_an_event_is_kept_for_ever(new_rig: NewRig, aws: Aws) -> None:
    rig = new_rig(event_retention_days=0)
    rig.log.append(an_event(), "e1", rig.clock())
    (row,) = rows(aws, rig)
    assert "ttl" not in row


def test_each_attempt_reads_the_clock_anew(rig: Rig, aws: Aws, transport: Transport) -> None:
    transport.lose_request(meanwhile=lambda: rig.time.advance(seconds=2))
    started_ms = rig.time.ms
    rig.log.append(an_event(), "e1", rig.clock())
    (row,) = rows(aws, rig)
    assert row["logged"]["S"].startswith(positions.at_time(started_ms + 2000))


def test_events_are_spread_over_the_shards_of_their_namespace_and_no_other(new_rig: NewRig, aws: Aws) -> None:
    rig = new_rig(feed_shards=3)
    for number in range(30):
        rig.log.append(an_event(Job(f"job-{number}", namespace="team")), f"e{number}", rig.clock())
    assert {row["feed"]["S"] for row in rows(aws, rig)} == {"team/0", "team/1", "team/2"}


def test_the_order_of_the_feed_is_unique_and_names_no_job(rig: Rig, aws: Aws) -> None:
    for number in range(20):
        rig.log.append(an_event(Job(f"unguessable-{number}")), f"e{number}", rig.clock())
    logged = {row["logged"]["S"] for row in rows(aws, rig)}
    assert len(logged) == 20
    assert not any("unguessable" in text for text in logged)


def test_no_row_of_the_log_has_a_secret_in_it(rig: Rig, aws: Aws) -> None:
    rig.log.append(an_event(), "e1", rig.clock())
    assert "secret" not in json.dumps(rows(aws, rig))
