"""Cancel, evict and reopen: what others may do to a job. Each may name the fence that it means.

Evict overrides the promise of one owner until the evicted one hears of it: only the fence protects then.
"""

from dataclasses import dataclass, replace
from uuid import UUID

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.clock import Now
from chalicelib.errors import Conflict
from chalicelib.forms import Form, Write, compile_form, text
from chalicelib.outcomes import Held, InDoubt, standing
from chalicelib.row import DONE, EVICTED, EXPIRED, HELD, RELEASED, Lease, read
from chalicelib.store import Applied
from chalicelib.times import rfc3339
from chalicelib.verbs import clauses
from chalicelib.verbs.verb import Settled

Forms = dict[bool, Form]


def _forms(condition: Condition, actions: tuple[Action, ...]) -> Forms:
    """By whether the caller names a fence. Each says who asked for it, and is not done twice by one request."""
    condition &= Lease.last_request.does_not_exist() | (Lease.last_request != text("request"))
    actions = (*actions, Lease.last_request.set(text("request")))
    return {
        False: compile_form(Lease, condition=condition, actions=actions, returns="ALL_OLD"),
        True: compile_form(Lease, condition=condition & clauses.fence_as_given, actions=actions, returns="ALL_OLD"),
    }


CANCEL = _forms(clauses.live, (*clauses.changed("cancel"), Lease.cancel_reason.set(text("reason"))))
EVICT = _forms(
    clauses.live & clauses.ttl_covers_fence,
    (*clauses.changed("evict"), *clauses.over(RELEASED, how=EVICTED), Lease.reason.set(text("reason"))),
)
# Done, or free with attempts counted against it.
REOPEN = _forms(
    (Lease.state == DONE) | (Lease.state.is_in(RELEASED, EXPIRED) & (Lease.attempt > 0)),
    (
        *clauses.changed("reopen"),
        Lease.state.set(RELEASED),
        Lease.attempt.set(0),
        Lease.reason.set(text("reason")),
        Lease.checkpoint.remove(),
        Lease.result.remove(),
        Lease.done_until_ms.remove(),
    ),
)


@dataclass(frozen=True, slots=True)
class Steered:
    """The row as it was, or if our own first attempt was applied and its reply lost, as it is."""

    row: Lease


@dataclass(frozen=True, slots=True)
class Unmarked:
    """Held by the row alone: once its end is marked, it can be reopened."""

    row: Lease


@dataclass(frozen=True, slots=True)
class Ask:
    key: str
    reason: str
    fence: int | None
    principal: str
    request_key: str

    @property
    def request(self) -> str:
        return f"{self.principal} {self.request_key}"


@dataclass(frozen=True, slots=True)
class Steer:
    """Cancel and evict: somebody must hold the job."""

    ask: Ask
    forms: Forms
    fence_seen: int = 0

    @property
    def key(self) -> str:
        return self.ask.key

    def write(self, now: Now, _drawn: UUID) -> Write:
        return _write(self.forms, self.ask, now, self.fence_seen)

    def applied(self, applied: Applied) -> Steered:
        return Steered(read(applied.row or {}))

    def refused(self, row: Lease | None, now: Now) -> "Settled[Steered] | Steer":
        if row is not None and row.last_request == self.ask.request:
            return Settled(Steered(row))
        _require_fence(self.ask, row)
        if row is None or not isinstance(standing(row, now), Held | InDoubt):
            status = "done" if row is not None and row.state == DONE else "free"
            raise Conflict(f"Nobody holds this job: it is {status}. There is nothing to do.", status=status)
        return replace(self, fence_seen=row.fence)


@dataclass(frozen=True, slots=True)
class Reopen:
    """Nobody may hold the job."""

    ask: Ask

    @property
    def key(self) -> str:
        return self.ask.key

    def write(self, now: Now, _drawn: UUID) -> Write:
        return _write(REOPEN, self.ask, now)

    def applied(self, applied: Applied) -> Steered | Unmarked:
        return Steered(read(applied.row or {}))

    def refused(self, row: Lease | None, now: Now) -> Settled[Steered | Unmarked]:
        if row is not None and row.last_request == self.ask.request:
            return Settled(Steered(row))
        _require_fence(self.ask, row)
        if row is None or row.state != HELD:
            raise Conflict("This job is free already, with no attempt counted against it.", status="free")
        if isinstance(standing(row, now), Held):
            raise held(row)
        return Settled(Unmarked(row))


def held(row: Lease) -> Conflict:
    return Conflict(
        f"{row.owner} holds this job until {rfc3339(row.holder_until_ms)}. Evict it first, or wait for its end.",
        status="held",
        owner=row.owner,
        fencing_token=row.fence,
    )


def cancel(ask: Ask) -> Steer:
    return Steer(ask, CANCEL)


def evict(ask: Ask) -> Steer:
    return Steer(ask, EVICT)


def _write(forms: Forms, ask: Ask, now: Now, fence_seen: int = 0) -> Write:
    values: dict[str, str | int] = {
        "reason": ask.reason,
        "fence_given": ask.fence or 0,
        "request": ask.request,
        "now_ms": now.ms,
        "ended_at_ms": now.ms,
        "free_before_ms": now.free_before_ms,
        **clauses.kept_until(now.ms, fence_seen),
    }
    return Write(forms[ask.fence is not None], ask.key, values)


def _require_fence(ask: Ask, row: Lease | None) -> None:
    if ask.fence is None or (row is not None and row.fence == ask.fence):
        return
    raise Conflict(
        "fencing_token: the job has changed hands since. Look at it again, and repeat this with its new token if it "
        "is still meant.",
        field="fencing_token",
        fencing_token=row.fence if row else 0,
    )
