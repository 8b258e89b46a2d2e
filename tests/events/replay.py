"""The row of a job, made again from its log alone."""

from collections.abc import Iterable
from typing import Any

import msgspec

from chalicelib.events import Event
from chalicelib.row import DONE, EXPIRED, HELD, RELEASED, Lease
from chalicelib.times import ms_of

Row = dict[str, Any]

# What a log can tell of a row. It leaves out expiry, the last heartbeat, checkpoint, metadata and the secret ids.
TOLD = (
    "state",
    "ended",
    "owner",
    "principal",
    "fence",
    "rev",
    "attempt",
    "acquired_at_ms",
    "reason",
    "result",
    "done_until_ms",
    "cancel_reason",
    "previous_owner",
    "previous_ended",
    "previous_ended_at_ms",
    "previous_reason",
)
# Whatever ends a lease takes back the wish that it should end.
_WITHOUT_CANCEL: Row = {"cancel_reason": None}


def told_by(row: Lease) -> Row:
    return {name: getattr(row, name) for name in TOLD}


def replayed(events: Iterable[Event]) -> Row:
    row: Row = dict.fromkeys(TOLD)
    for event in events:
        row |= {
            "owner": event.owner,
            "principal": event.principal,
            "fence": event.fence,
            "rev": event.rev,
            "attempt": event.attempt,
            **_change(event.type, msgspec.json.decode(event.detail_json)),
        }
    return row


def _change(kind: str, detail: Row) -> Row:
    match kind:
        case "heartbeat":
            return {}
        case "claimed" | "taken_over":
            return {**_granted(detail), "reason": None, "result": None, "done_until_ms": None}
        case "handed_over":
            return _granted(detail)
        case "cancel_requested":
            return {"cancel_reason": detail["reason"]}
        case "reopened":
            return {"state": RELEASED, "attempt": 0, "reason": detail["reason"], "result": None, "done_until_ms": None}
        case _:
            return {**_ended(kind, detail), **_WITHOUT_CANCEL}


def _granted(detail: Row) -> Row:
    return {
        "state": HELD,
        "ended": EXPIRED,
        "acquired_at_ms": ms_of(detail["acquired_at"]),
        **_previous(detail["previous"]),
        **_WITHOUT_CANCEL,
    }


def _previous(told: Row | None) -> Row:
    return {
        "previous_owner": told["owner"] if told else "",
        "previous_ended": told["ended"] if told else "",
        "previous_ended_at_ms": ms_of(told["ended_at"]) if told else 0,
        "previous_reason": (told["reason"] or "") if told else "",
    }


def _ended(kind: str, detail: Row) -> Row:
    match kind:
        case "released":
            return {"state": RELEASED, "ended": RELEASED, "attempt": 0, "reason": detail["reason"]}
        case "failed" | "evicted":
            return {"state": RELEASED, "ended": kind, "reason": detail["reason"]}
        case "done":
            until_ms = ms_of(detail["done_until"])
            return {"state": DONE, "ended": DONE, "attempt": 0, "done_until_ms": until_ms, **_kept(detail)}
        case "expired":
            return {"state": EXPIRED, "ended": EXPIRED}
    raise AssertionError(f"an event that no replay knows: {kind}")


def _kept(detail: Row) -> Row:
    return {"reason": detail["reason"], "result": detail["result"]}
