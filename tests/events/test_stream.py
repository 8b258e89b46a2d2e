"""The faults of a stream: lost, late and repeated batches, poison, and a log or a bus that cannot be used."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from chalicelib.bus import Bus
from chalicelib.stream import LONGEST_RUN_MS
from tests.events.jobs import Change, Job
from tests.events.rig import Rig
from tests.events.shard import Record, Shard, number_of, reported
from tests.transport import Transport

NOTHING_FAILED: dict[str, list[Any]] = {"batchItemFailures": []}


def a_short_life(shard: Shard, name: str = "job") -> list[Record]:
    job = Job(name)
    return shard.add(job.claim(), job.heartbeat(), job.cancel(), job.fail(), job.claim(), job.release())


LIFE = ["claimed", "cancel_requested", "failed", "claimed", "released"]


def poisoned(record: Record) -> Record:
    broken = {**record["dynamodb"]["NewImage"], "rev": {"S": "edited by hand"}}
    return {**record, "dynamodb": {**record["dynamodb"], "NewImage": broken}}


def test_each_change_is_in_the_log_and_on_the_bus_in_order(rig: Rig) -> None:
    assert rig.handle(a_short_life(Shard())) == NOTHING_FAILED
    assert rig.types() == LIFE
    assert [entry["DetailType"] for entry in rig.bus.entries] == LIFE
    assert rig.lines == []


def test_a_batch_delivered_twice_gives_one_event_each(rig: Rig) -> None:
    records = a_short_life(Shard())
    for _ in range(2):
        assert rig.handle(records) == NOTHING_FAILED
    assert rig.types() == LIFE
    assert rig.lines == []


def test_the_bus_gets_a_repeated_batch_again_under_the_same_ids(rig: Rig) -> None:
    records = a_short_life(Shard())
    rig.handle(records)
    rig.handle(records)
    assert len(rig.bus.ids) == 2 * len(LIFE)
    assert rig.bus.ids[: len(LIFE)] == rig.bus.ids[len(LIFE) :]
    assert len(set(rig.bus.ids)) == len(LIFE)


def test_a_failure_at_one_record_brings_back_it_and_the_later_ones(rig: Rig, transport: Transport) -> None:
    shard = Shard()
    records = a_short_life(shard)
    for _ in range(2):
        transport.before_next(lambda: None)
    transport.lose_request(times=2)  # the third change: both attempts of it
    answer = rig.handle(records)
    assert reported(answer) == [number_of(records[3])]
    assert rig.types() == LIFE[:2]
    assert rig.complaints == ["stream_record_failed"]


def test_what_came_before_the_failure_is_on_the_bus_already_and_is_not_doubled(rig: Rig, transport: Transport) -> None:
    shard = Shard()
    a_short_life(shard)
    for _ in range(2):
        transport.before_next(lambda: None)
    transport.lose_request(times=2)
    while shard.left:
        shard.deliver(rig.handle)
    assert rig.types() == LIFE
    assert [entry["DetailType"] for entry in rig.bus.entries] == LIFE


def test_an_event_whose_reply_was_lost_is_not_written_a_second_time(rig: Rig, transport: Transport) -> None:
    transport.lose_reply()
    assert rig.handle(a_short_life(Shard())) == NOTHING_FAILED
    assert rig.types() == LIFE
    assert rig.lines == []


def test_an_event_whose_replies_were_all_lost_is_found_by_the_next_delivery(rig: Rig, transport: Transport) -> None:
    shard = Shard()
    a_short_life(shard)
    transport.lose_reply(times=2)
    shard.deliver(rig.handle)
    assert shard.left == 6
    shard.deliver(rig.handle)
    assert rig.types() == LIFE


def test_a_throttled_log_brings_the_record_back(rig: Rig, transport: Transport) -> None:
    records = a_short_life(Shard())
    transport.before_next(_throttle)
    assert reported(rig.handle(records)) == [number_of(records[0])]


def _throttle() -> None:
    raise ClientError({"Error": {"Code": "ProvisionedThroughputExceededException"}}, "PutItem")


def test_a_poison_record_goes_to_the_dead_letters_and_the_others_flow_on(rig: Rig) -> None:
    shard = Shard()
    records = [*a_short_life(shard), *a_short_life(shard, "other")]
    records[2] = poisoned(records[2])
    assert rig.handle(records) == NOTHING_FAILED
    assert rig.queue.records == [records[2]]
    assert rig.types() == ["claimed", "failed", "claimed", "released"]
    assert rig.types("other") == LIFE
    assert rig.complaints == ["stream_record_poison"]


def test_a_poison_record_without_a_queue_is_reported(rig: Rig) -> None:
    records = a_short_life(Shard())
    records[2] = poisoned(records[2])
    answer = rig.handler_with(dead_letters=None).handle(records)
    assert reported(answer) == [number_of(records[2])]
    assert rig.types() == ["claimed"]


def test_a_poison_record_that_the_queue_refuses_is_reported(rig: Rig) -> None:
    records = a_short_life(Shard())
    records[2] = poisoned(records[2])
    rig.queue.down = True
    assert reported(rig.handle(records)) == [number_of(records[2])]


@pytest.mark.parametrize("missing", ["NewImage", "OldImage"])
def test_a_stream_without_both_images_is_poison_and_never_silence(rig: Rig, missing: str) -> None:
    (_, record) = Shard().add(*_claimed_and_released())
    record["dynamodb"].pop(missing)
    assert rig.handle([record]) == NOTHING_FAILED
    assert rig.queue.records == [record]


def _claimed_and_released() -> tuple[Change, Change]:
    job = Job()
    return job.claim(), job.release()


@pytest.mark.parametrize("missing", ["eventID", "eventName", "dynamodb"])
def test_a_record_that_is_none_is_poison(rig: Rig, missing: str) -> None:
    (record,) = Shard().add(Job().claim())
    record.pop(missing)
    assert rig.handle([record]) == NOTHING_FAILED
    assert rig.queue.records == [record]


def test_the_bus_refusing_one_entry_brings_that_record_back_and_the_log_is_not_doubled(rig: Rig) -> None:
    shard = Shard()
    records = a_short_life(shard)
    rig.handle(records)
    ids, rig.bus.calls = rig.bus.ids, []
    rig.bus.refusals[ids[2]] = "InternalFailure"
    shard.deliver(rig.handle)
    assert shard.checkpoint == records.index(records[3])
    shard.deliver(rig.handle)
    assert shard.left == 0
    assert set(rig.bus.ids) == set(ids)
    assert rig.types() == LIFE
    assert rig.complaints == ["bus_failed"]


def test_an_entry_that_the_bus_will_never_take_goes_to_the_dead_letters(rig: Rig) -> None:
    records = a_short_life(Shard())
    rig.handle(records)
    ids, rig.bus.calls = rig.bus.ids, []
    rig.bus.refusals[ids[1]] = "MalformedDetail"
    assert rig.handle(records) == NOTHING_FAILED
    assert rig.bus.ids == [*ids[:1], *ids[2:]]
    assert rig.queue.records == [records[2]]


def test_the_bus_being_down_leaves_the_log_complete_and_brings_all_back(rig: Rig) -> None:
    shard = Shard()
    records = a_short_life(shard)
    rig.bus.down = True
    assert reported(rig.handle(records)) == [number_of(records[0])]
    assert rig.types() == LIFE
    rig.bus.down = False
    shard.deliver(rig.handle)
    assert (shard.left, len(rig.bus.ids)) == (0, len(LIFE))


def test_the_lower_of_two_failures_is_reported(rig: Rig, transport: Transport) -> None:
    records = a_short_life(Shard())
    for _ in range(3):
        transport.before_next(lambda: None)
    transport.lose_request(times=2)
    rig.bus.down = True
    assert reported(rig.handle(records)) == [number_of(records[0])]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"Entries": []},
        {"FailedEntryCount": 0, "Entries": [{}]},
        {"FailedEntryCount": 1, "Entries": [{"EventId": "1"}]},
        {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "ThrottlingException"}]},
    ],
)
def test_a_bus_that_does_not_say_yes_to_each_entry_has_failed(rig: Rig, answer: dict[str, Any]) -> None:
    class Strange:
        def put_events(self, **_: Any) -> dict[str, Any]:
            return answer

    records = Shard().add(Job().claim())
    assert reported(rig.handler_with(bus=Bus(Strange(), "b")).handle(records)) == [number_of(records[0])]


def test_the_bus_is_given_at_most_ten_entries_a_call(rig: Rig) -> None:
    shard = Shard()
    for number in range(5):
        a_short_life(shard, f"job-{number}")
    rig.handle(shard.records)
    assert [len(call) for call in rig.bus.calls] == [10, 10, 5]


def test_without_a_bus_nothing_is_sent_and_nothing_fails(rig: Rig) -> None:
    assert rig.handler_with(bus=None).handle(a_short_life(Shard())) == NOTHING_FAILED
    assert (rig.types(), rig.bus.entries) == (LIFE, [])


def test_heartbeats_are_left_out_unless_they_are_to_be_logged(rig: Rig) -> None:
    job = Job()
    records = Shard().add(job.claim(), job.heartbeat(logged=True), job.heartbeat(logged=True))
    rig.handle(records)
    assert rig.types() == ["claimed"]
    rig.handler_with(log_heartbeats=True).handle(records)
    assert rig.types() == ["claimed", "heartbeat", "heartbeat"]


def test_what_ttl_deletes_makes_no_event(rig: Rig) -> None:
    job = Job()
    records = Shard().add(job.claim(), job.release(), job.removed_by_ttl(), job.claim())
    assert rig.handle(records) == NOTHING_FAILED
    assert [(entry.event.type, entry.event.rev) for entry in rig.history()] == [
        ("claimed", 1),
        ("released", 2),
        ("claimed", 1),
    ]


def test_housekeeping_rows_make_no_event(rig: Rig) -> None:
    records = Shard().add(Change(None, {"key": {"S": "#sweep/0"}, "after": {"S": "default/job"}}))
    assert rig.handle(records) == NOTHING_FAILED
    assert (rig.lines, rig.bus.entries) == ([], [])


def test_an_empty_batch_is_no_failure(rig: Rig) -> None:
    assert rig.handle([]) == NOTHING_FAILED


def test_a_consumer_that_was_down_for_hours_catches_up_in_order(rig: Rig) -> None:
    shard, job = Shard(), Job()
    shard.add(job.claim())
    shard.deliver(rig.handle)
    for _ in range(40):
        shard.add(job.fail(), job.claim())
    rig.time.advance(seconds=7 * 3600)
    while shard.left:
        shard.deliver(rig.handle, batch=7)
    assert [entry.event.rev for entry in rig.history()] == list(range(1, 82))
    assert len(set(rig.bus.ids)) == 81


def test_a_batch_that_takes_too_long_keeps_what_is_done_and_brings_back_the_rest(
    rig: Rig, transport: Transport
) -> None:
    shard = Shard()
    records = a_short_life(shard)
    for _ in range(2):
        transport.before_next(lambda: rig.time.advance(ms=LONGEST_RUN_MS // 2 + 1))
    assert reported(rig.handle(records)) == [number_of(records[3])]
    shard.checkpoint = 3
    shard.deliver(rig.handle)
    assert (shard.left, rig.types()) == (0, LIFE)


class Broken(Exception):
    """Anything at all, from anywhere."""


class Failing:
    def __getattr__(self, _name: str) -> Any:
        raise Broken


@pytest.mark.parametrize("part", ["_events", "_bus"])
def test_whatever_fails_in_whatever_way_is_never_taken_for_success(rig: Rig, part: str) -> None:
    handler = rig.handler_with()
    setattr(handler, part, Failing())
    records = a_short_life(Shard())
    assert reported(handler.handle(records)) == [number_of(records[0])]


def test_a_handler_that_cannot_even_begin_fails_as_a_whole(rig: Rig) -> None:
    with pytest.raises(Broken):
        rig.handler_with(clock=lambda: Failing().now).handle(a_short_life(Shard()))
