"""The state machine of a lease, on one page. Each verb is a value: one conditional update that decides by itself.

How the row stands (for others)                     acquire   again        renew        release      inspect
--------------------------------------------------  --------  -----------  -----------  -----------  -------
never seen                                          Acquired  Acquired     not current  not current  Free
held                                                Held      Acquired     Renewed      Released     Held
overdue: past its end, within the skew margin       Held      not current  Late         Released     Held
lapsed: past its end and the margin                 Acquired  not current  Late         Released     Free
lapsed, in its lock delay                           Delayed   not current  Late         Released     Free
released                                            Acquired  not current  not current  Released     Free
released, in its lock delay                         Delayed   not current  not current  Released     Free
expired: marked so by the sweep                     Acquired  not current  not current  not current  Free
expired, in its lock delay                          Delayed   not current  not current  not current  Free

"acquire" is somebody else's, "again" repeats the row's last acquire with its idempotency key and body; renew and
release carry the row's last lease id. Late is a Renewed that says `late`; "not current" is the error
`lease_not_current`. The tests run every cell of this very table.

Two edges of expiry, because "now" is the clock of whichever Lambda answers:

      acquired                 expires_at      expires_at + margin
         |------- held ------------|---- overdue -----|---- free
         |  holder has authority   |  nobody has      |  the next owner may have

A lock delay counts from the end too, whatever ended the lease: the name opens when both have passed.
"""

from collections.abc import Callable
from dataclasses import dataclass

from chalicelib.clock import Now
from chalicelib.forms import Write, compile_form, number, text
from chalicelib.row import EXPIRED, HELD, RELEASED, Lease

DAY_MS = 24 * 3600 * 1000
# DynamoDB's TTL may not remove a row before 7 days have passed since its end and since its fence's time. The day
# on top is what a fence may lie ahead of the end (a clock that was wrong once) without costing a second write.
RETENTION_MS = 7 * DAY_MS
FENCE_LEAD_MS = DAY_MS


@dataclass(frozen=True, slots=True)
class Acquire:
    key: str
    # Called for each write: a second attempt whose first was applied, told and ended must not bring its id back.
    new_lease_id: Callable[[], str]
    request_key: str
    idempotency_key: str | None
    body_hash: str
    principal: str
    owner: str
    metadata_json: str
    ttl_ms: int
    lock_delay_ms: int
    held_in: str

    @property
    def retry_key(self) -> str:
        """Without a key of the caller's, one of our own tells our repeated write from a contender's."""
        return self.idempotency_key or self.request_key


@dataclass(frozen=True, slots=True)
class Renew:
    key: str
    lease_id: str
    ttl_ms: int


@dataclass(frozen=True, slots=True)
class Release:
    key: str
    lease_id: str


_never_seen = Lease.key.does_not_exist()
_ended = Lease.state.is_in(RELEASED, EXPIRED)
_lapsed = (Lease.state == HELD) & (Lease.expires_at_ms <= number("free_before_ms"))
_no_delay = (Lease.lock_delay_ms == 0) | (Lease.available_at_ms <= number("judged_ms"))
_not_my_key = (Lease.idempotency_key != text("idempotency_key")) | (Lease.principal != text("principal"))
# A row that somebody edited by hand is granted to nobody: what a claim adds to or copies must be what it should be.
_whole = (
    Lease.rev.is_type()
    & Lease.attempt.is_type()
    & Lease.owner.is_type()
    & Lease.ended.is_type()
    & Lease.expires_at_ms.is_type()
    & Lease.lock_delay_ms.is_type()
)
_free = (_ended | _lapsed) & _no_delay & _not_my_key & _whole
_mine = Lease.lease_id == text("lease_id")
# A fence further ahead than `ttl` covers would let TTL delete the row while the clock is still below it.
_ttl_covers_fence = Lease.fence <= number("latest_fence")

_take = (
    Lease.state.set(HELD),
    Lease.op.set("claim"),
    Lease.rev.set((Lease.rev | 0) + 1),
    Lease.attempt.set((Lease.attempt | 0) + 1),
    Lease.fence.set(number("fence")),
    Lease.ttl.set(number("ttl")),
    Lease.lease_id.set(text("lease_id")),
    Lease.held_in.set(text("held_in")),
    Lease.idempotency_key.set(text("idempotency_key")),
    Lease.body_hash.set(text("body_hash")),
    Lease.owner.set(text("owner")),
    Lease.principal.set(text("principal")),
    Lease.metadata.set(text("metadata")),
    Lease.acquired_at_ms.set(number("now_ms")),
    Lease.heartbeat_at_ms.set(number("now_ms")),
    Lease.expires_at_ms.set(number("expires_at_ms")),
    Lease.lease_ttl_ms.set(number("lease_ttl_ms")),
    Lease.lock_delay_ms.set(number("lock_delay_ms")),
    Lease.available_at_ms.set(number("available_at_ms")),
    # The right-hand side sees the row as it was: the last owner and how it ended move over in the same write.
    # `ended` is set to what happens if nobody says otherwise; release overwrites it.
    Lease.previous_owner.set(Lease.owner | ""),
    Lease.previous_ended.set(Lease.ended | ""),
    Lease.previous_ended_at_ms.set(Lease.expires_at_ms | 0),
    Lease.ended.set(EXPIRED),
)

