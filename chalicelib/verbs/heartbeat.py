"""Heartbeat and renewal: the row carries this lease id, and its end does not move back.

Which end counts, and what one write makes of it:

    unbound          its own TTL           the end moves to now + TTL
    bound            TTL and session       the end moves; the answer grants the earlier of the two
    carried          the session alone     only a first heartbeat of a bound job makes it so; no end is written

A bound row grants nothing once the session's end as last read has passed: the holder then looks at the session, and
writes what it read. A renewal looks a little earlier, because it is granted no more than what is left until that end:
half of it, and half of the rest, and so on, would be a burst of renewals just before it.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal
from uuid import UUID

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib import lease_ids, sessions
from chalicelib.clock import Now
from chalicelib.forms import Form, Write, compile_form, number, text
from chalicelib.outcomes import Kept, not_current
from chalicelib.row import Lease, authority_until_ms, read
from chalicelib.sessions import Alive, Dead
from chalicelib.store import Applied
from chalicelib.verbs import clauses
from chalicelib.verbs.verb import AskSession, Settled

LOOK_AHEAD_MS = 5_000

# Where the end comes from: the request's TTL, the row's own, or nowhere, because it is beyond that already or because
# the session carries the row.
End = Literal["given", "own", "stays"]


@dataclass(frozen=True, slots=True)
class Ask:
    key: str
    lease_id: str
    ttl_ms: int | None
    # A heartbeat hands a bound job to its session; a lock's renewal does not.
    carries: bool = True
    checkpoint_json: str | None = None
    metadata_json: str | None = None
    logged: bool = False

    @property
    def leaves_something(self) -> bool:
        return self.checkpoint_json is not None or self.metadata_json is not None


@dataclass(frozen=True, slots=True)
class Known:
    """What the lease id promises, and refusals have shown."""

    bound: bool
    session_until_ms: int | None = None  # as the session itself says
    fence: int = 0
    end_lies_beyond: bool = False
    a_later_one_came: bool = False
    lease_ttl_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything that the expressions of a heartbeat depend on."""

    bound: bool
    looked: bool
    carries: bool
    end: End
    ordered: bool
    checkpoint: bool
    metadata: bool
    logged: bool


_later_than_the_last = Lease.heartbeat_at_ms <= number("now_ms")
# By whether a session binds the lease, and whether it has been looked at.
_bindings: dict[tuple[bool, bool], Condition] = {
    (False, False): Lease.session_id.does_not_exist() & clauses.ttl_covers_fence,
    (True, False): Lease.session_until_ms > number("look_until_ms"),
    (True, True): Lease.session_until_ms <= number("session_until_ms"),
}
_ends: dict[End, Condition] = {
    "given": Lease.expires_at_ms <= number("expires_at_ms"),
    # There is no adding up of three: where a lock delay counts from the end, the TTL has to be given.
    "own": (Lease.lock_delay_ms == 0) & (Lease.lease_ttl_ms <= clauses.LONGEST_TTL_MS),
}
_moves: dict[End, tuple[Action, ...]] = {
    "given": (
        Lease.expires_at_ms.set(number("expires_at_ms")),
        Lease.lease_ttl_ms.set(number("lease_ttl_ms")),
        Lease.available_at_ms.set(Lease.lock_delay_ms + number("expires_at_ms")),
    ),
    "own": (Lease.expires_at_ms.set(Lease.lease_ttl_ms + number("now_ms")),),
    "stays": (),
}


@cache
def form(shape: Shape) -> Form:
    return compile_form(Lease, condition=_condition(shape), actions=_actions(shape), returns="ALL_OLD")


def _condition(shape: Shape) -> Condition:
    condition: Condition = clauses.mine & _bindings[shape.bound, shape.looked]
    if shape.end != "stays":
        condition &= _ends[shape.end]
    if shape.ordered:
        condition &= _later_than_the_last
    return condition


def _actions(shape: Shape) -> list[Action]:
    actions = [Lease.op.set("heartbeat"), *_moves[shape.end]]
    if shape.ordered:
        actions.append(Lease.heartbeat_at_ms.set(number("now_ms")))
    if not shape.bound:
        actions.append(Lease.ttl.set(number("ttl")))
    if shape.looked:
        actions.append(Lease.session_until_ms.set(number("session_until_ms")))
    if shape.carries:
        actions.append(Lease.carried.set(True))
    if shape.checkpoint:
        actions.append(Lease.checkpoint.set(text("checkpoint")))
    if shape.metadata:
        actions.append(Lease.metadata.set(text("metadata")))
    if shape.logged:
        actions += [Lease.rev.set(Lease.rev + 1), Lease.at_ms.set(number("now_ms"))]
    return actions


