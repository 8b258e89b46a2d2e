"""What a verb comes to, and how a row stands. All pure: a row and a time in, a value out."""

from dataclasses import dataclass

from chalicelib import names
from chalicelib.clock import Now
from chalicelib.errors import LeaseNotCurrent
from chalicelib.row import DONE, HELD, Lease
from chalicelib.sessions import Alive, Dead
from chalicelib.times import rfc3339


@dataclass(frozen=True, slots=True)
class Claimed:
    """The lease is the caller's, until `until_ms`, to be counted from `now`."""

    row: Lease
    now: Now
    until_ms: int


@dataclass(frozen=True, slots=True)
class Held:
    """`until_ms` is where its holder's authority ends, as far as is known: a session may have been kept alive since."""

    row: Lease
    now: Now
    until_ms: int

    @property
    def free_in_ms(self) -> int:
        """How long until another claim is sure to make sense: the end, the margin, and any lock delay."""
        free_at_ms = self.until_ms + max(self.now.margin_ms, self.row.lock_delay_ms)
        return max(1, free_at_ms - self.now.judged_ms)


@dataclass(frozen=True, slots=True)
class Delayed:
    row: Lease
    now: Now
    available_at_ms: int


@dataclass(frozen=True, slots=True)
class Done:
    row: Lease
    now: Now
    until_ms: int


@dataclass(frozen=True, slots=True)
class Exhausted:
    """Free, but each of the attempts that the caller allows has been used up."""

    row: Lease
    max_attempts: int


@dataclass(frozen=True, slots=True)
class Kept:
    """The lease is still the caller's. `carried`: from now on its session's keepalives are enough."""

    lease_id: str
    until_ms: int
    now: Now
    late: bool
    carried: bool
    cancel_reason: str | None


@dataclass(frozen=True, slots=True)
class Released:
    """`done_until_ms` is 0 unless the job was finished."""

    now_ms: int
    done_until_ms: int = 0


@dataclass(frozen=True, slots=True)
class Free:
    """Nobody holds it. `row` is None if nobody ever did."""

    name: str
    row: Lease | None

    @property
    def fence(self) -> int:
        return self.row.fence if self.row else 0


@dataclass(frozen=True, slots=True)
class InDoubt:
    """The row alone cannot tell: what it knows of its session's end has passed."""

    row: Lease


Standing = Held | Delayed | Done | Free | InDoubt


def standing(row: Lease, now: Now) -> Standing:
    """How a row stands for everybody but its holder: the reading of the claim's own condition."""
    match row.state:
        case "held" if _own_end_has_passed(row, now):
            return _over(row, now, row.expires_at_ms)
        case "held" if row.session_until_ms is not None and row.session_until_ms <= now.free_before_ms:
            return InDoubt(row)
        case "held":
            return Held(row, now, row.holder_until_ms)
        case "done" if (row.done_until_ms or 0) > now.judged_ms:
            return Done(row, now, row.done_until_ms or 0)
        case _:
            return _over(row, now, row.expires_at_ms)


def standing_by(row: Lease, session: Alive | Dead, now: Now) -> Held | Delayed | Free:
    """The same for those who only look, when they have looked at its session too: what a claim would find."""
    known_until_ms = row.until_ms_with(session.until_ms) if isinstance(session, Alive) else row.holder_until_ms
    if known_until_ms > now.free_before_ms:
        return Held(row, now, known_until_ms)
    return _over(row, now, row.holder_until_ms)


def standing_judged(row: Lease, session: Alive | Dead, now: Now) -> Held | Delayed | Free:
    """The same for those who act on it: a session whose death is not written lives, whatever the clock says by now."""
    if isinstance(session, Alive):
        return Held(row, now, row.until_ms_with(session.until_ms))
    return _over(row, now, row.holder_until_ms)


def needs_its_session(row: Lease, standing: Standing) -> bool:
    """Only its session can tell whether it is held, or for how long."""
    return isinstance(standing, InDoubt) or (isinstance(standing, Held) and bool(row.carried))


def _own_end_has_passed(row: Lease, now: Now) -> bool:
    return not row.carried and row.expires_at_ms <= now.free_before_ms


def _over(row: Lease, now: Now, ended_at_ms: int) -> Delayed | Free:
    available_at_ms = ended_at_ms + row.lock_delay_ms
    if row.lock_delay_ms and available_at_ms > now.judged_ms:
        return Delayed(row, now, available_at_ms)
    return Free(names.name_of(row.key), row)


def not_current(row: Lease | None, now: Now, advice: str) -> LeaseNotCurrent:
    if row is None or row.state != HELD or _own_end_has_passed(row, now):
        status = "done" if row and row.state == DONE else "free"
        return LeaseNotCurrent(
            f"This lease is not current: the name is {status}. {advice}.",
            status=status,
            fencing_token=row.fence if row else 0,
        )
    until = rfc3339(row.holder_until_ms)
    return LeaseNotCurrent(
        f"This lease is not current: {row.owner} holds the name until {until}. {advice}.",
        status="held",
        owner=row.owner,
        fencing_token=row.fence,
        expires_at=until,
    )
