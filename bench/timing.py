"""CPU time of things that are compared with each other, measured turn by turn: a busy moment then hits them all."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

CALLS_IN_A_ROUND = 50
ROUNDS = 80

Round = Callable[[int], Any]


@dataclass(frozen=True, slots=True)
class Timed:
    """Microseconds of CPU for one call, round by round."""

    rounds_us: list[float] = field(default_factory=list)

    @property
    def us(self) -> float:
        return median(self.rounds_us)

    def over(self, other: "Timed") -> float:
        """The median of the rounds' own ratios, because what is compared ran at nearly the same moment."""
        return median(mine / theirs for mine, theirs in zip(self.rounds_us, other.rounds_us, strict=True))


def interleaved(subjects: Mapping[str, Round]) -> dict[str, Timed]:
    timed = {name: Timed() for name in subjects}
    for run in subjects.values():
        run(CALLS_IN_A_ROUND)  # what is made on first use is not what is measured
    for _ in range(ROUNDS):
        for name, run in subjects.items():
            timed[name].rounds_us.append(_us_of_a_call(run))
    return timed


def _us_of_a_call(run: Round) -> float:
    started = time.process_time_ns()
    run(CALLS_IN_A_ROUND)
    return (time.process_time_ns() - started) / 1000 / CALLS_IN_A_ROUND


def repeated(call: Callable[[], Any]) -> Round:
    def run(times: int) -> None:
        for _ in range(times):
            call()

    return run
