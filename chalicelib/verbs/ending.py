"""The ends that no holder asks for: its time is over, its session is dead, or its session was deleted."""

from dataclasses import dataclass
from uuid import UUID

from chalicelib.clock import Now
from chalicelib.forms import Write, compile_form, number, text
from chalicelib.outcomes import Delayed, Free, standing
from chalicelib.row import EXPIRED, RELEASED, Lease
from chalicelib.store import Applied
from chalicelib.verbs import clauses
from chalicelib.verbs.verb import Settled

_expire = (*clauses.changed("expire"), *clauses.over(EXPIRED, how=EXPIRED))
LAPSED = compile_form(
    Lease,
    condition=clauses.lapsed
    & (Lease.lease_id == text("seen_lease_id"))
    & (Lease.expires_at_ms == number("ended_at_ms")),
    actions=_expire,
)
LEFT_BY_THE_DEAD = compile_form(Lease, condition=clauses.as_seen, actions=_expire)
SESSION_DELETED = compile_form(
    Lease,
    # What was over before stays for the sweep to mark: an end by time is counted against the job, a release is not.
    condition=clauses.live & (Lease.session_id == text("session_id")) & clauses.ttl_covers_fence,
    actions=(*clauses.changed("release"), *clauses.over(RELEASED, how=RELEASED), Lease.attempt.set(0)),
)


@dataclass(frozen=True, slots=True)
class Expire:
    """Marks as expired the very lease that was seen to be over; if anything has changed since, it is left alone.

    `session_is_dead`: its session's death is written; otherwise its own time is over.
    """

    seen: Lease
    session_is_dead: bool

    @property
    def key(self) -> str:
        return self.seen.key

    def write(self, now: Now, _drawn: UUID) -> Write:
        seen = self.seen
        values: dict[str, str | int] = {
            "seen_lease_id": str(seen.lease_id),
            "seen_session_id": str(seen.session_id),
            "seen_session_until_ms": seen.session_until_ms or 0,
            "ended_at_ms": seen.holder_until_ms if self.session_is_dead else seen.expires_at_ms,
            "now_ms": now.ms,
            "free_before_ms": now.free_before_ms,
        }
        form = LEFT_BY_THE_DEAD if self.session_is_dead else LAPSED
        return Write(form, self.key, {**values, **clauses.kept_until(now.ms, seen.fence)})

    def applied(self, _applied: Applied) -> bool:
        return True

    def refused(self, row: Lease | None, _now: Now) -> Settled[bool]:
        """Refused by our own first attempt, whose reply was lost, is as good as applied."""
        done = row is not None and row.state == EXPIRED and row.last_lease_id == self.seen.lease_id
        return Settled(done)


@dataclass(frozen=True, slots=True)
class EndWithSession:
    key: str
    session_id: str
    fence_seen: int = 0

    def write(self, now: Now, _drawn: UUID) -> Write:
        values: dict[str, str | int] = {
            "session_id": self.session_id,
            "now_ms": now.ms,
            "ended_at_ms": now.ms,
            "free_before_ms": now.free_before_ms,
        }
        return Write(SESSION_DELETED, self.key, {**values, **clauses.kept_until(now.ms, self.fence_seen)})

    def applied(self, _applied: Applied) -> bool:
        return True

    def refused(self, row: Lease | None, now: Now) -> "Settled[bool] | EndWithSession":
        if row is None or row.session_id != self.session_id or isinstance(standing(row, now), Delayed | Free):
            return Settled(False)
        return EndWithSession(self.key, self.session_id, row.fence)