@dataclass(frozen=True, slots=True)
class Heartbeat:
    ask: Ask
    known: Known

    @classmethod
    def of(cls, ask: Ask) -> "Heartbeat":
        return cls(ask, Known(bound=lease_ids.seems_bound(ask.lease_id)))

    @property
    def key(self) -> str:
        return self.ask.key

    @property
    def shape(self) -> Shape:
        leaves = not self.known.a_later_one_came
        carries = self.known.bound and self.ask.carries
        end = self._end(carries)
        checkpoint = leaves and self.ask.checkpoint_json is not None
        metadata = leaves and self.ask.metadata_json is not None
        return Shape(
            bound=self.known.bound,
            looked=self.known.session_until_ms is not None,
            carries=carries,
            end=end,
            # What an older heartbeat leaves behind must not replace what a newer one left: once one has come, this one
            # may still move the end, and nothing else.
            ordered=not self.known.a_later_one_came,
            checkpoint=checkpoint,
            metadata=metadata,
            logged=self.ask.logged,
        )

    def _end(self, carries: bool) -> End:
        if carries or self.known.end_lies_beyond:
            return "stays"
        return "own" if self._ttl_ms is None else "given"

    @property
    def _ttl_ms(self) -> int | None:
        return self.ask.ttl_ms if self.ask.ttl_ms is not None else self.known.lease_ttl_ms

    @property
    def _look_ahead_ms(self) -> int:
        return 0 if self.ask.carries else min(LOOK_AHEAD_MS, (self._ttl_ms or 0) // 2)

    def write(self, now: Now, _drawn: UUID) -> Write:
        latest_end_ms = clauses.latest_end_ms(now, self._ttl_ms)
        values: dict[str, str | int] = {
            "lease_id": self.ask.lease_id,
            "now_ms": now.ms,
            "look_until_ms": now.ms + self._look_ahead_ms,
            "expires_at_ms": latest_end_ms,
            "lease_ttl_ms": self._ttl_ms or 0,
            "session_until_ms": self.known.session_until_ms or 0,
            "checkpoint": self.ask.checkpoint_json or "",
            "metadata": self.ask.metadata_json or "",
            **clauses.kept_until(latest_end_ms, self.known.fence),
        }
        return Write(form(self.shape), self.key, values)

    def applied(self, applied: Applied) -> Kept:
        before = read(applied.row or {})
        now, shape = applied.now, self.shape
        session_until_ms = self.known.session_until_ms if shape.looked else before.session_until_ms
        carried = shape.carries or bool(before.carried)
        return Kept(
            lease_id=self.ask.lease_id,
            until_ms=authority_until_ms(self._own_end_ms(before, now), session_until_ms, carried=carried),
            now=now,
            late=before.until_ms_with(session_until_ms) <= now.ms,
            carried=carried,
            cancel_reason=before.cancel_reason,
        )

    def _own_end_ms(self, before: Lease, now: Now) -> int:
        match self.shape.end:
            case "given":
                return now.ms + (self._ttl_ms or 0)
            case "own":
                return now.ms + before.lease_ttl_ms
            case "stays":
                return before.expires_at_ms

    def refused(
        self, row: Lease | None, now: Now
    ) -> "Settled[Kept] | Heartbeat | AskSession[Settled[Kept] | Heartbeat]":
        if row is None or row.lease_id != self.ask.lease_id:
            raise not_current(row, now, "Stop the work that it protected, and claim it again if it still needs doing")
        is_bound = row.session_id is not None
        if self.known.bound != is_bound:
            return self._wiser(bound=is_bound)
        known_end_is_near = (row.session_until_ms or 0) <= now.ms + self._look_ahead_ms
        if is_bound and known_end_is_near and self.known.session_until_ms is None:
            return AskSession(str(row.session_id), judges=False, answered=self._session_told)
        if is_bound and self.known.session_until_ms is not None:
            return self._after_a_look(row, now)
        return self._about_the_end(row, now)

    def _session_told(self, session: Alive | Dead, _now: Now) -> "Heartbeat":
        """An end that has passed but is not judged yet is no death: the write is made, and grants nothing."""
        if isinstance(session, Dead):
            raise sessions.expired()
        return self._wiser(session_until_ms=session.until_ms)

    def _after_a_look(self, row: Lease, now: Now) -> "Settled[Kept] | Heartbeat":
        if (row.session_until_ms or 0) > (self.known.session_until_ms or 0):  # another request has read it since
            return self._wiser(session_until_ms=None)
        return self._about_the_end(row, now)

    def _about_the_end(self, row: Lease, now: Now) -> "Settled[Kept] | Heartbeat":
        shape = self.shape
        if shape.ordered and row.heartbeat_at_ms > now.ms:
            if shape.end == "given" and row.expires_at_ms <= now.ms + (self._ttl_ms or 0):
                return self._wiser(a_later_one_came=True)
            return Settled(self._as_the_row_says(row, now))
        if shape.end == "given" and row.expires_at_ms > now.ms + (self._ttl_ms or 0):
            if self.ask.leaves_something or shape.looked:
                return self._wiser(end_lies_beyond=True)
            return Settled(self._as_the_row_says(row, now))
        if shape.end == "own" and row.lock_delay_ms:
            return self._wiser(lease_ttl_ms=row.lease_ttl_ms)
        return self._wiser(fence=row.fence)

    def _as_the_row_says(self, row: Lease, now: Now) -> Kept:
        return Kept(
            lease_id=self.ask.lease_id,
            until_ms=row.holder_until_ms,
            now=now,
            late=False,
            carried=bool(row.carried),
            cancel_reason=row.cancel_reason,
        )

    def _wiser(self, **by: bool | int | None) -> "Heartbeat":
        return replace(self, known=replace(self.known, **by))  # type: ignore[arg-type]
