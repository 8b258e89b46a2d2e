"""Sixteen at once on a free name, met at a barrier, with threads that switch as often as they can."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any

from chalicelib.outcomes import Claimed
from chalicelib.verbs.claim import Ask
from tests.world import World

CONTENDERS = 16


@contextmanager
def switching_every_ten_microseconds() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def rounds(world: World, number: int, name: str = "job-{round}") -> Iterator[list[Any]]:
    """What each contender was told, round by round. The same threads serve all rounds."""
    start = Barrier(CONTENDERS)

    def contend(ask: Ask) -> Any:
        start.wait()
        try:
            return world.submit(ask)
        except Exception as broken:  # moto without its lock shows half-written rows, and worse
            return broken

    with switching_every_ten_microseconds(), ThreadPoolExecutor(CONTENDERS) as pool:
        for one in range(number):
            asks = [world.ask(name.format(round=one), owner=f"agent-{agent}") for agent in range(CONTENDERS)]
            yield list(pool.map(contend, asks))


def winners(outcomes: list[Any]) -> list[Claimed]:
    return [outcome for outcome in outcomes if isinstance(outcome, Claimed)]
