"""Recovery: finds leases that are over though nobody has said so, marks them, and so puts their end into the log.

It works in pages, shard by shard, within a time budget that the shards share evenly; where the budget ends, a mark
says where the next run goes on, so that a mass death at the front of the alphabet does not starve its end. What goes
wrong with one name or one shard is told, and keeps no other from being looked at.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from chalicelib import names
from chalicelib.clock import Clock
from chalicelib.errors import RateLimited, UpstreamUnavailable
from chalicelib.held import HeldLeases
from chalicelib.leases import Leases
from chalicelib.outcomes import Held
from chalicelib.recovery_marks import Marks
from chalicelib.row import HELD, Lease

ROWS_OF_A_PAGE = 100
WRITES_AT_ONCE = 8
# A schedule's event is stamped with its time, and a clock that is 29 s past its stamp is not trusted any more.
RUN_BUDGET_MS = 20_000

NewClock = Callable[[], Clock]
End = Literal["over", "not over", "trouble", "no time"]


@dataclass(frozen=True, slots=True)
class Place:
    """A shard, and the last key in it that was looked at."""

    shard: str
    after: str


@dataclass(slots=True)
class Swept:
    recovered: list[Lease] = field(default_factory=list)
    # What could not be looked at, each with its reason, for operators.
    troubles: list[str] = field(default_factory=list)
    examined: int = 0
    # Where the budget ended; None if everything was looked at.
    stopped: Place | None = None


class Recovery:
    def __init__(self, marks: Marks, leases: Leases, held: HeldLeases) -> None:
        self._marks = marks
        self._leases = leases
        self._held = held

    def sweep_all(self, new_clock: NewClock, *, budget_ms: int = RUN_BUDGET_MS) -> Swept:
        """Every namespace. Each shard has its share of the time that is left."""
        swept, started_ms = Swept(), new_clock().now().ms
        for number, shard in enumerate(self._held.shards):
            deadline_ms = started_ms + budget_ms * (number + 1) // len(self._held.shards)
            run = Pass(self._leases, self._held, swept, partial(_before, deadline_ms), new_clock)
            try:
                self._from_its_mark(shard, run)
            except (UpstreamUnavailable, RateLimited) as error:
                swept.troubles.append(f"shard {shard}: {error.logged or error.message}")
        return swept

    def _from_its_mark(self, shard: str, run: "Pass") -> None:
        seen = self._marks.read(shard, run.new_clock())
        stopped = run.over(shard, names.just_after(seen) if seen else names.LOWEST_KEY, names.HIGHEST_KEY)
        if stopped is None and seen:
            stopped = run.over(shard, names.LOWEST_KEY, seen)
        self._marks.move(shard, seen, stopped or "", run.new_clock())

    def sweep_range(self, low: str, high: str, start: Place | None, clock: Clock) -> Swept:
        """The keys from `low` to `high`, within the budget of one request."""
        run = Pass(self._leases, self._held, Swept(), Clock.allows_another_attempt, lambda: clock)
        shards = list(self._held.shards)
        for shard in shards[shards.index(start.shard) :] if start else shards:
            begin = max(low, names.just_after(start.after)) if start and shard == start.shard else low
            if run.over(shard, begin, high) is not None:
                break
        return run.swept


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over some keys, page by page, for as long as there is time."""

    leases: Leases
    held: HeldLeases
    swept: Swept
    in_time: Callable[[Clock], bool]
    new_clock: NewClock

    def over(self, shard: str, low: str, high: str) -> str | None:
        """The last key that was looked at if time ran out before the end, else None."""
        with ThreadPoolExecutor(WRITES_AT_ONCE) as pool:
            while low <= high:
                clock = self.new_clock()
                page = self.held.keys_in_shard(shard, low, high, ROWS_OF_A_PAGE, clock)
                seen = self._look_at(page, pool, clock)
                if len(seen) == len(page) < ROWS_OF_A_PAGE:
                    return None
                if len(seen) < len(page) or not self.in_time(clock):
                    self.swept.stopped = Place(shard, seen[-1])
                    return seen[-1]
                low = names.just_after(page[-1])
        return None

    def _look_at(self, keys: Sequence[str], pool: ThreadPoolExecutor, clock: Clock) -> Sequence[str]:
        """As many of the keys, from the first on, as there was time for."""
        rows = self.held.rows(keys, clock)
        rows.readable = [row for row in rows.readable if row.state == HELD]  # the index lags
        standings = self.held.standings(rows, clock)
        self.swept.troubles += [f"unreadable: {key}" for key in rows.unreadable]
        suspects = [row for row, standing in standings if not isinstance(standing, Held)]
        ends = list(zip(suspects, pool.map(partial(self._ended, clock), suspects), strict=True))
        self.swept.recovered += [row for row, end in ends if end == "over"]
        missed = min((row.key for row, end in ends if end == "no time"), default=None)
        seen = [key for key in keys if missed is None or key < missed]
        self.swept.examined += len(seen)
        if keys and not seen:
            raise _out_of_time()
        return seen

    def _ended(self, clock: Clock, row: Lease) -> End:
        try:
            return "over" if self.leases.expire_if_over(row, clock) else "not over"
        except (UpstreamUnavailable, RateLimited) as error:
            if not clock.allows_another_attempt():
                return "no time"
            self.swept.troubles.append(f"{row.key}: {error.logged or error.message}")
            return "trouble"


def _out_of_time() -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "The store is so slow at the moment that nothing could be looked at. Try again.",
        logged="a recovery ran out of time at its first lease",
        retry_after_ms=1000,
    )


def _before(deadline_ms: int, clock: Clock) -> bool:
    return clock.now().ms < deadline_ms
