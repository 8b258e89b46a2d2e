"""Claim: take a name that is free now, whether it was never held, released, over, or left by the dead."""

from dataclasses import dataclass, replace
from functools import cache
from uuid import UUID

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib import lease_ids
from chalicelib.clock import Now
from chalicelib.errors import UpstreamUnavailable
from chalicelib.forms import Form, Write, compile_form, number, text
from chalicelib.outcomes import (
    Claimed,
    Delayed,
    Done,
    Exhausted,
    Free,
    Held,
    InDoubt,
    not_current,
    standing,
    standing_judged,
)
from chalicelib.row import EXPIRED, HELD, Lease, read
from chalicelib.sessions import Alive, Dead
from chalicelib.store import Applied
from chalicelib.verbs import clauses
from chalicelib.verbs.repeat import Repeatable
from chalicelib.verbs.verb import AskSession, Settled

Refusal = Held | Delayed | Done | Exhausted
Outcome = Claimed | Refusal
# More than any job is ever claimed: what a claim allows that says nothing of attempts.
UNLIMITED = 10**9


@dataclass(frozen=True, slots=True)
class Bound:
    """A session as the claim's request has read it."""

    session_id: str
    until_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Repeatable):
    key: str
    held_in: str
    owner: str
    metadata_json: str
    ttl_ms: int
    lock_delay_ms: int = 0
    max_attempts: int = UNLIMITED
    session: Bound | None = None
    # OctoStore's CLI asks again for what its session holds already, and expects its own lease.
    again_in_session: bool = False


@dataclass(frozen=True, slots=True)
class FenceSeen:
    """The name is free, but its fence is not below this clock: the next one is one above it."""

    fence: int


@dataclass(frozen=True, slots=True)
class DeadHolder:
    """The name is free by the written death of the session that this lease hangs on."""

    lease_id: str
    session_id: str
    session_until_ms: int
    fence: int
    ended_at_ms: int


Seen = FenceSeen | DeadHolder | None

_take: tuple[Action, ...] = (
    Lease.state.set(HELD),
    Lease.op.set("claim"),
    Lease.at_ms.set(number("now_ms")),
    Lease.rev.set((Lease.rev | 0) + 1),
    Lease.attempt.set((Lease.attempt | 0) + 1),
    Lease.fence.set(number("fence")),
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
    # `ended` is set to what happens if nobody says otherwise; every other end overwrites it.
    Lease.previous_owner.set(Lease.owner | ""),
    Lease.previous_ended.set(Lease.ended | ""),
    Lease.previous_reason.set(Lease.reason | ""),
    Lease.ended.set(EXPIRED),
    Lease.reason.remove(),
    Lease.result.remove(),
    Lease.done_until_ms.remove(),
)
_bind: tuple[Action, ...] = (
    Lease.session_id.set(text("session_id")),
    Lease.session_until_ms.set(number("session_until_ms")),
    Lease.carried.remove(),
    Lease.cancel_reason.remove(),
    # No end of its own bounds it from above, so TTL gets a date only when the lease is over.
    Lease.ttl.remove(),
)
_unbind: tuple[Action, ...] = (*clauses.cleared, Lease.ttl.set(number("ttl")))
_end_as_stored = Lease.previous_ended_at_ms.set(Lease.expires_at_ms | 0)
_end_as_seen = Lease.previous_ended_at_ms.set(number("ended_at_ms"))

_KINDS = {type(None): "nothing", FenceSeen: "fence", DeadHolder: "dead holder"}
_whoever_asks = clauses.not_my_key & clauses.attempts_left & clauses.whole
_free = (clauses.ended | clauses.lapsed | clauses.done_is_over) & clauses.no_delay & _whoever_asks
_conditions: dict[str, Condition] = {
    "nothing": clauses.never_seen | (_free & (Lease.fence < number("fence"))),
    "fence": _free & (Lease.fence == number("fence_seen")),
    # The fence of a lease never changes, so whoever knows the lease knows the fence.
    "dead holder": clauses.as_seen & _whoever_asks,
}


@cache
def form(seen: str, bound: bool) -> Form:
    end = _end_as_seen if seen == "dead holder" else _end_as_stored
    actions = (*_take, end, *(_bind if bound else _unbind))
    return compile_form(Lease, condition=_conditions[seen], actions=actions, returns="ALL_NEW")


