"""What a worker with a session does."""

from typing import Any

from chalicelib.clock import Clock
from chalicelib.errors import SessionExpired
from chalicelib.sessions import NewSession, Session
from tests.model.answers import Sent
from tests.model.claiming import Claiming
from tests.model.holding import Holding
from tests.model.scene import PRINCIPALS, KnownSession, NewClock, Request, Scene


class InSessions:
    def __init__(self, scene: Scene, claiming: Claiming, holding: Holding) -> None:
        self._scene = scene
        self._claiming = claiming
        self._holding = holding

    def work(self) -> Request:
        """Claims a job in the session, hands it to the session by a heartbeat, and keeps the session alive."""
        session = self._scene.session()
        if session is None:
            return self.new_session()
        held, lives = self._scene.held_in(session), self._scene.ledger.holders.lives
        if not held:
            return self._claiming.claim_in(session)
        newest = held[-1]
        if not lives[newest.lease_id].is_told_carried:
            return self._holding.heartbeat_of(newest)
        return self._keepalive_of(session)

    def new_session(self) -> Request:
        scene = self._scene
        principal, ttl_ms = scene.rng.choice(PRINCIPALS), scene.rng.choice(scene.mix.session_ttls_ms)

        def act(new_clock: NewClock) -> tuple[str, int]:
            clock, session_id = new_clock(), str(scene.service.draw())
            new = NewSession(session_id, "worker", "null", ttl_ms)
            return session_id, _left_ms(scene.service.sessions.create(new, principal, clock), clock)

        def heard(outcome: Any, sent: Sent) -> None:
            if isinstance(outcome, tuple):
                session_id, left_ms = outcome
                scene.sessions.append(KnownSession(session_id, principal))
                scene.answers.session(session_id, left_ms, sent)

        return Request(f"new session, ttl {ttl_ms}", act, heard)

    def keepalive(self) -> Request:
        session = self._scene.session()
        return self.new_session() if session is None else self._keepalive_of(session)

    def _keepalive_of(self, session: KnownSession) -> Request:
        scene = self._scene

        def act(new_clock: NewClock) -> int:
            clock = new_clock()
            return _left_ms(scene.service.sessions.keepalive(session.session_id, session.principal, clock), clock)

        def heard(outcome: Any, sent: Sent) -> None:
            scene.answers.counted["keepalive refused"] += isinstance(outcome, SessionExpired)
            if isinstance(outcome, int):
                scene.answers.session(session.session_id, outcome, sent)

        return Request(f"keepalive {session}", act, heard)

    def delete_session(self) -> Request:
        scene, session = self._scene, self._scene.session()
        if session is None:
            return self.new_session()

        def act(new_clock: NewClock) -> int:
            clock = new_clock()
            scene.service.sessions.delete(session.session_id, session.principal, clock)
            return scene.service.bound.end_all(session.session_id, clock)

        return Request(
            f"delete session {session}",
            act,
            sending=lambda now_us: scene.ledger.holders.session_no_longer(session.session_id, now_us),
        )


def _left_ms(session: Session, clock: Clock) -> int:
    """As the face tells it."""
    return max(0, session.expires_at_ms - clock.now().ms)
