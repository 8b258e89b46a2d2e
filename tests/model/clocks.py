"""True time, which nobody can read, and the clocks that requests are answered by."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from chalicelib.clock import Clock

START_US = 1_795_000_000_000_000
MARGIN_MS = 500
# Two clocks differ by up to the margin, less the millisecond that a reading loses when it is cut to whole ones.
SKEW_US = (MARGIN_MS - 1) * 1000 // 2
FURTHEST_AHEAD_MS = 28_000
DAY_MS = 24 * 3600 * 1000


class TrueTime:
    def __init__(self) -> None:
        self.us = START_US

    def __call__(self) -> int:
        return self.us

    @property
    def ms(self) -> int:
        return self.us // 1000


@dataclass(frozen=True, slots=True)
class Machine:
    """A Lambda. One whose clock is far ahead stands behind a gateway that stamps each request."""

    skew_us: int
    is_stamped: bool

    @property
    def is_far_ahead(self) -> bool:
        return self.skew_us > SKEW_US

    def __str__(self) -> str:
        return f"{self.skew_us / 1000:+.0f} ms{', stamped' if self.is_stamped else ''}"


class Machines:
    """Those that answer in one history. Their clocks are as far apart as the margin allows, and a few far ahead."""

    def __init__(self, rng: Random, *, far_ahead: float) -> None:
        self._rng = rng
        self._gateway_skew_us = _skew_us(rng)
        self._is_stamped, self._far_ahead = rng.random() < 0.6, far_ahead
        self._machines = [self._machine() for _ in range(4)]
        # How often a clock was set, back or forth.
        self.steps = 0

    def _machine(self) -> Machine:
        if self._rng.random() < self._far_ahead:
            return Machine(self._rng.randint(SKEW_US, FURTHEST_AHEAD_MS * 1000), is_stamped=True)
        return Machine(_skew_us(self._rng), self._is_stamped)

    @property
    def differ(self) -> bool:
        return len({machine.skew_us for machine in self._machines}) > 1

    def any(self) -> Machine:
        """One whose clock may just have been set."""
        number = self._rng.randrange(len(self._machines))
        if self._rng.random() < 0.02:
            self.steps += 1
            self._machines[number] = self._machine()
        return self._machines[number]

    def new_clock(self, machine: Machine, true: TrueTime) -> Callable[[], Clock]:
        """As a request comes in: the stamp is the gateway's time at this moment, however long the answer takes."""
        stamp_ms = (true.us + self._gateway_skew_us) // 1000 if machine.is_stamped else None
        return lambda: Clock(lambda: true.us + machine.skew_us, stamp_ms=stamp_ms, margin_ms=MARGIN_MS)


def _skew_us(rng: Random) -> int:
    return rng.choice((-SKEW_US, SKEW_US, 0, rng.randint(-SKEW_US, SKEW_US)))
