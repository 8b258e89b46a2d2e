"""The engine: applies a verb, and says what came of it."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from chalicelib import names, outcomes, row
from chalicelib.clock import Clock, Now
from chalicelib.errors import UpstreamUnavailable
from chalicelib.forms import Write
from chalicelib.outcomes import Claimed, Delayed, Done, Free, Held, InDoubt, Kept, Released
from chalicelib.row import Lease, RawRow, UnreadableRow
from chalicelib.sessions import Alive, Sessions
from chalicelib.store import Applied, Store
from chalicelib.verbs import claim, ending, handover, heartbeat, release, steering
from chalicelib.verbs.steering import Steered, Unmarked
from chalicelib.verbs.verb import AskSession, Settled, Verb

# How many writes a verb may make before we give up on a row that changes under each of them. Alone it makes one.
MOST_WRITES = 5

Outcome = TypeVar("Outcome")
Answered = TypeVar("Answered")


class Leases:
    def __init__(self, store: Store, sessions: Sessions, *, draw: Callable[[], UUID]) -> None:
        self._store = store
        self._sessions = sessions
        self._draw = draw

    def claim(self, ask: claim.Ask, clock: Clock) -> claim.Outcome:
        return self.settle(claim.Claim(ask), clock)

    def heartbeat(self, ask: heartbeat.Ask, clock: Clock) -> Kept:
        return self.settle(heartbeat.Heartbeat.of(ask), clock)

    def release(self, verb: release.Release, clock: Clock) -> Released:
        return self.settle(verb, clock)

    def hand_over(self, ask: handover.Ask, clock: Clock) -> Claimed:
        return self.settle(handover.Handover(ask), clock)

    def steer(self, verb: steering.Steer, clock: Clock) -> Steered:
        return self.settle(verb, clock)

    def reopen(self, ask: steering.Ask, clock: Clock) -> Steered:
        """A lease that nobody has marked as over yet is marked first, so that the log tells of both."""
        for _ in range(MOST_WRITES):
            match self.settle(steering.Reopen(ask), clock):
                case Unmarked(unmarked):
                    if not self.expire_if_over(unmarked, clock):
                        raise steering.held(unmarked)
                case Steered() as reopened:
                    return reopened
        raise _changing(ask.key)

    def inspect(self, key: str, clock: Clock) -> Held | Delayed | Done | Free:
        """One read, and a second one where a session tells how long the lease lives."""
        now = clock.now()
        raw = self._store.get({"key": {"S": key}}, clock)
        if raw is None:
            return Free(names.name_of(key), None)
        found = readable(raw)
        standing = outcomes.standing(found, now)
        if isinstance(standing, InDoubt) or outcomes.needs_its_session(found, standing):
            session = self._sessions.looked_up(str(found.session_id), clock)
            return outcomes.standing_by(found, session, now)
        return standing

    def expire_if_over(self, seen: Lease, clock: Clock) -> bool:
        """Whether this very lease was over, and is marked so now."""
        now = clock.now()
        match outcomes.standing(seen, now):
            case InDoubt():
                session = self._sessions.judged(str(seen.session_id), clock)
                if isinstance(session, Alive):
                    return False
                return self.settle(ending.Expire(seen, session_is_dead=True), clock)
            case Held():
                return False
            case _:
                return self.settle(ending.Expire(seen, session_is_dead=False), clock)

    def settle(self, verb: Verb[Outcome], clock: Clock) -> Outcome:
        """One write; another only where the refusal has shown that a wiser one will do."""
        for _ in range(MOST_WRITES):
            result = self._store.apply(partial(self._write, verb), clock)
            if isinstance(result, Applied):
                return _told(verb, result)
            then = verb.refused(readable(result.row) if result.row else None, result.now)
            if isinstance(then, AskSession):
                then = self.asked(then, clock)
            if isinstance(then, Settled):
                return then.outcome
            verb = then
        raise _changing(verb.key)

    def _write(self, verb: Verb[Any], now: Now) -> Write:
        """With a new id for each attempt: one that was applied, told and ended must not come back by the next."""
        return verb.write(now, self._draw())

    def asked(self, doubt: AskSession[Answered], clock: Clock) -> Answered:
        ask = self._sessions.judged if doubt.judges else self._sessions.looked_up
        session = ask(doubt.session_id, clock)
        return doubt.answered(session, clock.now())


def readable(raw: RawRow) -> Lease:
    try:
        return row.read(raw)
    except UnreadableRow as error:
        raise _unreadable(error) from error


def _told(verb: Verb[Outcome], applied: Applied) -> Outcome:
    try:
        return verb.applied(applied)
    except UnreadableRow as error:
        raise _unreadable(error) from error


def _unreadable(error: UnreadableRow) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "What is stored under this name cannot be read, so it is granted to nobody. An operator must mend the row.",
        logged=f"unreadable row: {error}",
    )


def _changing(key: str) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "This name changed hands several times while the request was under way. Try again.",
        logged=f"{key} changed {MOST_WRITES} times under one request",
        retry_after_ms=1000,
    )
