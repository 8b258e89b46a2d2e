"""Release: the row carries this lease id. Its outcome says what becomes of the job."""

from dataclasses import dataclass, replace
from uuid import UUID

from chalicelib.clock import Now
from chalicelib.forms import Form, Write, compile_form, number, text
from chalicelib.outcomes import Released, not_current
from chalicelib.row import DONE, FAILED, RELEASED, Lease
from chalicelib.store import Applied
from chalicelib.verbs import clauses
from chalicelib.verbs.verb import Settled

_mine = clauses.mine & clauses.ttl_covers_fence

FREED = compile_form(
    Lease,
    condition=_mine,
    actions=(*clauses.changed("release"), *clauses.over(RELEASED, how=RELEASED), Lease.attempt.set(0)),
)
# The attempt stays counted.
GAVE_UP = compile_form(
    Lease,
    condition=_mine,
    actions=(
        *clauses.changed("release"),
        *clauses.over(RELEASED, how=FAILED),
        Lease.reason.set(text("reason")),
    ),
)
FINISHED = compile_form(
    Lease,
    condition=_mine,
    actions=(
        *clauses.changed("release"),
        *clauses.over(DONE, how=DONE),
        Lease.attempt.set(0),
        Lease.result.set(text("result")),
        Lease.done_until_ms.set(number("done_until_ms")),
        Lease.checkpoint.remove(),
    ),
)


@dataclass(frozen=True, slots=True)
class Freely:
    """Free again, and its attempts are forgotten."""

    form: Form = FREED
    ended: str = RELEASED

    def values(self, _now: Now) -> dict[str, str | int]:
        return {}


@dataclass(frozen=True, slots=True)
class Failed:
    """Free again; the attempt is counted, and the reason kept for the next owner."""

    reason: str
    form: Form = GAVE_UP
    ended: str = FAILED

    def values(self, _now: Now) -> dict[str, str | int]:
        return {"reason": self.reason}


@dataclass(frozen=True, slots=True)
class Finished:
    """Done, and to be claimed by nobody for a while."""

    result_json: str
    retain_ms: int
    form: Form = FINISHED
    ended: str = DONE

    def values(self, now: Now) -> dict[str, str | int]:
        return {"result": self.result_json, "done_until_ms": now.ms + self.retain_ms}


@dataclass(frozen=True, slots=True)
class Release:
    key: str
    lease_id: str
    outcome: Freely | Failed | Finished = Freely()
    fence_seen: int = 0

    def write(self, now: Now, _drawn: UUID) -> Write:
        outcome = self.outcome.values(now)
        last_ms = int(outcome.get("done_until_ms", now.ms))
        values = {"lease_id": self.lease_id, "now_ms": now.ms, "ended_at_ms": now.ms, **outcome}
        return Write(self.outcome.form, self.key, {**values, **clauses.kept_until(last_ms, self.fence_seen)})

    def applied(self, applied: Applied) -> Released:
        return Released(applied.now.ms, int(applied.write.values.get("done_until_ms", 0)))

    def refused(self, row: Lease | None, now: Now) -> "Settled[Released] | Release":
        if row is not None and row.lease_id == self.lease_id:
            return replace(self, fence_seen=row.fence)
        if row is not None and row.last_lease_id == self.lease_id and self._ended_as_asked(row):
            return Settled(Released(row.expires_at_ms, row.done_until_ms or 0))
        raise not_current(row, now, "Nothing was released")

    def _ended_as_asked(self, row: Lease) -> bool:
        return row.state in (RELEASED, DONE) and row.ended == self.outcome.ended
