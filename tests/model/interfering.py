"""What others do to a job: they ask its owner to stop, end its lease, open it again, sweep, and look."""

from collections.abc import Callable
from typing import Any

from chalicelib import names
from chalicelib.clock import Clock
from chalicelib.outcomes import Held
from chalicelib.recovery import Swept
from chalicelib.verbs import steering
from chalicelib.verbs.steering import Steered
from tests.model.answers import Sent
from tests.model.scene import NAMESPACE, PRINCIPALS, Grant, NewClock, Request, Scene

Steering = Callable[[steering.Ask, Clock], Steered]


class Interfering:
    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def cancel(self) -> Request:
        leases = self._scene.service.leases
        return self._steering("cancel_requested", lambda ask, clock: leases.steer(steering.cancel(ask), clock))

    def evict(self) -> Request:
        leases = self._scene.service.leases
        return self._steering("evicted", lambda ask, clock: leases.steer(steering.evict(ask), clock))

    def reopen(self) -> Request:
        return self._steering("reopened", self._scene.service.leases.reopen)

    def _steering(self, kind: str, steer: Steering) -> Request:
        scene = self._scene
        grant = scene.grant() or Grant(scene.names[0], "", 1)
        fence = grant.fence if scene.chance(0.5) else None

        def act(new_clock: NewClock) -> str:
            ask = steering.Ask(grant.key, "why", fence, PRINCIPALS[0].id, scene.request_key())
            steer(ask, new_clock())
            return ask.request

        def heard(outcome: Any, _sent: Sent) -> None:
            if isinstance(outcome, str):
                scene.answers.steered(kind, outcome)

        return Request(f"{kind} {grant.name}, fence {fence}", act, heard)

    def sweep(self) -> Request:
        return Request("sweep", lambda new_clock: self._scene.service.recovery.sweep_all(new_clock), self._heard_swept)

    def recover(self) -> Request:
        low, high = names.key_range(NAMESPACE, "", None)
        return Request(
            "recover the namespace",
            lambda new_clock: self._scene.service.recovery.sweep_range(low, high, None, new_clock()),
            self._heard_swept,
        )

    def _heard_swept(self, outcome: Any, _sent: Sent) -> None:
        if isinstance(outcome, Swept):
            for row in outcome.recovered:
                self._scene.answers.recovered(row)

    def look(self) -> Request:
        scene, name = self._scene, self._scene.rng.choice(self._scene.names)
        key = names.key_of(NAMESPACE, name)

        def heard(outcome: Any, sent: Sent) -> None:
            if isinstance(outcome, Held):
                scene.answers.held(outcome, sent)

        return Request(f"look at {name}", lambda new_clock: scene.service.leases.inspect(key, new_clock()), heard)
