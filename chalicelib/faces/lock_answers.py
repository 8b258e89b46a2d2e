"""Outcomes as the lock face tells them."""

import msgspec

from chalicelib import names
from chalicelib.faces.spread import Jitter, spread
from chalicelib.holders import pseudonym
from chalicelib.outcomes import Claimed, Delayed, Done, Exhausted, Free, Held, Kept
from chalicelib.row import Lease
from chalicelib.times import rfc3339
from chalicelib.verbs import claim
from chalicelib.wire import locks as wire


def warned(warnings: list[str]) -> list[str] | msgspec.UnsetType:
    return warnings or msgspec.UNSET


def acquire(outcome: claim.Outcome, jitter: Jitter, warnings: list[str]) -> wire.Acquired | wire.Held | wire.Delayed:
    match outcome:
        case Claimed():
            return _acquired(outcome, warnings)
        case Held(row, now, until_ms):
            return _held(row, until_ms, until_ms - now.ms, spread(outcome.free_in_ms, jitter), warnings)
        case Done(row, now, until_ms):
            return _held(row, until_ms, until_ms - now.ms, spread(until_ms - now.judged_ms, jitter), warnings)
        case Delayed():
            return _delayed(outcome, jitter, warnings)
        case Exhausted():
            raise AssertionError("a lock counts no attempts")


def _acquired(outcome: Claimed, warnings: list[str]) -> wire.Acquired:
    left_ms = max(0, outcome.until_ms - outcome.now.ms)
    return wire.Acquired(
        status="acquired",
        lease_id=str(outcome.row.lease_id),
        fencing_token=outcome.row.fence,
        expires_at=rfc3339(outcome.until_ms),
        expires_in_ms=left_ms,
        renew_after_ms=left_ms // 2,
        metadata=as_text(outcome.row.metadata),
        warnings=warned(warnings),
    )


def _held(row: Lease, until_ms: int, left_ms: int, retry_after_ms: int, warnings: list[str]) -> wire.Held:
    """A finished job is, to those who know locks alone, held until it may be done again."""
    return wire.Held(
        status="held",
        holder_id=pseudonym(row.key, row.principal),
        owner=row.owner,
        metadata=as_text(row.metadata),
        expires_at=rfc3339(until_ms),
        expires_in_ms=max(0, left_ms),
        retry_after_ms=retry_after_ms,
        warnings=warned(warnings),
    )


def _delayed(outcome: Delayed, jitter: Jitter, warnings: list[str]) -> wire.Delayed:
    return wire.Delayed(
        status="delayed",
        available_at=rfc3339(outcome.available_at_ms),
        lock_delay_seconds=outcome.row.lock_delay_ms // 1000,
        retry_after_ms=spread(outcome.available_at_ms - outcome.now.judged_ms, jitter),
        warnings=warned(warnings),
    )


def renewed(outcome: Kept, warnings: list[str]) -> wire.Renewed:
    left_ms = max(0, outcome.until_ms - outcome.now.ms)
    return wire.Renewed(
        lease_id=outcome.lease_id,
        expires_at=rfc3339(outcome.until_ms),
        expires_in_ms=left_ms,
        renew_after_ms=left_ms // 2,
        late=outcome.late,
        warnings=warned(warnings),
    )


def lock(outcome: Held | Delayed | Done | Free) -> wire.Lock:
    match outcome:
        case Free():
            return wire.Lock(outcome.name, "free", None, None, outcome.fence, None, None, None)
        case Delayed(row):
            return wire.Lock(names.name_of(row.key), "free", None, None, row.fence, None, None, None)
        case Held(row, now, until_ms) | Done(row, now, until_ms):
            return wire.Lock(
                name=names.name_of(row.key),
                status="held",
                holder_id=pseudonym(row.key, row.principal),
                owner=row.owner,
                fencing_token=row.fence,
                expires_at=rfc3339(until_ms),
                expires_in_ms=max(0, until_ms - now.ms),
                metadata=as_text(row.metadata),
            )


def as_text(metadata: object) -> str | None:
    """OctoStore's metadata is text; an object is shown as its JSON."""
    if metadata is None or isinstance(metadata, str):
        return metadata
    return msgspec.json.encode(metadata).decode()
