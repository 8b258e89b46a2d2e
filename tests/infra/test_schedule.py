from typing import Any

from infra import schedule


def run(task: Any, times: int) -> tuple[list[float], list[Any]]:
    waits, lines = list[float](), list[Any]()

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return len(waits) > times

    schedule.keep_schedule(task, wait=wait, emit=lines.append, clock=lambda: 1_795_000_000.999)
    return waits, lines


def test_the_task_is_called_each_minute_with_a_time_that_is_never_ahead() -> None:
    events = list[Any]()
    waits, lines = run(lambda event, _context: events.append(event), times=3)
    assert waits == [60] * 4
    assert lines == []
    assert [event["time"] for event in events] == ["2026-11-18T11:06:40Z"] * 3
    assert len({event["id"] for event in events}) == 3
    assert {event["source"] for event in events} == {"aws.events"}


def test_a_task_that_breaks_is_seen_and_called_again() -> None:
    def broken(_event: Any, _context: Any) -> None:
        raise ZeroDivisionError

    waits, lines = run(broken, times=2)
    assert len(waits) == 3
    assert [line["code"] for line in lines] == ["schedule_failed"] * 2
    assert "ZeroDivisionError" in lines[0]["what"]
