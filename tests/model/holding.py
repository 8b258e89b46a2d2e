"""What the holder of a lease does with it."""

from dataclasses import replace
from typing import Any

from chalicelib.outcomes import Claimed, Kept, Released
from chalicelib.verbs import handover, heartbeat
from chalicelib.verbs.release import Failed, Finished, Freely, Release
from tests.model.answers import Sent
from tests.model.claiming import Claiming
from tests.model.scene import PRINCIPALS, Grant, NewClock, Request, Scene


class Holding:
    def __init__(self, scene: Scene, claiming: Claiming) -> None:
        self._scene = scene
        self._claiming = claiming

    def heartbeat(self) -> Request:
        grant = self._scene.grant()
        return self._claiming.claim() if grant is None else self.heartbeat_of(grant)

    def heartbeat_of(self, grant: Grant) -> Request:
        scene = self._scene
        carries = scene.chance(scene.mix.carries)
        ask = heartbeat.Ask(
            key=grant.key,
            lease_id=grant.lease_id,
            # A lock's renewal always says a TTL, and leaves nothing behind.
            ttl_ms=None if carries and scene.chance(0.5) else scene.rng.choice(scene.mix.ttls_ms),
            carries=carries,
            checkpoint_json=str(scene.number()) if carries and scene.chance(0.3) else None,
            logged=scene.mix.log_heartbeats,
        )

        def heard(outcome: Any, sent: Sent) -> None:
            if isinstance(outcome, Kept):
                scene.answers.kept(outcome, sent)

        return Request(
            f"heartbeat {grant}, ttl {ask.ttl_ms}{', carries' if carries else ''}",
            lambda new_clock: scene.service.leases.heartbeat(ask, new_clock()),
            heard,
            lambda _now_us: scene.ledger.holders.heartbeat_sent(grant.lease_id),
        )

    def release(self) -> Request:
        scene, grant = self._scene, self._scene.grant()
        if grant is None:
            return self._claiming.claim()
        outcome = scene.rng.choice((Freely(), Freely(), Failed("no luck"), Finished("null", 3_000)))
        verb = Release(grant.key, grant.lease_id, outcome)

        def heard(answer: Any, _sent: Sent) -> None:
            if isinstance(answer, Released):
                scene.answers.released(grant.lease_id, outcome.ended)

        return Request(
            f"release {grant} as {outcome.ended}",
            lambda new_clock: scene.service.leases.release(verb, new_clock()),
            heard,
            lambda now_us: scene.ledger.holders.no_longer(grant.lease_id, now_us),
        )

    def hand_over(self) -> Request:
        scene, grant = self._scene, self._scene.grant()
        if grant is None:
            return self._claiming.claim()
        ask = self._handover(grant)

        def act(new_clock: NewClock) -> Claimed:
            return scene.service.leases.hand_over(replace(ask, request_key=scene.request_key()), new_clock())

        return Request(
            f"hand over {grant} to {ask.to_owner}, ttl {ask.ttl_ms}",
            act,
            self._claiming.heard,
            lambda now_us: scene.ledger.holders.no_longer(grant.lease_id, now_us),
        )

    def _handover(self, grant: Grant) -> handover.Ask:
        scene, number = self._scene, self._scene.number()
        return handover.Ask(
            key=grant.key,
            lease_id=grant.lease_id,
            to_owner=f"c{number}",
            principal=scene.rng.choice(PRINCIPALS).id,
            request_key="",
            idempotency_key=f"k{number}" if scene.chance(scene.mix.with_key) else None,
            body_hash="h",
            ttl_ms=scene.rng.choice((None, *scene.mix.ttls_ms)),
            checkpoint_json=None,
        )
