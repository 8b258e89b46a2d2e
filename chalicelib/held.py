"""What is held now: read from the index that has nothing else, and judged by the rows themselves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from chalicelib import names, outcomes, row
from chalicelib.clock import Clock
from chalicelib.outcomes import Held, Standing
from chalicelib.row import Lease, RawRow, UnreadableRow
from chalicelib.sessions import Sessions
from chalicelib.store import Store

# A page is filled up past rows that have ended but were not swept yet, or are not asked for, within reason.
ROUNDS_FOR_A_PAGE = 4

Wanted = Callable[[Lease], bool]


@dataclass(frozen=True, slots=True)
class Page:
    held: Sequence[Held]
    unreadable: Sequence[str]
    next_cursor: str | None


@dataclass(slots=True)
class Rows:
    """Some rows, and the keys of those that cannot be read."""

    readable: list[Lease] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


class HeldLeases:
    def __init__(self, store: Store, sessions: Sessions, *, shards: int) -> None:
        self._store = store
        self._sessions = sessions
        self.shards = tuple(str(shard) for shard in range(shards))

    def shard_of(self, key: str) -> str:
        return names.shard_of(key, len(self.shards))

    def page(self, low: str, high: str, limit: int, wanted: Wanted, clock: Clock) -> Page:
        """The held leases with keys from `low` to `high`, in order. Costs what is held, never what is history."""
        if low > high:  # a cursor past the prefix: DynamoDB refuses such a range
            return Page([], [], None)
        held: list[Held] = []
        unreadable: list[str] = []
        for _ in range(ROUNDS_FOR_A_PAGE):
            keys, more = self._keys(low, high, limit - len(held), clock)
            rows = self.rows(keys, clock)
            rows.readable = [one for one in rows.readable if wanted(one)]
            held += [seen for _, seen in self.standings(rows, clock) if isinstance(seen, Held)]
            unreadable += rows.unreadable
            if not more or len(held) == limit:
                break
            low = names.just_after(keys[-1])
        return Page(held, unreadable, names.cursor_after(keys[-1]) if more else None)

    def keys_in_shard(self, shard: str, low: str, high: str, limit: int, clock: Clock) -> Sequence[str]:
        found = self._store.query(clock, **_held_between(shard, low, high, limit))
        return [item["key"]["S"] for item in found]

    def _keys(self, low: str, high: str, limit: int, clock: Clock) -> tuple[Sequence[str], bool]:
        """One query a shard, merged by key. One key more than asked for tells whether there is another page."""
        found = {key for shard in self.shards for key in self.keys_in_shard(shard, low, high, limit + 1, clock)}
        keys = sorted(found)
        return keys[:limit], len(keys) > limit

    def rows(self, keys: Sequence[str], clock: Clock) -> Rows:
        """The rows themselves, in the order of their keys: the index may lag, and says nothing of their ends."""
        rows = Rows()
        for raw in sorted(self._store.get_many([{"key": {"S": key}} for key in keys], clock), key=_key_of):
            try:
                rows.readable.append(row.read(raw))
            except UnreadableRow:
                rows.unreadable.append(_key_of(raw))
        return rows

    def standings(self, rows: Rows, clock: Clock) -> Sequence[tuple[Lease, Standing]]:
        """How each stands. One batch read for all the sessions that tell how long their leases live; a lease whose
        session cannot be read cannot be read either."""
        now = clock.now()
        by_row = [(one, outcomes.standing(one, now)) for one in rows.readable]
        asked = {str(one.session_id) for one, seen in by_row if outcomes.needs_its_session(one, seen)}
        told = self._sessions.looked_up_all(asked, clock) if asked else {}
        rows.unreadable += [
            one.key for one, seen in by_row if outcomes.needs_its_session(one, seen) and str(one.session_id) not in told
        ]
        return [
            (one, outcomes.standing_by(one, told[str(one.session_id)], now) if str(one.session_id) in told else seen)
            for one, seen in by_row
            if one.key not in rows.unreadable
        ]


def _key_of(raw: RawRow) -> str:
    return str(raw["key"]["S"])


def _held_between(shard: str, low: str, high: str, limit: int) -> dict[str, Any]:
    return {
        "IndexName": "held",
        "KeyConditionExpression": "held_in = :shard AND #key BETWEEN :low AND :high",
        "ExpressionAttributeNames": {"#key": "key"},
        "ExpressionAttributeValues": {":shard": {"S": shard}, ":low": {"S": low}, ":high": {"S": high}},
        "Limit": limit,
    }
