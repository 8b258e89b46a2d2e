"""DynamoDB calls and capacity of one request through the whole handler."""

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bench.figures import Figure, Section, exactly
from bench.stand import Stand

NOTES = (
    "Calls are counted at botocore's before-send. The units of a write are MiniStack's own figures. It tells nothing "
    "of a refusal or a batch read, and half a unit or one of any other read, whatever its size: these are reckoned "
    "from the rows that came back, by DynamoDB's rules (a refusal: each started KB of the row; a read: each started "
    "4 KB of a row, one unit if there is none; a query: half a unit for each started 4 KB of all its rows, at least "
    "half a unit). An index is written whenever a name is taken or freed, and the one of sessions besides. What a "
    "refused transaction costs is told by nobody here.",
)


@dataclass(frozen=True, slots=True)
class Step:
    what: str
    request: Callable[[], Any]
    calls: int
    # What the answer must say of itself: a step that did something else would measure something else.
    status: str | None = None


# Gives a step, gets its answer.
Steps = Generator[Step, Any, None]


def section(title: str, steps: Steps, stand: Stand, notes: tuple[str, ...] = ()) -> Section:
    return Section(title, "calls", tuple(_figures(steps, stand)), notes)


def _figures(steps: Steps, stand: Stand) -> Iterator[Figure]:
    answer = None
    with suppress(StopIteration):
        while True:
            step = steps.send(answer)
            answer, cost = stand.cost(step.request)
            _check(step, answer)
            measured = f"{_told(cost.calls)}: {cost.units()}"
            yield Figure(step.what, measured, len(cost.calls), exactly(step.calls), cost.numbers())


def _check(step: Step, answer: Any) -> None:
    if step.status is not None and answer["status"] != step.status:
        raise RuntimeError(f"{step.what}: answered {answer['status']}, not {step.status}")


def _told(calls: list[str]) -> str:
    counts = {call: calls.count(call) for call in calls}
    return " + ".join(call if count == 1 else f"{count} {call}" for call, count in counts.items())
