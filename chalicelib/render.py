"""Outcomes of the lock face as answers."""

from uuid import UUID, uuid5

import msgspec

from chalicelib import names, outcomes, wire
from chalicelib.row import Lease
from chalicelib.times import rfc3339

# Any fixed value will do, but for ever: holder_id is derived from it.
_HOLDERS = UUID("6f63746f-6c65-4173-a500-686f6c646572")
# Contenders that were refused together must not come back together.
LARGEST_JITTER_MS = 1000

Jitter = float  # from 0 to 1


def warned(warnings: list[str]) -> list[str] | msgspec.UnsetType:
    return warnings or msgspec.UNSET


def acquire(
    outcome: outcomes.Acquired | outcomes.Held | outcomes.Delayed, jitter: Jitter, warnings: list[str]
) -> wire.Acquired | wire.Held | wire.Delayed:
    match outcome:
        case outcomes.Acquired():
            return _acquired(outcome, warnings)
        case outcomes.Held():
            return _held(outcome, jitter, warnings)
        case outcomes.Delayed():
            return _delayed(outcome, jitter, warnings)


def _acquired(outcome: outcomes.Acquired, warnings: list[str]) -> wire.Acquired:
    left_ms = outcome.expires_at_ms - outcome.now_ms
    return wire.Acquired(
        status="acquired",
        lease_id=outcome.lease_id,
        fencing_token=outcome.fence,
        expires_at=rfc3339(outcome.expires_at_ms),
        expires_in_ms=left_ms,
        renew_after_ms=left_ms // 2,
        metadata=as_text(msgspec.json.decode(outcome.metadata_json)),
        warnings=warned(warnings),
    )


def _held(outcome: outcomes.Held, jitter: Jitter, warnings: list[str]) -> wire.Held:
    row = outcome.row
    return wire.Held(
        status="held",
        holder_id=holder_id(row),
        owner=row.owner,
        metadata=as_text(row.metadata),
        expires_at=rfc3339(int(row.expires_at_ms)),
        expires_in_ms=_left_ms(outcome),
        retry_after_ms=_spread(outcome.free_in_ms, jitter),
        warnings=warned(warnings),
    )


def _delayed(outcome: outcomes.Delayed, jitter: Jitter, warnings: list[str]) -> wire.Delayed:
    return wire.Delayed(
        status="delayed",
        available_at=rfc3339(outcome.available_at_ms),
        lock_delay_seconds=outcome.lock_delay_ms // 1000,
        retry_after_ms=_spread(outcome.available_at_ms - outcome.now.judged_ms, jitter),
        warnings=warned(warnings),
    )


def renewed(outcome: outcomes.Renewed, warnings: list[str]) -> wire.Renewed:
    left_ms = max(0, outcome.expires_at_ms - outcome.now_ms)
    return wire.Renewed(
        lease_id=outcome.lease_id,
        expires_at=rfc3339(outcome.expires_at_ms),
        expires_in_ms=left_ms,
        renew_after_ms=left_ms // 2,
        late=outcome.late,
        warnings=warned(warnings),
    )


def lock(outcome: outcomes.Held | outcomes.Free) -> wire.Lock:
    match outcome:
        case outcomes.Free():
            return wire.Lock(outcome.name, "free", None, None, outcome.fence, None, None, None)
        case outcomes.Held(row=row):
            return wire.Lock(
                name=names.name_of(row.key),
                status="held",
                holder_id=holder_id(row),
                owner=row.owner,
                fencing_token=int(row.fence),
                expires_at=rfc3339(int(row.expires_at_ms)),
                expires_in_ms=_left_ms(outcome),
                metadata=as_text(row.metadata),
            )


def holder_id(row: Lease) -> str:
    """Who holds it, told apart from others, and nothing more: neither the token nor its id can be read from it."""
    namespace = row.key.split("/", 1)[0]
    return str(uuid5(_HOLDERS, f"{namespace}/{row.principal}"))


def as_text(metadata: object) -> str | None:
    """OctoStore's metadata is text; an object is shown as its JSON."""
    if metadata is None or isinstance(metadata, str):
        return metadata
    return msgspec.json.encode(metadata).decode()


def _left_ms(held: outcomes.Held) -> int:
    return max(0, int(held.row.expires_at_ms) - held.now.ms)


def _spread(wait_ms: int, jitter: Jitter) -> int:
    return max(1, wait_ms) + int(jitter * min(LARGEST_JITTER_MS, 100 + wait_ms // 10))
