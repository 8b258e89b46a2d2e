"""The named parts that conditions and actions are made of."""

from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.clock import Now
from chalicelib.forms import number, text
from chalicelib.row import DONE, EXPIRED, HELD, RELEASED, Lease
from chalicelib.settings import TTL_CEILING_SECONDS

DAY_MS = 24 * 3600 * 1000
# DynamoDB's TTL may not remove a row before 7 days have passed since its end and since its fence's time. The day
# on top is what a fence may lie ahead of the end (a clock that was wrong once) without costing a second write.
RETENTION_MS = 7 * DAY_MS
FENCE_LEAD_MS = DAY_MS
LONGEST_TTL_MS = TTL_CEILING_SECONDS * 1000


def _typed(attribute: Attribute[Any]) -> Condition:
    condition: Condition = attribute.is_type()
    return condition


def _absent_or_typed(attribute: Attribute[Any]) -> Condition:
    condition: Condition = attribute.does_not_exist() | _typed(attribute)
    return condition


never_seen = Lease.key.does_not_exist()
ended = Lease.state.is_in(RELEASED, EXPIRED)
done_is_over = (Lease.state == DONE) & (Lease.done_until_ms <= number("judged_ms"))
# A row that a session carries has no end of its own: it is free only by its session's death.
lapsed = (Lease.state == HELD) & (Lease.expires_at_ms <= number("free_before_ms")) & Lease.carried.does_not_exist()
live = (Lease.state == HELD) & ((Lease.expires_at_ms > number("free_before_ms")) | Lease.carried.exists())
no_delay = (Lease.lock_delay_ms == 0) | (Lease.available_at_ms <= number("judged_ms"))
not_my_key = (Lease.idempotency_key != text("idempotency_key")) | (Lease.principal != text("principal"))
attempts_left = Lease.attempt < number("max_attempts")
mine = Lease.lease_id == text("lease_id")
# Whoever saw a session dead, or a lease over, acts on that very lease or not at all.
as_seen = (
    (Lease.state == HELD)
    & (Lease.lease_id == text("seen_lease_id"))
    & (Lease.session_id == text("seen_session_id"))
    & (Lease.session_until_ms == number("seen_session_until_ms"))
)
fence_as_given = Lease.fence == number("fence_given")
# A fence further ahead than `ttl` covers would let TTL delete the row while the clock is still below it.
ttl_covers_fence = Lease.fence <= number("latest_fence")

# A row that somebody edited by hand is granted to nobody: what a claim adds to or copies must be what it should be.
whole = (
    _typed(Lease.rev)
    & _typed(Lease.attempt)
    & _typed(Lease.owner)
    & _typed(Lease.ended)
    & _typed(Lease.principal)
    & _typed(Lease.idempotency_key)
    & _typed(Lease.body_hash)
    & _typed(Lease.expires_at_ms)
    & _typed(Lease.lock_delay_ms)
    & _typed(Lease.available_at_ms)
    & _absent_or_typed(Lease.reason)
    & _absent_or_typed(Lease.checkpoint)
    & _absent_or_typed(Lease.last_lease_id)
    & _absent_or_typed(Lease.last_request)
)


def changed(op: str) -> tuple[Action, ...]:
    """What every change of a row says of itself, so that the log can tell it and check that none is missing."""
    return (Lease.op.set(op), Lease.at_ms.set(number("now_ms")), Lease.rev.set(Lease.rev + 1))


# What belongs to one lease alone: its session, and a wish that it should stop.
cleared: tuple[Action, ...] = (
    Lease.session_id.remove(),
    Lease.session_until_ms.remove(),
    Lease.carried.remove(),
    Lease.cancel_reason.remove(),
)


def over(state: str, *, how: str) -> tuple[Action, ...]:
    """The lease ends at `ended_at_ms`. Only its holder's secret and its places in the indexes go."""
    return (
        Lease.state.set(state),
        Lease.ended.set(how),
        Lease.last_lease_id.set(Lease.lease_id),
        Lease.expires_at_ms.set(number("ended_at_ms")),
        Lease.available_at_ms.set(Lease.lock_delay_ms + number("ended_at_ms")),
        Lease.ttl.set(number("ttl")),
        Lease.lease_id.remove(),
        Lease.held_in.remove(),
        *cleared,
    )


def kept_until(end_ms: int, fence_seen: int) -> dict[str, int]:
    """`ttl`, and the highest fence that it covers."""
    return {
        "ttl": ttl_seconds(end_ms, fence_seen),
        "latest_fence": max((end_ms + FENCE_LEAD_MS) * 1000, fence_seen),
    }


def ttl_seconds(end_ms: int, fence: int) -> int:
    """When DynamoDB may clean the row away, in epoch *seconds*. It only cleans up; it never decides."""
    latest_ms = max(end_ms, fence // 1000)
    return (latest_ms + RETENTION_MS + FENCE_LEAD_MS) // 1000 + 1


def latest_end_ms(now: Now, ttl_ms: int | None) -> int:
    """The end that a heartbeat gives, or where the row alone knows its TTL, the latest that it can be."""
    return now.ms + (LONGEST_TTL_MS if ttl_ms is None else ttl_ms)
