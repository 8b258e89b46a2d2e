"""The delivery of records by a pump whose time is told, on handlers that fail as told."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

from infra.pump import IDLE_SECONDS, TRIES, Broken, Delivery, StreamPump, is_no_heartbeat, pause_seconds
from infra.stream_reader import Record

Answer = Callable[[list[str]], Any]


def record(number: int, op: str = "claim") -> Record:
    change = {"SequenceNumber": str(number), "Keys": {"key": {"S": "default/job"}}, "NewImage": {"op": {"S": op}}}
    return {"eventID": f"event-{number}", "eventName": "MODIFY", "dynamodb": change}


RECORDS = [record(number) for number in range(1, 6)]


def failing_at(*numbers: str) -> Any:
    return {"batchItemFailures": [{"itemIdentifier": number} for number in numbers]}


class Handler:
    """Remembers what it was called with, and answers as told; then with success."""

    def __init__(self, *answers: Any) -> None:
        self.calls: list[str] = []
        self._answers = list(answers)

    def __call__(self, event: dict[str, Any], context: Any) -> Any:
        assert context.aws_request_id
        self.calls.append("".join(one["dynamodb"]["SequenceNumber"] for one in event["Records"]))
        answer = self._answers.pop(0) if self._answers else failing_at()
        if isinstance(answer, Exception):
            raise answer
        return answer


class Waiting:
    """Time that passes at once, and ends after so many waits."""

    def __init__(self, ends_after: int = 1_000) -> None:
        self.seconds: list[float] = []
        self._ends_after = ends_after

    def __call__(self, seconds: float) -> bool:
        self.seconds.append(seconds)
        return len(self.seconds) > self._ends_after


def deliver(handler: Handler, records: Sequence[Record] = RECORDS) -> tuple[list[float], list[Any]]:
    """The pauses that it made, and what it said."""
    waiting, lines = Waiting(), list[Any]()
    Delivery(handler, wait=waiting, emit=lines.append).deliver(records)
    return waiting.seconds, lines


@pytest.mark.parametrize("success", [failing_at(), {}, None, {"batchItemFailures": None}])
def test_a_batch_that_is_done_comes_once(success: Any) -> None:
    handler = Handler(success)
    assert deliver(handler) == ([], [])
    assert handler.calls == ["12345"]


def test_what_failed_comes_again_with_all_that_is_after_it_and_nothing_before() -> None:
    handler = Handler(failing_at("4", "3"), failing_at("5"))
    pauses, lines = deliver(handler)
    assert handler.calls == ["12345", "345", "5"]
    assert (pauses, lines) == ([0.2, 0.2], [])


@pytest.mark.parametrize("answer", [failing_at("99"), failing_at("99", "4"), failing_at("")])
def test_a_number_that_is_none_of_the_batch_is_the_failure_of_all(answer: Any) -> None:
    handler = Handler(answer)
    deliver(handler)
    assert handler.calls == ["12345", "12", "345"]


@pytest.mark.parametrize(
    "answer", [ZeroDivisionError("a bug"), {"batchItemFailures": [{}]}, {"batchItemFailures": 1}, 1]
)
def test_a_handler_that_breaks_is_seen_and_asked_again(answer: Any) -> None:
    handler = Handler(answer)
    pauses, lines = deliver(handler)
    assert handler.calls == ["12345", "12", "345"]
    assert pauses == [0.2]
    (line,) = lines
    assert (line["level"], line["code"]) == ("ERROR", "delivery_failed")
    assert "Traceback" in line["what"]


def test_pauses_between_tries_of_one_record_grow_up_to_five_seconds() -> None:
    pauses, _ = deliver(Handler(*[failing_at("1")] * 9))
    assert pauses == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0, 5.0])
    assert pause_seconds(100_000) == 5.0


def test_a_record_that_always_fails_is_given_up_after_ten_tries_and_the_rest_flows_on() -> None:
    def handle(event: dict[str, Any], _context: Any) -> Any:
        numbers = [one["dynamodb"]["SequenceNumber"] for one in event["Records"]]
        seen.extend(numbers if "3" not in numbers else [*numbers[: numbers.index("3")], "3"])
        return failing_at("3") if "3" in numbers else failing_at()

    seen, lines = list[str](), list[Any]()
    Delivery(handle, wait=Waiting(), emit=lines.append).deliver(RECORDS)
    assert seen == ["1", "2", *["3"] * TRIES, "4", "5"]
    (line,) = lines
    assert line["code"] == "delivery_given_up"
    assert "record 3" in line["what"]
    assert "default/job" in line["what"]


def test_a_record_that_breaks_the_handler_costs_no_other_record_its_delivery() -> None:
    records = [record(number) for number in range(10, 110)]
    done = list[str]()

    def handle(event: dict[str, Any], _context: Any) -> None:
        numbers = [one["dynamodb"]["SequenceNumber"] for one in event["Records"]]
        if "77" in numbers:
            raise ZeroDivisionError
        done.extend(numbers)

    lines = list[Any]()
    Delivery(handle, wait=Waiting(), emit=lines.append).deliver(records)
    assert done == [str(number) for number in range(10, 110) if number != 77]
    assert [line["code"] for line in lines].count("delivery_given_up") == 1


def test_the_end_is_not_held_up_by_records_that_fail() -> None:
    handler = Handler(*[failing_at("1")] * 9)
    with pytest.raises(Broken):
        Delivery(handler, wait=Waiting(ends_after=2), emit=print).deliver(RECORDS)
    assert handler.calls == ["12345", "12", "1"]


class Reader:
    """A reader that gives these batches, a round each, and raises what is an error among them."""

    def __init__(self, *rounds: Any) -> None:
        self._rounds = list(rounds)
        self.looked_again = 0

    def batches(self) -> Iterable[list[Record]]:
        given = self._rounds.pop(0) if self._rounds else []
        if isinstance(given, Exception):
            raise given
        yield given

    def look_again(self) -> None:
        self.looked_again += 1


def pump(
    reader: Any, handler: Any, *, rounds: int, wanted: Callable[[Record], bool] = is_no_heartbeat
) -> tuple[list[float], list[Mapping[str, Any]]]:
    waiting, lines = Waiting(ends_after=rounds), list[Mapping[str, Any]]()
    StreamPump(reader, handler, wanted=wanted, wait=waiting, emit=lines.append).run()
    return waiting.seconds, lines


def test_a_busy_stream_is_read_on_at_once_and_an_idle_one_five_times_a_second() -> None:
    handler = Handler()
    waits, lines = pump(Reader(RECORDS[:2], RECORDS[2:], []), handler, rounds=4)
    assert handler.calls == ["12", "345"]
    assert waits == [0, 0, 0, IDLE_SECONDS, IDLE_SECONDS]
    assert lines == []


def test_heartbeats_are_left_out_as_the_filter_on_aws_does() -> None:
    records = [record(1, "claim"), record(2, "heartbeat"), record(3, "release")]
    removed = {"eventName": "REMOVE", "dynamodb": {"SequenceNumber": "4", "Keys": {}}}
    filtered, unfiltered = Handler(), Handler()
    pump(Reader([*records, removed], [record(5, "heartbeat")]), filtered, rounds=3)
    pump(Reader([*records, removed]), unfiltered, rounds=3, wanted=lambda _: True)
    assert (filtered.calls, unfiltered.calls) == (["134"], ["1234"])


def test_a_stream_that_cannot_be_read_is_said_once_and_tried_again_after_growing_pauses() -> None:
    outage = ConnectionRefusedError("nobody there")
    reader, handler = Reader(outage, outage, outage, RECORDS, outage), Handler()
    waits, lines = pump(reader, handler, rounds=5)
    assert waits == pytest.approx([0, 0.2, 0.4, 0.8, 0, 0.2])
    assert handler.calls == ["12345"]
    assert [line["code"] for line in lines] == ["stream_failed", "stream_failed"]
    assert reader.looked_again == 4


def test_the_end_that_comes_in_the_middle_of_a_batch_is_no_failure() -> None:
    _, lines = pump(Reader(RECORDS), Handler(*[failing_at("1")] * 9), rounds=2)
    assert lines == []
