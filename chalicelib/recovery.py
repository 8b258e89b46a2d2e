"""Recovery: finds leases that are over though nobody has said so, marks them, and so puts their end into the log.

It works in pages, shard by shard, within a time budget that the shards share evenly; where the budget ends, a mark
says where the next run goes on, so that a mass death at the front of the alphabet does not starve its end.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from pynamodb.attributes import UnicodeAttribute
from pynamodb.models import Model

from chalicelib import names
from chalicelib.clock import Clock
from chalicelib.forms import Write, compile_form, text
from chalicelib.held import HeldLeases
from chalicelib.leases import Leases
from chalicelib.outcomes import Held
from chalicelib.row import HELD, Lease
from chalicelib.store import Store

ROWS_OF_A_PAGE = 100
WRITES_AT_ONCE = 8
# A schedule's event is stamped with its time, and a clock that is 29 s past its stamp is not trusted any more.
BUDGET_MS = 20_000
# Below and above every key of every namespace.
_LOWEST, _HIGHEST = "!", "~"

NewClock = Callable[[], Clock]


class Mark(Model):
    """Where the sweep of a shard goes on. It lives beside the leases, under a key that no name can have."""

    class Meta:
        table_name = "leases"  # a placeholder: the store puts the stage's own name into each call
        region = "us-east-1"

    key = UnicodeAttribute(hash_key=True)
    after = UnicodeAttribute()


MOVE = compile_form(
    Mark,
    condition=Mark.key.does_not_exist() | (Mark.after == text("seen")),
    actions=(Mark.after.set(text("after")),),
)


@dataclass(frozen=True, slots=True)
class Place:
    """A shard, and the last key in it that was looked at."""

    shard: str
    after: str


@dataclass(slots=True)
class Swept:
    recovered: list[Lease] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    examined: int = 0
    # Where the budget ended; None if everything was looked at.
    stopped: Place | None = None


class Recovery:
    def __init__(self, store: Store, leases: Leases, held: HeldLeases) -> None:
        self._store = store
        self._leases = leases
        self._held = held

    def sweep_all(self, new_clock: NewClock, *, budget_ms: int = BUDGET_MS) -> Swept:
        """Every namespace. Each shard has its share of the time that is left."""
        swept, started_ms = Swept(), new_clock().now().ms
        for number, shard in enumerate(self._held.shards):
            share_ms = budget_ms * (number + 1) // len(self._held.shards)
            self._sweep_shard_from_its_mark(shard, swept, partial(_until, started_ms + share_ms), new_clock)
        return swept

    def _sweep_shard_from_its_mark(
        self, shard: str, swept: Swept, in_time: Callable[[Clock], bool], new_clock: NewClock
    ) -> None:
        seen = self._mark(shard, new_clock())
        start = names.just_after(seen) if seen else _LOWEST
        stopped = self._sweep(shard, (start, _HIGHEST), swept, in_time, new_clock)
        if stopped is None and seen:
            stopped = self._sweep(shard, (_LOWEST, seen), swept, in_time, new_clock)
        self._move_mark(shard, seen, stopped or "", new_clock())
        if stopped is not None:
            swept.stopped = Place(shard, stopped)

    def sweep_range(self, low: str, high: str, start: Place | None, clock: Clock) -> Swept:
        """The keys from `low` to `high`, within the budget of one request."""
        swept, shards = Swept(), list(self._held.shards)
        for shard in shards[shards.index(start.shard) :] if start else shards:
            begin = max(low, names.just_after(start.after)) if start and shard == start.shard else low
            stopped = self._sweep(shard, (begin, high), swept, Clock.allows_another_attempt, lambda: clock)
            if stopped is not None:
                swept.stopped = Place(shard, stopped)
                break
        return swept

    def _sweep(
        self,
        shard: str,
        keys: tuple[str, str],
        swept: Swept,
        in_time: Callable[[Clock], bool],
        new_clock: NewClock,
    ) -> str | None:
        """The last key that was looked at if time ran out before the end, else None."""
        low, high = keys
        with ThreadPoolExecutor(WRITES_AT_ONCE) as pool:
            while low <= high:
                clock = new_clock()
                page = self._held.keys_in_shard(shard, low, high, ROWS_OF_A_PAGE, clock)
                swept.recovered += self._recovered(page, swept, pool, clock)
                if len(page) < ROWS_OF_A_PAGE:
                    return None
                if not in_time(clock):
                    return page[-1]
                low = names.just_after(page[-1])
        return None

    def _recovered(self, keys: Sequence[str], swept: Swept, pool: ThreadPoolExecutor, clock: Clock) -> Iterator[Lease]:
        rows = self._held.rows(keys, clock)
        swept.examined += len(keys)
        swept.unreadable += rows.unreadable
        held = [row for row in rows.readable if row.state == HELD]  # the index lags
        standings = self._held.standings(held, clock)
        suspects = [row for row, standing in zip(held, standings, strict=True) if not isinstance(standing, Held)]
        ended = pool.map(lambda row: self._leases.expire_if_over(row, clock), suspects)
        return (row for row, is_over in zip(suspects, ended, strict=True) if is_over)

    def _mark(self, shard: str, clock: Clock) -> str:
        raw = self._store.get({"key": {"S": _mark_key(shard)}}, clock)
        return str(raw["after"]["S"]) if raw else ""

    def _move_mark(self, shard: str, seen: str, after: str, clock: Clock) -> None:
        """Of two sweeps at once, one moves the mark; the other's page is only looked at twice."""
        if seen != after:
            write = Write(MOVE, _mark_key(shard), {"seen": seen, "after": after})
            self._store.apply(lambda _now: write, clock)


def _until(deadline_ms: int, clock: Clock) -> bool:
    return clock.now().ms < deadline_ms


def _mark_key(shard: str) -> str:
    return f"#recovery/{shard}"
