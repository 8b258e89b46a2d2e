"""Every change of a name is in its log exactly once and in order, and replaying the log gives the row."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.errors import CallerError
from chalicelib.events import Event, event_of
from chalicelib.row import read
from chalicelib.verbs.release import Failed, Finished, Freely
from tests.events.replay import replayed, told_by
from tests.world import Outcome, World

STEPS = 40


class Life:
    """One job, to which everything happens, and its changes as the stream tells them."""

    def __init__(self, world: World, chance: random.Random) -> None:
        self.world = world
        self.chance = chance
        self.lease_id = "00000000-0000-4000-8000-000000000000"
        self.session = world.session(ttl_ms=20_000)
        self.events: list[Event] = []

    def step(self) -> None:
        before = self.world.raw_row()
        act: Callable[[], object] = self.chance.choice(
            [
                *(
                    self.claim,
                    self.claim,
                    self.beat,
                    self.release,
                    self.hand_over,
                    self.cancel,
                    self.evict,
                    self.reopen,
                ),
                *(self.sweep, self.wait, self.wait, self.refresh, self.end_session),
            ]
        )
        try:
            act()
        except CallerError:
            assert self.world.raw_row() == before, act
        after = self.world.raw_row()
        if after is not None and before != after:
            self._remember(event_of(before, after))

    def _remember(self, event: Event | None) -> None:
        if event is not None:
            self.events.append(event)

    def claim(self) -> None:
        session = self.session if self.chance.random() < 0.4 else None
        asked: dict[str, Any] = {"max_attempts": 4} if self.chance.random() < 0.3 else {}
        outcome = self.world.claim(owner=f"agent-{self.chance.randrange(9)}", ttl_ms=10_000, session=session, **asked)
        self.lease_id = getattr(getattr(outcome, "row", None), "lease_id", None) or self.lease_id

    def beat(self) -> None:
        self.world.heartbeat(self.lease_id, logged=self.chance.random() < 0.2, checkpoint_json="1")

    def release(self) -> None:
        ends: list[Outcome] = [Freely(), Failed("bad luck"), Failed(""), Finished('{"a": 1}', 30_000)]
        self.world.release(self.lease_id, outcome=self.chance.choice(ends))

    def hand_over(self) -> None:
        self.lease_id = str(self.world.hand_over(self.lease_id).row.lease_id)

    def cancel(self) -> None:
        self.world.cancel(reason=f"stop {self.chance.randrange(99)}")

    def evict(self) -> None:
        self.world.evict(reason="out with it")

    def reopen(self) -> None:
        """Over a lease that nobody has marked yet it makes two changes, which are told apart here."""
        row = self.world.raw_row()
        if row is None or row["state"]["S"] != "held":
            self.world.reopen()

    def sweep(self) -> None:
        self.world.sweep()

    def wait(self) -> None:
        self.world.time.advance(ms=self.chance.choice([1, 700, 5_000, 12_000]))

    def refresh(self) -> None:
        self.session = self.world.session(ttl_ms=20_000)

    def end_session(self) -> None:
        self.world.service.sessions.delete(self.session.session_id, self.world.me, self.world.clock())
        self.world.service.bound.end_all(self.session.session_id, self.world.clock())
        self.session = self.world.session(ttl_ms=20_000)


@pytest.mark.parametrize("seed", range(25))
def test_replaying_the_log_gives_the_row(world: World, seed: int) -> None:
    life = Life(world, random.Random(seed))
    for _ in range(STEPS):
        world.time.advance(ms=1)
        life.step()
    assert life.events
    assert [event.rev for event in life.events] == list(range(1, len(life.events) + 1))
    fences = [event.fence for event in life.events]
    assert fences == sorted(fences)
    assert replayed(life.events) == told_by(read(world.raw_row() or {}))


def test_every_kind_of_event_happens_in_some_life(world: World) -> None:
    kinds: set[str] = set()
    for seed in range(25):
        chance = random.Random(seed)
        world.clean_up_by_ttl()
        life = Life(world, chance)
        for _ in range(STEPS):
            world.time.advance(ms=1)
            life.step()
        kinds |= {event.type for event in life.events}
    assert kinds == {
        "claimed",
        "taken_over",
        "heartbeat",
        "released",
        "failed",
        "done",
        "expired",
        "evicted",
        "handed_over",
        "cancel_requested",
        "reopened",
    }
