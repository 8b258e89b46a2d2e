"""The append-only log: one row for each change of a lease, never changed and never deleted but by TTL.

A row's place is its `fence` and `rev`, so a stream record that is delivered twice is written once, by condition. A
table that was restored gives numbers out again: the second change of a number is stored beside the first.
"""

from dataclasses import dataclass
from functools import partial

from pynamodb.attributes import UnicodeAttribute
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model

from chalicelib import names, positions
from chalicelib.clock import Clock, Now
from chalicelib.events import Event
from chalicelib.row import RawRow, WholeNumberAttribute
from chalicelib.store import Store, Stored

DAY_SECONDS = 24 * 3600


class FeedIndex(GlobalSecondaryIndex["LoggedEvent"]):
    """All changes of a namespace in the order of their logging, spread over several partitions."""

    class Meta:
        index_name = "feed"
        projection = AllProjection()

    feed = UnicodeAttribute(hash_key=True)
    logged = UnicodeAttribute(range_key=True)


class LoggedEvent(Model):
    class Meta:
        table_name = "events"  # a placeholder: the store puts the stage's own name into each call
        region = "us-east-1"

    key = UnicodeAttribute(hash_key=True)
    seq = UnicodeAttribute(range_key=True)
    in_feed = FeedIndex()

    feed = UnicodeAttribute()
    logged = UnicodeAttribute()
    event_id = UnicodeAttribute()  # the stream record's
    type = UnicodeAttribute()
    at_ms = WholeNumberAttribute()
    owner = UnicodeAttribute()
    principal = UnicodeAttribute()
    fence = WholeNumberAttribute()
    rev = WholeNumberAttribute()
    attempt = WholeNumberAttribute()
    detail = UnicodeAttribute()
    ttl = WholeNumberAttribute(null=True)


@dataclass(frozen=True, slots=True)
class Appended:
    """It is in the log, by this try or an earlier one."""

    seq: str


@dataclass(frozen=True, slots=True)
class AppendedBeside:
    """It is in the log, and so is another change with the same number: the table of leases was restored."""

    seq: str
    twin: str


class EventLog:
    """The writing side, whose role may put rows and nothing else. `EventReader` is the other one."""

    def __init__(self, store: Store, *, feed_shards: int, retention_days: int) -> None:
        self._store = store
        self._shards = feed_shards
        self._retention_days = retention_days

    def append(self, event: Event, event_id: str, clock: Clock) -> Appended | AppendedBeside:
        seq = positions.seq(event)
        twin = self._put(event, event_id, seq, clock)
        if twin == event_id:
            return Appended(seq)
        seq = positions.beside(event, event_id)
        self._put(event, event_id, seq, clock)
        return AppendedBeside(seq, twin)

    def _put(self, event: Event, event_id: str, seq: str, clock: Clock) -> str:
        """The id of the change that has this place now."""
        result = self._store.put_new("key", partial(self._row, event, event_id, seq), clock)
        if isinstance(result, Stored):
            return event_id
        # A row of the log that somebody edited by hand is somebody else's: this event goes beside it.
        return str((result.row or {}).get("event_id", {}).get("S", ""))

    def _row(self, event: Event, event_id: str, seq: str, now: Now) -> RawRow:
        row: RawRow = LoggedEvent(
            key=event.key,
            seq=seq,
            feed=feed_of(names.namespace_of(event.key), names.shard_of(event.key, self._shards)),
            logged=positions.logged(event, event_id, now.ms),
            event_id=event_id,
            type=event.type,
            at_ms=event.at_ms,
            owner=event.owner,
            principal=event.principal,
            fence=event.fence,
            rev=event.rev,
            attempt=event.attempt,
            detail=event.detail_json,
            ttl=now.ms // 1000 + self._retention_days * DAY_SECONDS if self._retention_days else None,
        ).serialize()
        return row


def feed_of(namespace: str, shard: str) -> str:
    return f"{namespace}/{shard}"
