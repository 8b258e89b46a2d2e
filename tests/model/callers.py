"""Chooses what is asked for next, and what comes a second time."""

from collections.abc import Callable
from dataclasses import replace

from tests.model.claiming import Claiming
from tests.model.holding import Holding
from tests.model.in_sessions import InSessions
from tests.model.interfering import Interfering
from tests.model.scene import Request, Scene


class Callers:
    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.claiming = claiming = Claiming(scene)
        holding, others = Holding(scene, claiming), Interfering(scene)
        working = InSessions(scene, claiming, holding)
        self.unanswered: list[Request] = []
        self._sent: list[Request] = []
        makers: list[Callable[[], Request]] = [
            claiming.claim,
            claiming.claim_any,
            claiming.claim_all,
            holding.heartbeat,
            holding.release,
            holding.hand_over,
            working.work,
            working.new_session,
            working.keepalive,
            working.delete_session,
            others.cancel,
            others.evict,
            others.reopen,
            others.sweep,
            others.recover,
            others.look,
            self.repeat,
            self.duplicate,
        ]
        self._makers = {make.__name__: make for make in makers}
        self._weights = [scene.mix.weights[kind] for kind in self._makers]

    def next(self) -> Request:
        (make,) = self._scene.rng.choices(list(self._makers.values()), self._weights)
        request = make()
        self._sent.append(request)
        return request

    def repeat(self) -> Request:
        """A caller that got no answer asks again."""
        if not self.unanswered:
            return self.claiming.claim()
        return replace(self._scene.recent(self.unanswered), times="repeat")

    def duplicate(self) -> Request:
        """The network delivers something again, and nobody waits for the answer."""
        if not self._sent:
            return self.claiming.claim()
        return replace(self._scene.recent(self._sent), is_waited_for=False, times="duplicate")
