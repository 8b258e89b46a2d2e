"""Outcomes as the job face tells them. A refusal is written so that a language model can act on it."""

from collections.abc import Sequence

from chalicelib import names
from chalicelib.faces.spread import Jitter, spread
from chalicelib.outcomes import Claimed, Delayed, Done, Exhausted, Free, Held, Kept, Released
from chalicelib.row import Lease
from chalicelib.times import rfc3339
from chalicelib.verbs import claim
from chalicelib.wire import jobs as wire


def claimed(outcome: Claimed) -> wire.JobClaimed:
    row, left_ms = outcome.row, max(0, outcome.until_ms - outcome.now.ms)
    return wire.JobClaimed(
        status="claimed",
        job=names.name_of(row.key),
        lease_id=str(row.lease_id),
        fencing_token=row.fence,
        owner=row.owner,
        metadata=row.metadata,
        attempt=row.attempt,
        acquired_at=rfc3339(row.acquired_at_ms),
        expires_at=rfc3339(outcome.until_ms),
        expires_in_ms=left_ms,
        heartbeat_after_ms=None if row.carried else left_ms // 2,
        session_id=row.session_id,
        previous=_before(row, row.checkpoint),
    )


def refusal(outcome: claim.Refusal, jitter: Jitter) -> wire.Refusal:
    match outcome:
        case Held(row, now, until_ms):
            return _held(row, until_ms, until_ms - now.ms, spread(outcome.free_in_ms, jitter))
        case Delayed(row, now, available_at_ms):
            left_ms = available_at_ms - now.judged_ms
            return _held(row, available_at_ms, left_ms, spread(left_ms, jitter))
        case Done(row, _, until_ms):
            return _done(row, until_ms)
        case Exhausted(row, max_attempts):
            return _exhausted(row, max_attempts)