ACQUIRE = compile_form(
    Lease,
    condition=_never_seen | (_free & (Lease.fence < number("fence"))),
    actions=_take,
)
ACQUIRE_ABOVE = compile_form(
    Lease,
    condition=_free & (Lease.fence == number("fence_seen")),
    actions=_take,
)
RENEW = compile_form(
    Lease,
    condition=_mine & (Lease.expires_at_ms <= number("expires_at_ms")) & _ttl_covers_fence,
    actions=(
        Lease.op.set("heartbeat"),
        Lease.heartbeat_at_ms.set(number("now_ms")),
        Lease.expires_at_ms.set(number("expires_at_ms")),
        Lease.lease_ttl_ms.set(number("lease_ttl_ms")),
        Lease.available_at_ms.set(Lease.lock_delay_ms + number("expires_at_ms")),
        Lease.ttl.set(number("ttl")),
    ),
    returns="ALL_OLD",
)
RELEASE = compile_form(
    Lease,
    condition=_mine & _ttl_covers_fence,
    actions=(
        Lease.state.set(RELEASED),
        Lease.op.set("release"),
        Lease.rev.set(Lease.rev + 1),
        Lease.attempt.set(0),
        Lease.ended.set(RELEASED),
        Lease.last_lease_id.set(Lease.lease_id),
        Lease.expires_at_ms.set(number("now_ms")),
        Lease.available_at_ms.set(Lease.lock_delay_ms + number("now_ms")),
        Lease.ttl.set(number("ttl")),
        Lease.lease_id.remove(),
        Lease.held_in.remove(),
    ),
)


def acquire(ask: Acquire, now: Now, *, fence_seen: int = 0) -> Write:
    """Free now, not in its lock delay, not mine already, and the stored fence is below mine.

    Mine is the clock; or, if a refusal showed a free row whose fence is not below the clock, one above that fence.
    """
    if not fence_seen:
        return Write(ACQUIRE, ask.key, _taking(ask, now, fence=now.us))
    values = _taking(ask, now, fence=fence_seen + 1)
    return Write(ACQUIRE_ABOVE, ask.key, {**values, "fence_seen": fence_seen})


def renew(ask: Renew, now: Now, *, fence_seen: int = 0) -> Write:
    """The row carries this lease id, and its end does not move back."""
    expires_at_ms = now.ms + ask.ttl_ms
    return Write(
        RENEW,
        ask.key,
        {
            "lease_id": ask.lease_id,
            "now_ms": now.ms,
            "expires_at_ms": expires_at_ms,
            "lease_ttl_ms": ask.ttl_ms,
            **_kept(expires_at_ms, fence_seen),
        },
    )


def release(ask: Release, now: Now, *, fence_seen: int = 0) -> Write:
    """The row carries this lease id."""
    return Write(RELEASE, ask.key, {"lease_id": ask.lease_id, "now_ms": now.ms, **_kept(now.ms, fence_seen)})


def _taking(ask: Acquire, now: Now, *, fence: int) -> dict[str, str | int]:
    expires_at_ms = now.ms + ask.ttl_ms
    return {
        "free_before_ms": now.free_before_ms,
        "judged_ms": now.judged_ms,
        "now_ms": now.ms,
        "fence": fence,
        "ttl": ttl_seconds(expires_at_ms, fence),
        "lease_id": ask.new_lease_id(),
        "held_in": ask.held_in,
        "idempotency_key": ask.retry_key,
        "body_hash": ask.body_hash,
        "owner": ask.owner,
        "principal": ask.principal,
        "metadata": ask.metadata_json,
        "expires_at_ms": expires_at_ms,
        "lease_ttl_ms": ask.ttl_ms,
        "lock_delay_ms": ask.lock_delay_ms,
        "available_at_ms": expires_at_ms + ask.lock_delay_ms,
    }


def _kept(end_ms: int, fence_seen: int) -> dict[str, int]:
    return {
        "ttl": ttl_seconds(end_ms, fence_seen),
        "latest_fence": max((end_ms + FENCE_LEAD_MS) * 1000, fence_seen),
    }


def ttl_seconds(end_ms: int, fence: int) -> int:
    """When DynamoDB may clean the row away, in epoch *seconds*. It only cleans up; it never decides."""
    latest_ms = max(end_ms, fence // 1000)
    return (latest_ms + RETENTION_MS + FENCE_LEAD_MS) // 1000 + 1
