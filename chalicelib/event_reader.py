"""The log as readers see it: the history of one name, and the feed of a namespace."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from pynamodb.exceptions import AttributeDeserializationError

from chalicelib import names, positions
from chalicelib.clock import Clock
from chalicelib.event_log import LoggedEvent, feed_of
from chalicelib.events import Event
from chalicelib.row import RawRow
from chalicelib.store import Rows, Store

_required = tuple(name for name, attribute in LoggedEvent.get_attributes().items() if not attribute.null)
_object = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Entry:
    event: Event
    seq: str


@dataclass(frozen=True, slots=True)
class Page:
    """`position` is where the next page starts, whether there is `more` now or not."""

    entries: Sequence[Entry]
    unreadable: Sequence[str]
    position: str
    more: bool


class EventReader:
    def __init__(self, store: Store, *, feed_shards: int, feed_lag_ms: int) -> None:
        self._store = store
        self._shards = tuple(str(shard) for shard in range(feed_shards))
        self._lag_ms = feed_lag_ms

    def history(self, key: str, *, after: str, limit: int, clock: Clock) -> Page:
        """The changes of one name in their order, as of this moment. One more than asked for tells of another page."""
        found = self._store.query_page(
            clock,
            KeyConditionExpression="#key = :key AND #seq > :after",
            ExpressionAttributeNames={"#key": "key", "#seq": "seq"},
            ExpressionAttributeValues={":key": {"S": key}, ":after": {"S": after}},
            ConsistentRead=True,
            Limit=limit + 1,
        )
        return _page(found.rows[:limit], "seq", after, more=len(found.rows) > limit or found.cut)

    def feed(self, namespace: str, *, after: str, limit: int, clock: Clock) -> Page:
        """All changes of a namespace in the order of their logging, from every shard.

        Only what was logged some time ago is shown, because a later arrival may have an earlier place:

            handler A   reads its clock: 100                                         its write lands
            handler B                          reads its clock: 101, writes
            reader                                               sees 101, goes on behind it, never sees 100

        With the lag, 100 has landed or was given up before 101 is shown: a write is given up after 3 s, and its
        repeat reads the clock anew. The rest of the lag is for the clocks of two Lambdas, and for the index, which
        follows its table. Not promised: a clock or an index that is further behind. A history needs no lag.
        """
        low, high = names.just_after(after), positions.at_time(clock.now().judged_ms - self._lag_ms)
        if low > high:  # DynamoDB refuses such a range
            return Page([], [], after, more=False)
        found = [
            self._store.query_page(clock, **_logged_between(feed_of(namespace, shard), low, high, limit + 1))
            for shard in self._shards
        ]
        rows = _merged(found, high)
        more = len(rows) > limit or any(shard.cut for shard in found)
        return _page(rows[:limit], "logged", after, more=more)


def _logged_between(feed: str, low: str, high: str, limit: int) -> dict[str, Any]:
    return {
        "IndexName": "feed",
        "KeyConditionExpression": "#feed = :feed AND #logged BETWEEN :low AND :high",
        "ExpressionAttributeNames": {"#feed": "feed", "#logged": "logged"},
        "ExpressionAttributeValues": {":feed": {"S": feed}, ":low": {"S": low}, ":high": {"S": high}},
        "Limit": limit,
    }


def _merged(found: Sequence[Rows], high: str) -> Sequence[RawRow]:
    """A shard that was cut is known up to its last row: what others have behind that waits for the next page."""
    known_to = min((_text(shard.rows[-1], "logged") for shard in found if shard.cut), default=high)
    rows = [row for shard in found for row in shard.rows if _text(row, "logged") <= known_to]
    return sorted(rows, key=lambda row: _text(row, "logged"))


def _page(rows: Sequence[RawRow], by: str, after: str, *, more: bool) -> Page:
    entries: list[Entry] = []
    unreadable: list[str] = []
    for row in rows:
        try:
            entries.append(_entry(row))
        except (AttributeDeserializationError, msgspec.DecodeError, ValueError, TypeError, RecursionError):
            unreadable.append(f"{_text(row, 'key')} at {_text(row, 'seq')}")
    return Page(entries, unreadable, _text(rows[-1], by) if rows else after, more)


def _text(row: RawRow, name: str) -> str:
    return str(row[name]["S"])


def _entry(raw: RawRow) -> Entry:
    row = LoggedEvent.from_raw_data(dict(raw))
    if any(getattr(row, name) is None for name in _required):
        raise ValueError(f"incomplete: {row.key} {row.seq}")
    _object.decode(row.detail)  # it goes to readers as it stands, so it must be JSON
    event = Event(
        key=row.key,
        type=row.type,
        at_ms=row.at_ms,
        owner=row.owner,
        principal=row.principal,
        fence=row.fence,
        rev=row.rev,
        attempt=row.attempt,
        detail_json=row.detail,
    )
    return Entry(event, row.seq)
