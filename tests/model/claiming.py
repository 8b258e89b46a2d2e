"""Claims, of one name or of several."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from chalicelib import names
from chalicelib.auth import Principal
from chalicelib.call import Call
from chalicelib.claims import AllOf, NoneOf, from_the_callers_start
from chalicelib.clock import Clock
from chalicelib.faces import asking
from chalicelib.outcomes import Claimed, Held
from chalicelib.service import Service
from chalicelib.verbs.claim import UNLIMITED, Ask, Outcome
from tests.model.answers import Sent
from tests.model.scene import NAMESPACE, PRINCIPALS, Grant, KnownSession, NewClock, Request, Scene


@dataclass(frozen=True, slots=True)
class _AskedOf:
    """As much of a call as the reading of a session needs."""

    service: Service
    principal: Principal
    clock: Clock


@dataclass(frozen=True, slots=True)
class Wish:
    """A claim as its caller sends it. `ask` lacks what the service adds when it comes in."""

    ask: Ask
    session: KnownSession | None

    def __str__(self) -> str:
        key = self.ask.idempotency_key or "without a key"
        where = f" in session {self.session}" if self.session else ""
        return f"by {self.ask.owner}, {key}, ttl {self.ask.ttl_ms}{where}"


class Claiming:
    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def claim(self) -> Request:
        session = self._scene.session() if self._scene.chance(self._scene.mix.in_session) else None
        return self.claim_in(session)

    def claim_in(self, session: KnownSession | None) -> Request:
        name = self._scene.rng.choice(self._scene.names)
        wish = self._wish(session)

        def act(new_clock: NewClock) -> Outcome:
            clock = new_clock()
            (ask,) = self._asks(wish, [name], clock)
            return self._scene.service.leases.claim(ask, clock)

        return Request(f"claim {name} {wish}", act, self.heard)

    def plainly(self, name: str, clock: Clock) -> Outcome:
        """Only what is held or done can be in its way."""
        (ask,) = self._asks(self._wish(None), [name], clock)
        plain = replace(ask, idempotency_key=None, max_attempts=UNLIMITED)
        return self._scene.service.leases.claim(plain, clock)

    def claim_any(self) -> Request:
        scene = self._scene
        wish, in_order = self._wish(scene.session() if scene.chance(scene.mix.in_session) else None), scene.chance(0.5)

        def act(new_clock: NewClock) -> Claimed | NoneOf:
            clock = new_clock()
            asks = self._asks(wish, scene.names, clock)
            return scene.service.claims.any_of(asks if in_order else from_the_callers_start(asks), clock)

        return Request(f"claim any {wish}", act, self._heard_several)

    def claim_all(self) -> Request:
        scene = self._scene
        wish = self._wish(scene.session() if scene.chance(scene.mix.in_session) else None)

        def act(new_clock: NewClock) -> AllOf | NoneOf:
            clock = new_clock()
            return scene.service.claims.all_of(self._asks(wish, scene.names, clock), clock)

        return Request(f"claim all {wish}", act, self._heard_several)

    def _wish(self, session: KnownSession | None) -> Wish:
        scene, number = self._scene, self._scene.number()
        is_lock, is_reused = scene.chance(scene.mix.locks), scene.chance(0.02)
        key = scene.idempotency_key(is_reused=is_reused)
        ask = Ask(
            key="",
            held_in="",
            request_key="",
            idempotency_key=key if scene.chance(scene.mix.with_key) else None,
            body_hash="another" if is_reused else "one",
            principal=session.principal.id if session else scene.rng.choice(PRINCIPALS).id,
            owner=f"c{number}",
            metadata_json="null",
            ttl_ms=scene.rng.choice(scene.mix.ttls_ms),
            lock_delay_ms=scene.rng.choice((1_000, 3_000)) if is_lock and scene.chance(0.2) else 0,
            max_attempts=scene.rng.randint(2, 5) if not is_lock and scene.chance(0.1) else UNLIMITED,
            again_in_session=is_lock,
        )
        return Wish(ask, session)

    def _asks(self, wish: Wish, of: Sequence[str], clock: Clock) -> list[Ask]:
        """What the faces make of it, each time that it comes in. The session is read once."""
        service, ask = self._scene.service, replace(wish.ask, request_key=self._scene.request_key())
        if wish.session is not None:
            call = cast(Call, _AskedOf(service, wish.session.principal, clock))
            ask = replace(ask, session=asking.bound(call, wish.session.session_id))
        keys = [names.key_of(NAMESPACE, name) for name in of]
        return [replace(ask, key=key, held_in=service.held.shard_of(key)) for key in keys]

    def heard(self, outcome: Any, sent: Sent) -> None:
        if isinstance(outcome, Claimed):
            row = outcome.row
            self._scene.grants.append(Grant(names.name_of(row.key), str(row.lease_id), row.fence))
            self._scene.answers.claimed(outcome, sent)
        elif isinstance(outcome, Held):
            self._scene.answers.held(outcome, sent)

    def _heard_several(self, outcome: Any, sent: Sent) -> None:
        match outcome:
            case AllOf(several) | NoneOf(several):
                for one in several:
                    self.heard(one, sent)
            case one:
                self.heard(one, sent)
