"""The engine: applies a verb, and says what came of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from chalicelib import names, outcomes, row, verbs
from chalicelib.clock import Clock, Now
from chalicelib.errors import UpstreamUnavailable
from chalicelib.forms import Write
from chalicelib.outcomes import Acquired, Delayed, FenceAhead, Free, Held, Released, Renewed
from chalicelib.row import Lease, RawRow, UnreadableRow
from chalicelib.store import Applied, Store

# How often a row may change between our sight of its fence and our next write before we give up.
FENCE_CHASES = 3
# A page is filled up past rows that have ended but were not swept yet, within reason.
ROUNDS_FOR_A_PAGE = 4

Ask = TypeVar("Ask", verbs.Acquire, verbs.Renew, verbs.Release)
Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Page:
    held: Sequence[Held]
    unreadable: Sequence[str]
    next_cursor: str | None


class Leases:
    def __init__(self, store: Store, *, shards: int) -> None:
        self._store = store
        self._shards = tuple(str(shard) for shard in range(shards))

    def acquire(self, ask: verbs.Acquire, clock: Clock) -> Acquired | Held | Delayed:
        return self._settle(ask, verbs.acquire, _acquired, outcomes.of_refused_acquire, clock)

    def renew(self, ask: verbs.Renew, clock: Clock) -> Renewed:
        return self._settle(ask, verbs.renew, _renewed, outcomes.of_refused_renew, clock)

    def release(self, ask: verbs.Release, clock: Clock) -> Released:
        return self._settle(ask, verbs.release, _released, outcomes.of_refused_release, clock)

    def inspect(self, key: str, clock: Clock) -> Held | Free:
        now = clock.now()
        raw = self._store.get({"key": {"S": key}}, clock)
        return outcomes.seen(key, _readable(raw) if raw else None, now)

    def _settle(
        self,
        ask: Ask,
        verb: Callable[..., Write],
        of_applied: Callable[[Ask, Applied], Outcome],
        of_refused: Callable[[Ask, Lease | None, Now], Outcome],
        clock: Clock,
    ) -> Outcome:
        """One write; another only where the row's fence turns out to lie ahead of this clock."""
        fence_seen = 0
        for _ in range(FENCE_CHASES):
            result = self._store.apply(partial(verb, ask, fence_seen=fence_seen), clock)
            if isinstance(result, Applied):
                return of_applied(ask, result)
            try:
                return of_refused(ask, _readable(result.row) if result.row else None, result.now)
            except FenceAhead as ahead:
                fence_seen = ahead.fence
        raise _changing(ask.key)

    def list(self, low: str, high: str, limit: int, clock: Clock) -> Page:
        """The held leases with keys from `low` to `high`, in order. Costs what is held, never what is history."""
        if low > high:  # a cursor past the prefix: DynamoDB refuses such a range
            return Page([], [], None)
        held: list[Held] = []
        unreadable: list[str] = []
        for _ in range(ROUNDS_FOR_A_PAGE):
            keys, more = self._held_keys(low, high, limit - len(held), clock)
            found, broken = self._still_held(keys, clock)
            held += found
            unreadable += broken
            if not more or len(held) == limit:
                break
            low = names.just_after(keys[-1])
        return Page(held, unreadable, names.cursor_after(keys[-1]) if more else None)

    def _held_keys(self, low: str, high: str, limit: int, clock: Clock) -> tuple[Sequence[str], bool]:
        """One query a shard, merged by key. One key more than asked for tells whether there is another page."""
        keys = sorted(
            item["key"]["S"]
            for shard in self._shards
            for item in self._store.query(clock, **_held_between(shard, low, high, limit + 1))
        )
        return keys[:limit], len(keys) > limit

    def _still_held(self, keys: Sequence[str], clock: Clock) -> tuple[Sequence[Held], Sequence[str]]:
        """The index may lag and says nothing of expiry, so the rows themselves are read, and judged by their end."""
        now = clock.now()
        held: list[Held] = []
        unreadable: list[str] = []
        for raw in self._store.get_many([{"key": {"S": key}} for key in keys], clock):
            try:
                standing = outcomes.standing(row.read(raw), now)
            except UnreadableRow:
                unreadable.append(raw["key"]["S"])
                continue
            if isinstance(standing, Held):
                held.append(standing)
        return sorted(held, key=lambda one: one.row.key), unreadable


def _held_between(shard: str, low: str, high: str, limit: int) -> dict[str, Any]:
    return {
        "IndexName": "held",
        "KeyConditionExpression": "held_in = :shard AND #key BETWEEN :low AND :high",
        "ExpressionAttributeNames": {"#key": "key"},
        "ExpressionAttributeValues": {":shard": {"S": shard}, ":low": {"S": low}, ":high": {"S": high}},
        "Limit": limit,
    }


def _acquired(ask: verbs.Acquire, applied: Applied) -> Acquired | Held | Delayed:
    values = applied.write.values
    return Acquired(
        str(values["lease_id"]), int(values["fence"]), int(values["expires_at_ms"]), applied.now.ms, ask.metadata_json
    )


def _renewed(ask: verbs.Renew, applied: Applied) -> Renewed:
    expires_at_ms = int(applied.write.values["expires_at_ms"])
    late = applied.old is not None and int(applied.old["expires_at_ms"]["N"]) <= applied.now.ms
    return Renewed(ask.lease_id, expires_at_ms, applied.now.ms, late)


def _released(_ask: verbs.Release, _applied: Applied) -> Released:
    return Released()


def _readable(raw: RawRow) -> Lease:
    try:
        return row.read(raw)
    except UnreadableRow as error:
        raise UpstreamUnavailable(
            "What is stored under this name cannot be read, so it is granted to nobody. An operator must mend the row.",
            logged=f"unreadable row: {error}",
        ) from error


def _changing(key: str) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "This name changed hands several times while the request was under way. Try again.",
        logged=f"{key} changed {FENCE_CHASES} times under one request",
        retry_after_ms=1000,
    )
