"""What a write did to a lease, told from the row before and after it. Pure: two images in, an event or nothing out.

    op of the write   event               what the event adds (`detail`)
    ----------------  ------------------  ---------------------------------------------------------
    claim             claimed             previous, session, ttl_seconds, acquired_at
    claim, held       taken_over          the same; nobody had ended the lease before this one
    handover          handed_over         the same; previous is the one who handed over
    heartbeat         heartbeat           nothing; only where heartbeats are logged
    release           released, failed    reason
    release           done                reason, result, done_until
    expire            expired             expired_at
    evict             evicted             reason, by
    cancel            cancel_requested    reason, by
    reopen            reopened            reason, by

Owner and principal are those of the lease that it happened to. An event has all that a row says except its expiry,
the time of its last heartbeat, checkpoint, metadata and secret ids: replaying the events of a name gives its row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from chalicelib import row
from chalicelib.holders import pseudonym
from chalicelib.row import DONE, EVICTED, EXPIRED, FAILED, HANDED_OVER, HELD, RELEASED, Lease, RawRow, UnreadableRow
from chalicelib.times import rfc3339

CLAIMED, TAKEN_OVER, HEARTBEAT = "claimed", "taken_over", "heartbeat"
CANCEL_REQUESTED, REOPENED = "cancel_requested", "reopened"
# A name starts with a letter, a digit or _, so no lease has such a key: these rows are the service's own.
HOUSEKEEPING = "#"
# `rev` has ten digits in the log's order.
HIGHEST_REV = 10**10 - 1
# Ten events go on the bus in one call of at most 256 KB. What the service writes itself stays below this.
LARGEST_EVENT_BYTES = 24_000

Detail = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """`detail_json` is a JSON object. It stays text, because nothing on its way to a reader looks inside."""

    key: str
    type: str
    at_ms: int
    owner: str
    principal: str
    fence: int
    rev: int
    attempt: int
    detail_json: str


class PoisonImage(Exception):
    """No event can be told from it, now or at any later try: somebody edited the row by hand."""


def event_of(old: RawRow | None, new: RawRow | None) -> Event | None:
    """None for what is no change: housekeeping, TTL's deletions, and writes that left `rev` alone."""
    if new is None or _key(new).startswith(HOUSEKEEPING):
        return None
    before, after = None if old is None else _lease(old), _lease(new)
    if before is not None and before.rev == after.rev:
        return None
    told = _told(_type(before, after), before, after)
    if len(told.owner.encode()) + len(told.detail_json.encode()) > LARGEST_EVENT_BYTES:
        raise PoisonImage(f"{after.key}: an event of it would be larger than {LARGEST_EVENT_BYTES} bytes")
    return told


def _key(image: RawRow) -> str:
    try:
        return str(image["key"]["S"])
    except (LookupError, TypeError) as error:
        raise PoisonImage("an image without a key") from error


def _lease(image: RawRow) -> Lease:
    try:
        lease = row.read(image)
    except (UnreadableRow, AttributeError, OverflowError) as error:
        raise PoisonImage(f"{_key(image)}: {error}") from error
    if "/" not in lease.key or not 0 < lease.rev <= HIGHEST_REV:
        raise PoisonImage(f"{lease.key}: rev={lease.rev}")
    return lease


def _type(before: Lease | None, after: Lease) -> str:
    match after.op:
        case "claim":
            return TAKEN_OVER if before is not None and before.state == HELD else CLAIMED
        case "release" if after.ended in (RELEASED, FAILED, DONE):
            return after.ended
        case op if op in _BY_OP:
            return _BY_OP[op]
    raise PoisonImage(f"{after.key}: op={after.op!r} ended={after.ended!r}")


def _told(kind: str, before: Lease | None, after: Lease) -> Event:
    return Event(
        key=after.key,
        type=kind,
        at_ms=after.at_ms,
        owner=after.owner,
        principal=after.principal,
        fence=after.fence,
        rev=after.rev,
        attempt=before.attempt if before is not None and kind in _SET_ATTEMPT_BACK else after.attempt,
        detail_json=msgspec.json.encode(_DETAILS[kind](after)).decode(),
    )


def _grant(lease: Lease) -> Detail:
    return {
        "previous": _previous(lease),
        "session": lease.session_id is not None,
        "ttl_seconds": lease.lease_ttl_ms // 1000,
        "acquired_at": rfc3339(lease.acquired_at_ms),
    }


def _previous(lease: Lease) -> Detail | None:
    if not lease.previous_owner:
        return None
    return {
        "owner": lease.previous_owner,
        "ended": lease.previous_ended,
        "ended_at": rfc3339(lease.previous_ended_at_ms),
        "reason": lease.previous_reason or None,
    }


def _nothing(_lease: Lease) -> Detail:
    return {}


def _reason(lease: Lease) -> Detail:
    return {"reason": lease.reason}


def _cancelled(lease: Lease) -> Detail:
    return {"reason": lease.cancel_reason, "by": _by(lease)}


def _steered(lease: Lease) -> Detail:
    return {"reason": lease.reason, "by": _by(lease)}


def _by(lease: Lease) -> str:
    """Who asked for it: not the holder, to whom it happened."""
    return pseudonym(lease.key, (lease.last_request or "").split(" ")[0])


def _end(lease: Lease) -> Detail:
    """Where its authority ended, not when that was noticed: the event's own time says the latter."""
    return {"expired_at": rfc3339(lease.holder_until_ms)}


def _result(lease: Lease) -> Detail:
    return {"reason": lease.reason, "result": lease.result, "done_until": rfc3339(lease.done_until_ms or 0)}


_BY_OP = {
    "heartbeat": HEARTBEAT,
    "expire": EXPIRED,
    "evict": EVICTED,
    "handover": HANDED_OVER,
    "cancel": CANCEL_REQUESTED,
    "reopen": REOPENED,
}
_SET_ATTEMPT_BACK = frozenset({RELEASED, DONE, REOPENED})
_DETAILS: Mapping[str, Callable[[Lease], Detail]] = {
    CLAIMED: _grant,
    TAKEN_OVER: _grant,
    HANDED_OVER: _grant,
    HEARTBEAT: _nothing,
    RELEASED: _reason,
    FAILED: _reason,
    DONE: _result,
    EXPIRED: _end,
    EVICTED: _steered,
    CANCEL_REQUESTED: _cancelled,
    REOPENED: _steered,
}
TYPES = tuple(_DETAILS)