def _held(row: Lease, until_ms: int, left_ms: int, retry_after_ms: int) -> wire.JobHeld:
    until, seconds = rfc3339(until_ms), -(-retry_after_ms // 1000)
    return wire.JobHeld(
        job=names.name_of(row.key),
        owner=row.owner,
        metadata=row.metadata,
        attempt=row.attempt,
        acquired_at=rfc3339(row.acquired_at_ms),
        heartbeat_at=rfc3339(row.heartbeat_at_ms),
        expires_at=until,
        expires_in_ms=max(0, left_ms),
        fencing_token=row.fence,
        retry_after_ms=retry_after_ms,
        message=f"Held by {row.owner} until {until}; try again in {seconds} s or take another job.",
    )


def _done(row: Lease, until_ms: int) -> wire.JobDone:
    at, until = rfc3339(row.expires_at_ms), rfc3339(until_ms)
    return wire.JobDone(
        job=names.name_of(row.key),
        owner=row.owner,
        result=row.result,
        done_at=at,
        done_until=until,
        message=f"Done by {row.owner} at {at}: there is nothing left to do. Take another job. "
        f"It can be claimed again after {until}, or once an admin reopens it.",
    )


def _exhausted(row: Lease, max_attempts: int) -> wire.JobExhausted:
    last = _last(row)
    return wire.JobExhausted(
        job=names.name_of(row.key),
        attempts=row.attempt,
        max_attempts=max_attempts,
        previous=last,
        message=f"Claimed {row.attempt} times without ending well, the last time by {last.owner} ({last.ended}). "
        "Do not try again: take another job, and tell an operator. An admin can reopen it.",
    )


def none_of(refusals: Sequence[claim.Refusal], jitter: Jitter) -> wire.NoneClaimed:
    told = [refusal(one, jitter) for one in refusals]
    waits = [one.retry_after_ms for one in told if isinstance(one, wire.JobHeld)]
    wait_ms = min(waits, default=None)
    advice = "no use in waiting for any of them" if wait_ms is None else f"try again in {-(-wait_ms // 1000)} s"
    return wire.NoneClaimed("none", told, wait_ms, f"None of these jobs can be claimed now; {advice}, or name others.")


def all_of(outcomes: Sequence[Claimed]) -> wire.AllClaimed:
    return wire.AllClaimed("claimed", [claimed(one) for one in outcomes])


def not_all(refusals: Sequence[claim.Refusal], jitter: Jitter) -> wire.NotAllClaimed:
    told = [refusal(one, jitter) for one in refusals]
    waits = [one.retry_after_ms for one in told if isinstance(one, wire.JobHeld)]
    wait_ms = max(waits) if len(waits) == len(told) else None
    names_told = ", ".join(one.job for one in told)
    advice = "leave them out" if wait_ms is None else f"try again in {-(-wait_ms // 1000)} s or leave them out"
    message = f"None was claimed, because these are in the way: {names_told}; {advice}."
    return wire.NotAllClaimed("held", told, wait_ms, message)


def kept(job: str, outcome: Kept) -> wire.JobKept:
    left_ms = max(0, outcome.until_ms - outcome.now.ms)
    return wire.JobKept(
        status="held",
        job=job,
        expires_at=rfc3339(outcome.until_ms),
        expires_in_ms=left_ms,
        heartbeat_after_ms=None if outcome.carried else left_ms // 2,
        cancel_requested=outcome.cancel_reason is not None,
        cancel_reason=outcome.cancel_reason,
        late=outcome.late,
    )


def released(job: str, outcome: Released, asked: str | None) -> wire.JobReleased:
    return wire.JobReleased(
        status="done" if asked == "done" else "released",
        job=job,
        outcome=asked,  # type: ignore[arg-type] # parsed as one of the two
        ended_at=rfc3339(outcome.now_ms),
        done_until=rfc3339(outcome.done_until_ms) if outcome.done_until_ms else None,
    )


def job(outcome: Held | Delayed | Done | Free) -> wire.Job:
    match outcome:
        case Held(row, now, until_ms):
            return _job(row, until_ms, until_ms - now.ms)
        case Delayed(row, now, available_at_ms):
            return _job(row, available_at_ms, available_at_ms - now.judged_ms)
        case Done(row):
            return _finished(row)
        case Free(name, row):
            return _free(name, row)


def _job(row: Lease, until_ms: int, left_ms: int) -> wire.Job:
    return wire.Job(
        job=names.name_of(row.key),
        status="held",
        owner=row.owner,
        metadata=row.metadata,
        attempt=row.attempt,
        acquired_at=rfc3339(row.acquired_at_ms),
        heartbeat_at=rfc3339(row.heartbeat_at_ms),
        expires_at=rfc3339(until_ms),
        expires_in_ms=max(0, left_ms),
        fencing_token=row.fence,
        checkpoint=row.checkpoint,
        cancel_requested=row.cancel_reason is not None,
        cancel_reason=row.cancel_reason,
        result=None,
        done_at=None,
        done_until=None,
        previous=_before(row, None),
    )


def _finished(row: Lease) -> wire.Job:
    return wire.Job(
        job=names.name_of(row.key),
        status="done",
        owner=row.owner,
        metadata=row.metadata,
        attempt=row.attempt,
        acquired_at=rfc3339(row.acquired_at_ms),
        heartbeat_at=rfc3339(row.heartbeat_at_ms),
        expires_at=None,
        expires_in_ms=None,
        fencing_token=row.fence,
        checkpoint=None,
        cancel_requested=False,
        cancel_reason=None,
        result=row.result,
        done_at=rfc3339(row.expires_at_ms),
        done_until=rfc3339(row.done_until_ms or 0),
        previous=_before(row, None),
    )


def _free(name: str, row: Lease | None) -> wire.Job:
    return wire.Job(
        job=name,
        status="free",
        owner=None,
        metadata=None,
        attempt=row.attempt if row else 0,
        acquired_at=None,
        heartbeat_at=None,
        expires_at=None,
        expires_in_ms=None,
        fencing_token=row.fence if row else 0,
        checkpoint=row.checkpoint if row else None,
        cancel_requested=False,
        cancel_reason=None,
        result=None,
        done_at=None,
        done_until=None,
        previous=_last(row) if row else None,
    )


def _before(row: Lease, checkpoint: object) -> wire.Previous | None:
    """Who had it before the one who has it now."""
    if not row.previous_owner:
        return None
    return wire.Previous(
        owner=row.previous_owner,
        ended=row.previous_ended,  # type: ignore[arg-type] # written by our own verbs alone
        ended_at=rfc3339(row.previous_ended_at_ms),
        reason=row.previous_reason or None,
        checkpoint=checkpoint,
    )


def _last(row: Lease) -> wire.Previous:
    """Who had it last, now that nobody has it."""
    return wire.Previous(
        owner=row.owner,
        ended=row.ended,  # type: ignore[arg-type] # written by our own verbs alone
        ended_at=rfc3339(row.holder_until_ms),
        reason=row.reason or None,
        checkpoint=row.checkpoint,
    )
