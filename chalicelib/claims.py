"""Claims over several names at once: any one of them, or all of them."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from chalicelib import names, outcomes
from chalicelib.clock import Clock, Now
from chalicelib.errors import LeaseNotCurrent, UpstreamUnavailable
from chalicelib.forms import Write
from chalicelib.held import HeldLeases
from chalicelib.leases import MOST_WRITES, Leases, readable
from chalicelib.outcomes import Claimed, Free, InDoubt
from chalicelib.row import Lease
from chalicelib.store import AllApplied, NoneApplied, Store
from chalicelib.verbs import claim
from chalicelib.verbs.claim import Claim
from chalicelib.verbs.verb import AskSession, Settled


@dataclass(frozen=True, slots=True)
class NoneOf:
    """Who is in the way, or why there is no use in it."""

    refusals: Sequence[claim.Refusal]
    unreadable: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AllOf:
    claimed: Sequence[Claimed]


@dataclass(slots=True)
class Sorted:
    """The names of a claim-any as one batch read shows them. Of the doubtful only a session can tell."""

    free: list[claim.Ask] = field(default_factory=list)
    doubtful: list[claim.Ask] = field(default_factory=list)
    refusals: dict[str, claim.Refusal] = field(default_factory=dict)


class Claims:
    def __init__(self, store: Store, leases: Leases, held: HeldLeases, *, draw: Callable[[], UUID]) -> None:
        self._store = store
        self._leases = leases
        self._held = held
        self._draw = draw

    def any_of(self, asks: Sequence[claim.Ask], clock: Clock) -> Claimed | NoneOf:
        """One batch read; then one write on a name that seems free, the next one on a refusal."""
        rows = self._held.rows([ask.key for ask in asks], clock)
        known = {row.key: row for row in rows.readable}
        mine = _claimed_before(asks, known, clock)
        if mine is not None:
            return mine
        backlog = _sorted_out([ask for ask in asks if ask.key not in rows.unreadable], known, clock.now())
        for ask in [*backlog.free, *backlog.doubtful]:
            outcome = self._claimed_unless_broken(ask, rows.unreadable, clock)
            if isinstance(outcome, Claimed):
                return outcome
            if outcome is not None:
                backlog.refusals[ask.key] = outcome
        if rows.unreadable and not backlog.refusals:
            raise _unreadable(rows.unreadable)
        return NoneOf(list(backlog.refusals.values()), rows.unreadable)

    def _claimed_unless_broken(self, ask: claim.Ask, broken: list[str], clock: Clock) -> claim.Outcome | None:
        """What cannot be read of one name keeps nobody from the others. Nobody is told that a name is taken which was
        never tried, either: when time runs out, the request fails."""
        try:
            return self._leases.claim(ask, clock)
        except UpstreamUnavailable:
            if not clock.allows_another_attempt():
                raise
            broken.append(ask.key)
            return None

    def all_of(self, asks: Sequence[claim.Ask], clock: Clock) -> AllOf | NoneOf:
        """One transaction; another only where the refusals have shown that a wiser one will do."""
        claims = [Claim(ask) for ask in asks]
        for _ in range(MOST_WRITES):
            result = self._store.apply_all(partial(self._writes, claims), clock)
            if isinstance(result, AllApplied):
                return self._as_stored(result, clock)
            wiser = self._read_refusals(claims, result, clock)
            if isinstance(wiser, AllOf | NoneOf):
                return wiser
            claims = wiser
        raise _changing()

    def _writes(self, claims: Sequence[Claim], now: Now) -> Sequence[Write]:
        return [one.write(now, self._draw()) for one in claims]

    def _read_refusals(
        self, claims: Sequence[Claim], result: NoneApplied, clock: Clock
    ) -> AllOf | NoneOf | list[Claim]:
        settled: list[claim.Outcome] = []
        wiser: list[Claim] = []
        for one, refused in zip(claims, result.refused, strict=True):
            then = one if refused is None else self._after(one, readable(refused.row) if refused.row else None, clock)
            if isinstance(then, Settled):
                settled.append(then.outcome)
            else:
                wiser.append(then)
        in_the_way = [outcome for outcome in settled if not isinstance(outcome, Claimed)]
        mine = [outcome for outcome in settled if isinstance(outcome, Claimed)]
        if mine and (wiser or in_the_way):  # my key claimed all of them once, and one of them has ended since
            raise LeaseNotCurrent(
                "A part of what this idempotency_key claimed has ended. Release the rest, and use a new key to claim "
                "all of them again.",
                still_held=[names.name_of(one.row.key) for one in mine],
            )
        if in_the_way:
            return NoneOf(in_the_way)
        return AllOf(mine) if mine else wiser

    def _after(self, one: Claim, row: Lease | None, clock: Clock) -> Settled[claim.Outcome] | Claim:
        then = one.refused(row, clock.now())
        return self._leases.asked(then, clock) if isinstance(then, AskSession) else then

    def _as_stored(self, result: AllApplied, clock: Clock) -> AllOf:
        """A transaction returns no rows, and the answer tells of attempts and of those who had the jobs before."""
        granted = {write.key: write.values["lease_id"] for write in result.writes}
        rows = {row.key: row for row in self._held.rows(list(granted), clock).readable}
        if any(key not in rows or rows[key].lease_id != lease_id for key, lease_id in granted.items()):
            raise _changing()
        return AllOf([Claimed(rows[key], result.now, rows[key].holder_until_ms) for key in granted])


def _claimed_before(asks: Sequence[claim.Ask], known: dict[str, Lease], clock: Clock) -> Claimed | None:
    """A repeat of this very request finds its key in the row that it claimed, and never claims a second one."""
    for ask in asks:
        row = known.get(ask.key)
        if ask.idempotency_key and row is not None and ask.wrote(row):
            return Claim(ask).my_own(row, clock.now())
    return None


def _sorted_out(asks: Sequence[claim.Ask], known: dict[str, Lease], now: Now) -> Sorted:
    backlog = Sorted()
    for ask in asks:
        match outcomes.standing(known[ask.key], now) if ask.key in known else None:
            case None | Free():
                backlog.free.append(ask)
            case InDoubt():
                backlog.doubtful.append(ask)
            case refusal:
                backlog.refusals[ask.key] = refusal
    return backlog


def from_the_callers_start(asks: Sequence[claim.Ask]) -> Sequence[claim.Ask]:
    """Each caller walks from a place of its own, so that a swarm does not queue at the same name."""
    start = zlib.crc32(asks[0].retry_key.encode()) % len(asks)
    return [*asks[start:], *asks[:start]]


def _unreadable(keys: Sequence[str]) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "What is stored under these names cannot be read at the moment, so none is granted. Try again, or name others.",
        logged=f"unreadable: {', '.join(keys)}",
        retry_after_ms=1000,
    )


def _changing() -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "These names changed hands several times while the request was under way. Try again.",
        logged="the names of a claim-all changed under each of its transactions",
        retry_after_ms=1000,
    )
