"""Which "now" a request may trust.

"Now" is the clock of whichever Lambda answers. API Gateway stamps each request with its own clock, so the two
can be compared, and each is used where an error of it does no harm:

    conditions on time   the earlier of the two: a Lambda that runs ahead must not see a live lease as over
    expiries and fences  the Lambda's own

A Lambda further off than an honest request can explain answers `clock_unreliable` and writes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from chalicelib.errors import ClockUnreliable

# API Gateway gives up on a request after 29 s, so a stamp older than that was not waited for by anybody.
GATEWAY_LIMIT_MS = 29_000
# A request may use the store for 8 s of Lambda's 10; one attempt takes 3 at the most (connect 1, read 2).
BUDGET_MS = 8_000
ATTEMPT_MS = 3_000


@dataclass(frozen=True, slots=True)
class Now:
    """One reading. `ms` and `us` date what is written; `judged_ms` judges what others wrote."""

    us: int
    judged_ms: int
    margin_ms: int

    @property
    def ms(self) -> int:
        return self.us // 1000

    @property
    def free_before_ms(self) -> int:
        """A lease that ended at or before this is free for others: its end plus the margin has passed."""
        return self.judged_ms - self.margin_ms


class Clock:
    """The clock of one request. Each `now()` is a fresh reading, checked against the gateway's stamp."""

    __slots__ = ("_margin_ms", "_read_us", "_stamp_ms", "_started_us")

    def __init__(self, read_us: Callable[[], int], *, stamp_ms: int | None, margin_ms: int) -> None:
        self._read_us = read_us
        self._stamp_ms = stamp_ms
        self._margin_ms = margin_ms
        self._started_us = read_us()

    def now(self) -> Now:
        us = self._read_us()
        if self._stamp_ms is None:
            return Now(us, us // 1000, self._margin_ms)
        ahead_ms = us // 1000 - self._stamp_ms
        if not -self._margin_ms <= ahead_ms <= GATEWAY_LIMIT_MS:
            raise ClockUnreliable(ahead_ms)
        return Now(us, min(us // 1000, self._stamp_ms), self._margin_ms)

    def allows_another_attempt(self) -> bool:
        spent_ms = (self._read_us() - self._started_us) // 1000
        return spent_ms + ATTEMPT_MS <= BUDGET_MS
