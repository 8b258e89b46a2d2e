"""Hand over: the owner passes the job on in one write. The old lease is void, and so are its key and its session."""

from dataclasses import dataclass, replace
from functools import cache
from uuid import UUID

from pynamodb.expressions.condition import Condition

from chalicelib import lease_ids, sessions
from chalicelib.clock import Now
from chalicelib.forms import Form, Write, compile_form, number, text
from chalicelib.outcomes import Claimed, not_current
from chalicelib.row import EXPIRED, HANDED_OVER, HELD, Lease, read
from chalicelib.sessions import Alive, Dead
from chalicelib.store import Applied
from chalicelib.verbs import clauses
from chalicelib.verbs.repeat import Repeatable
from chalicelib.verbs.verb import AskSession, Settled

_pass_on = (
    *clauses.changed("handover"),
    Lease.fence.set(Lease.fence + 1),
    Lease.lease_id.set(text("new_lease_id")),
    Lease.idempotency_key.set(text("idempotency_key")),
    Lease.body_hash.set(text("body_hash")),
    Lease.owner.set(text("owner")),
    Lease.principal.set(text("principal")),
    Lease.acquired_at_ms.set(number("now_ms")),
    Lease.heartbeat_at_ms.set(number("now_ms")),
    Lease.ttl.set(number("ttl")),
    Lease.previous_owner.set(Lease.owner),
    Lease.previous_ended.set(HANDED_OVER),
    Lease.previous_ended_at_ms.set(number("now_ms")),
    Lease.previous_reason.set(""),
    Lease.ended.set(EXPIRED),
    *clauses.cleared,
)
_given_end = (
    Lease.expires_at_ms.set(number("expires_at_ms")),
    Lease.lease_ttl_ms.set(number("lease_ttl_ms")),
    Lease.available_at_ms.set(Lease.lock_delay_ms + number("expires_at_ms")),
)
_own_end = (Lease.expires_at_ms.set(Lease.lease_ttl_ms + number("now_ms")),)
_session_lives = Lease.session_id.does_not_exist() | (Lease.session_until_ms > number("now_ms"))
_session_as_seen = Lease.session_until_ms == number("seen_session_until_ms")


@cache
def form(*, given: bool, looked: bool, checkpoint: bool) -> Form:
    actions = (*_pass_on, *(_given_end if given else _own_end))
    if checkpoint:
        actions = (*actions, Lease.checkpoint.set(text("checkpoint")))
    return compile_form(Lease, condition=_condition(given, looked), actions=actions, returns="ALL_NEW")


def _condition(given: bool, looked: bool) -> Condition:
    condition: Condition = clauses.mine & clauses.ttl_covers_fence & (_session_as_seen if looked else _session_lives)
    if not given:
        # There is no adding up of three: where a lock delay counts from the end, the TTL has to be given.
        condition &= Lease.lock_delay_ms == 0
    return condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Repeatable):
    key: str
    lease_id: str
    to_owner: str
    ttl_ms: int | None
    checkpoint_json: str | None


@dataclass(frozen=True, slots=True)
class Handover:
    ask: Ask
    fence_seen: int = 0
    lease_ttl_ms: int | None = None
    session_until_ms: int | None = None

    @property
    def key(self) -> str:
        return self.ask.key

    @property
    def _ttl_ms(self) -> int | None:
        return self.ask.ttl_ms if self.ask.ttl_ms is not None else self.lease_ttl_ms

    def write(self, now: Now, drawn: UUID) -> Write:
        ask, latest_end_ms = self.ask, clauses.latest_end_ms(now, self._ttl_ms)
        chosen = form(
            given=self._ttl_ms is not None,
            looked=self.session_until_ms is not None,
            checkpoint=ask.checkpoint_json is not None,
        )
        values: dict[str, str | int] = {
            "lease_id": ask.lease_id,
            "new_lease_id": lease_ids.unbound(drawn),
            "idempotency_key": ask.retry_key,
            "body_hash": ask.stored_hash,
            "owner": ask.to_owner,
            "principal": ask.principal,
            "now_ms": now.ms,
            "expires_at_ms": latest_end_ms,
            "lease_ttl_ms": self._ttl_ms or 0,
            "seen_session_until_ms": self.session_until_ms or 0,
            "checkpoint": ask.checkpoint_json or "",
            **clauses.kept_until(latest_end_ms, self.fence_seen),
        }
        return Write(chosen, self.key, values)

    def applied(self, applied: Applied) -> Claimed:
        row = read(applied.row or {})
        return Claimed(row, applied.now, row.holder_until_ms)

    def refused(
        self, row: Lease | None, now: Now
    ) -> "Settled[Claimed] | Handover | AskSession[Settled[Claimed] | Handover]":
        if row is not None and row.lease_id == self.ask.lease_id:
            return self._of_my_lease(row, now)
        if row is not None and self.ask.wrote(row):
            return Settled(self._my_own(row, now))
        raise not_current(row, now, "Nothing was handed over")

    def _of_my_lease(self, row: Lease, now: Now) -> "Handover | AskSession[Settled[Claimed] | Handover]":
        if row.session_until_ms is not None and row.session_until_ms <= now.ms and self.session_until_ms is None:
            return AskSession(
                str(row.session_id), judges=False, answered=lambda session, _now: self._session_told(row, session)
            )
        ttl_ms = row.lease_ttl_ms if row.lock_delay_ms else None
        return replace(self, fence_seen=row.fence, lease_ttl_ms=ttl_ms, session_until_ms=None)

    def _session_told(self, row: Lease, session: Alive | Dead) -> "Handover":
        if isinstance(session, Dead):
            raise sessions.expired()
        return replace(self, session_until_ms=row.session_until_ms)

    def _my_own(self, row: Lease, now: Now) -> Claimed:
        """The row carries my key, so an earlier copy of this very request was applied and its answer got lost."""
        self.ask.require_same_body(row)
        if row.state == HELD and row.holder_until_ms > now.ms:
            return Claimed(row, now, row.holder_until_ms)
        raise not_current(row, now, "The lease that was handed over has ended")
