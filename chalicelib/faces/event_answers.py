"""Events as answers, and as they go on the bus."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Raw

from chalicelib import holders, names, positions
from chalicelib.event_reader import Entry
from chalicelib.events import Event
from chalicelib.times import rfc3339
from chalicelib.wire import events as wire


def in_feed(event: Event) -> wire.FeedEvent:
    return wire.FeedEvent(**_facts(event))


def in_history(entries: Sequence[Entry], after: str) -> Iterator[wire.JobEvent]:
    """`after` is where the page starts: the event before its first one tells whether any is missing between."""
    rev = positions.rev_at(after)
    for entry in entries:
        yield wire.JobEvent(**_facts(entry.event), gap=_gap(entry, rev))
        rev = entry.event.rev


def on_bus(event: Event, seq: str) -> wire.BusEvent:
    """`#` stands in no name and no number, so the id of an event is no other's."""
    return wire.BusEvent(**_facts(event), id=f"{event.key}#{seq}", namespace=names.namespace_of(event.key))


def _facts(event: Event) -> dict[str, Any]:
    return {
        "job": names.name_of(event.key),
        "type": event.type,
        "at": rfc3339(event.at_ms),
        "owner": event.owner,
        "principal": holders.pseudonym(event.key, event.principal),
        "fencing_token": event.fence,
        "rev": event.rev,
        "attempt": event.attempt,
        "detail": Raw(event.detail_json.encode()),
    }


def _gap(entry: Entry, rev_before: int) -> int | None:
    """A rev that is not above the one before belongs to a row that began anew, and counts from its start."""
    if positions.is_beside(entry.seq):
        return None
    expected = rev_before + 1 if entry.event.rev > rev_before else 1
    return entry.event.rev - expected or None