@dataclass(frozen=True, slots=True)
class Claim:
    ask: Ask
    seen: Seen = None

    @property
    def key(self) -> str:
        return self.ask.key

    def write(self, now: Now, drawn: UUID) -> Write:
        values: dict[str, str | int] = {**self._granted(now, drawn), **self._judged(now), **self._pinned()}
        return Write(form(_KINDS[type(self.seen)], self.ask.session is not None), self.key, values)

    def _granted(self, now: Now, drawn: UUID) -> dict[str, str | int]:
        ask, fence, expires_at_ms = self.ask, self._fence(now), now.ms + self.ask.ttl_ms
        return {
            "fence": fence,
            "lease_id": lease_ids.bound(drawn) if ask.session else lease_ids.unbound(drawn),
            "held_in": ask.held_in,
            "idempotency_key": ask.retry_key,
            "body_hash": ask.stored_hash,
            "owner": ask.owner,
            "principal": ask.principal,
            "metadata": ask.metadata_json,
            "expires_at_ms": expires_at_ms,
            "lease_ttl_ms": ask.ttl_ms,
            "lock_delay_ms": ask.lock_delay_ms,
            "available_at_ms": expires_at_ms + ask.lock_delay_ms,
            "session_id": ask.session.session_id if ask.session else "",
            "session_until_ms": ask.session.until_ms if ask.session else 0,
            "ttl": clauses.ttl_seconds(expires_at_ms, fence),
        }

    def _judged(self, now: Now) -> dict[str, int]:
        return {
            "now_ms": now.ms,
            "judged_ms": now.judged_ms,
            "free_before_ms": now.free_before_ms,
            "max_attempts": self.ask.max_attempts,
        }

    def _pinned(self) -> dict[str, str | int]:
        match self.seen:
            case FenceSeen(fence):
                return {"fence_seen": fence}
            case DeadHolder() as dead:
                return {
                    "seen_lease_id": dead.lease_id,
                    "seen_session_id": dead.session_id,
                    "seen_session_until_ms": dead.session_until_ms,
                    "ended_at_ms": dead.ended_at_ms,
                }
            case None:
                return {}

    def _fence(self, now: Now) -> int:
        match self.seen:
            case FenceSeen(fence):
                return fence + 1
            case DeadHolder(fence=fence):
                return max(now.us, fence + 1)
            case None:
                return now.us

    def applied(self, applied: Applied) -> Outcome:
        row = read(applied.row or {})
        return Claimed(row, applied.now, row.holder_until_ms)

    def refused(self, row: Lease | None, now: Now) -> "Settled[Outcome] | Claim | AskSession[Settled[Outcome] | Claim]":
        if row is None:  # TTL took the row away between two writes: the next one finds a name never seen
            return replace(self, seen=None)
        if self.ask.wrote(row):
            return Settled(self.my_own(row, now))
        match standing(row, now):
            case InDoubt():
                return AskSession(
                    str(row.session_id),
                    judges=True,
                    answered=lambda session, then: self._judged_dead(row, session, then),
                )
            case Free():
                return self._of_free(row, FenceSeen(row.fence))
            case Held() as held if self._is_my_sessions(row, now):
                return Settled(Claimed(row, now, held.until_ms))
            case in_the_way:
                return Settled(in_the_way)

    def _of_free(self, row: Lease, seen: FenceSeen | DeadHolder) -> "Settled[Outcome] | Claim":
        if row.attempt >= self.ask.max_attempts:
            return Settled(Exhausted(row, self.ask.max_attempts))
        return replace(self, seen=seen)

    def _judged_dead(self, row: Lease, session: Alive | Dead, now: Now) -> "Settled[Outcome] | Claim":
        match standing_judged(row, session, now):
            case Free():
                dead = DeadHolder(
                    lease_id=str(row.lease_id),
                    session_id=str(row.session_id),
                    session_until_ms=row.session_until_ms or 0,
                    fence=row.fence,
                    ended_at_ms=row.holder_until_ms,
                )
                return self._of_free(row, dead)
            case in_the_way:
                return Settled(in_the_way)

    def _is_my_sessions(self, row: Lease, now: Now) -> bool:
        """Both times without a key: with one, the same session is a contender like everyone else."""
        ask = self.ask
        asked_again = ask.again_in_session and ask.session is not None and ask.idempotency_key is None
        mine = asked_again and row.session_id == (ask.session and ask.session.session_id)
        return mine and row.principal == ask.principal and not row.body_hash and row.holder_until_ms > now.ms

    def my_own(self, row: Lease, now: Now) -> Claimed:
        """The row carries my key, so an earlier copy of this very request was applied and its answer got lost."""
        self.ask.require_same_body(row)
        until_ms = self._still_mine_until_ms(row)
        if row.state == HELD and until_ms > now.ms:
            return Claimed(row, now, until_ms)
        if self.ask.idempotency_key is None:
            raise UpstreamUnavailable(
                "The store answered so late that the lease ended before it could be told. Try again.",
                logged=f"the lease of {self.key} ended before its claim was answered",
                retry_after_ms=1000,
            )
        raise not_current(
            row, now, "The lease that this idempotency_key claimed has ended. Use a new key to claim again"
        )

    def _still_mine_until_ms(self, row: Lease) -> int:
        """This request has read the session, maybe after the row last heard of it."""
        session = self.ask.session
        if session is None or row.session_id != session.session_id:
            return row.holder_until_ms
        return row.until_ms_with(session.until_ms)
