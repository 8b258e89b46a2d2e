"""What a verb comes to, and how a row that refused one is read. All pure: a row and a time in, a value out."""

from dataclasses import dataclass

from chalicelib import names
from chalicelib.clock import Now
from chalicelib.errors import IdempotencyKeyReused, LeaseNotCurrent, UpstreamUnavailable
from chalicelib.row import HELD, RELEASED, Lease
from chalicelib.times import rfc3339
from chalicelib.verbs import Acquire, Release, Renew


@dataclass(frozen=True, slots=True)
class Acquired:
    """The lease is the caller's. `now_ms` is the reading that `expires_at_ms` is to be counted from."""

    lease_id: str
    fence: int
    expires_at_ms: int
    now_ms: int
    metadata_json: str


@dataclass(frozen=True, slots=True)
class Held:
    row: Lease
    now: Now

    @property
    def free_in_ms(self) -> int:
        """How long until another claim is sure to make sense: the end, the margin, and any lock delay."""
        end_ms = max(self.row.expires_at_ms + self.now.margin_ms, self.row.available_at_ms)
        return max(1, int(end_ms) - self.now.judged_ms)


@dataclass(frozen=True, slots=True)
class Delayed:
    available_at_ms: int
    lock_delay_ms: int
    now: Now


@dataclass(frozen=True, slots=True)
class Renewed:
    lease_id: str
    expires_at_ms: int
    now_ms: int
    late: bool


@dataclass(frozen=True, slots=True)
class Released:
    pass


@dataclass(frozen=True, slots=True)
class Free:
    """Nobody holds it. `fence` is the last one that was granted, 0 if there never was one."""

    name: str
    fence: int


class FenceAhead(Exception):
    """No outcome yet: only the row's fence stood in the way, so one more write, above that fence, will settle it."""

    def __init__(self, fence: int) -> None:
        super().__init__(fence)
        self.fence = fence


def standing(row: Lease, now: Now) -> Held | Delayed | Free:
    """How a row stands for everybody but its holder: the reading of the claim's own condition."""
    if row.state == HELD and row.expires_at_ms > now.free_before_ms:
        return Held(row, now)
    if row.lock_delay_ms and row.available_at_ms > now.judged_ms:
        return Delayed(int(row.available_at_ms), int(row.lock_delay_ms), now)
    return Free(names.name_of(row.key), int(row.fence))


def seen(key: str, row: Lease | None, now: Now) -> Held | Free:
    """For those who only look, a name in its lock delay is free."""
    if row is None:
        return Free(names.name_of(key), 0)
    match standing(row, now):
        case Held() as held:
            return held
        case Delayed() | Free():
            return Free(names.name_of(key), int(row.fence))


def of_refused_acquire(ask: Acquire, row: Lease | None, now: Now) -> Acquired | Held | Delayed:
    if row is None:  # TTL took the row away between two writes: the next one finds a name never seen
        raise FenceAhead(0)
    if row.idempotency_key == ask.retry_key and row.principal == ask.principal:
        return _my_own_claim(ask, row, now)
    match standing(row, now):
        case Free():
            raise FenceAhead(int(row.fence))
        case in_the_way:
            return in_the_way


def _my_own_claim(ask: Acquire, row: Lease, now: Now) -> Acquired:
    """The row carries my key, so an earlier copy of this very request was applied and its answer got lost."""
    if row.body_hash != ask.body_hash:
        raise IdempotencyKeyReused(
            "This idempotency_key was used for this name with another body. "
            "Repeat a request unchanged, or choose a new key for a new one.",
            field="idempotency_key",
        )
    if row.state == HELD and row.expires_at_ms > now.ms:
        return Acquired(str(row.lease_id), int(row.fence), int(row.expires_at_ms), now.ms, ask.metadata_json)
    if ask.idempotency_key is None:
        raise UpstreamUnavailable(
            "The store answered so late that the lease ended before it could be told. Try again.",
            logged=f"the lease of {ask.key} ended before its claim was answered",
            retry_after_ms=1000,
        )
    raise not_current(row, now, "The lease that this idempotency_key claimed has ended. Use a new key to claim again")


def of_refused_renew(ask: Renew, row: Lease | None, now: Now) -> Renewed:
    if row is None or row.lease_id != ask.lease_id:
        raise not_current(row, now, "Stop the work that it protected, and acquire again if it still needs doing")
    if row.expires_at_ms > now.ms + ask.ttl_ms:
        return Renewed(ask.lease_id, int(row.expires_at_ms), now.ms, late=False)
    raise FenceAhead(int(row.fence))


def of_refused_release(ask: Release, row: Lease | None, now: Now) -> Released:
    if row is None:
        raise not_current(row, now, "There is nothing to release")
    if row.lease_id == ask.lease_id:
        raise FenceAhead(int(row.fence))
    if row.state == RELEASED and row.last_lease_id == ask.lease_id:
        return Released()
    raise not_current(row, now, "Nothing was released")


def not_current(row: Lease | None, now: Now, advice: str) -> LeaseNotCurrent:
    if row is None:
        return LeaseNotCurrent(f"This lease is not current: the name is free. {advice}.", status="free")
    match seen(row.key, row, now):
        case Held():
            until = rfc3339(int(row.expires_at_ms))
            return LeaseNotCurrent(
                f"This lease is not current: {row.owner} holds the name until {until}. {advice}.",
                status="held",
                owner=row.owner,
                fencing_token=int(row.fence),
                expires_at=until,
            )
        case Free(fence=fence):
            return LeaseNotCurrent(
                f"This lease is not current: the name is free. {advice}.", status="free", fencing_token=fence
            )
