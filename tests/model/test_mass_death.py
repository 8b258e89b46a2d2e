"""Ten thousand leases end at once, and then all their workers come back."""

from collections import Counter
from itertools import count
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest

from chalicelib import names, service
from chalicelib.clock import Clock
from chalicelib.events import event_of
from chalicelib.outcomes import Claimed
from chalicelib.recovery import ROWS_OF_A_PAGE
from chalicelib.service import Service
from chalicelib.settings import Settings
from chalicelib.verbs.claim import Ask
from tests.model.dynamodb import InMemory
from tests.model.expressions import Row
from tests.model.one_thread import OneThread

LEASES = 10_000
TTL_MS = 60_000


class World:
    def __init__(self) -> None:
        self.us = 1_795_000_000_000_000
        self.dynamodb = InMemory()
        self.events: Counter[str] = Counter()
        self.dynamodb.on_change = self._note
        drawn = count(1)
        settings = Settings("leases", "tokens", "sessions", "events")
        client: Any = self.dynamodb
        self.service: Service = service.build(
            settings, client, read_us=self._read_us, draw=lambda: UUID(int=next(drawn))
        )

    def _read_us(self) -> int:
        self.us += 50  # what a call takes
        return self.us

    def _note(self, table: str, old: Row | None, new: Row | None) -> None:
        event = event_of(old, new) if table == "leases" else None
        if event is not None:
            self.events[event.type] += 1

    def clock(self) -> Clock:
        return self.service.clock(None)

    def claim_all_of_them(self, owner: str) -> int:
        keys = [names.key_of("default", f"job-{number:05}") for number in range(LEASES)]
        outcomes = [self.service.leases.claim(self._ask(key, owner), self.clock()) for key in keys]
        return sum(isinstance(outcome, Claimed) for outcome in outcomes)

    def _ask(self, key: str, owner: str) -> Ask:
        return Ask(
            key=key,
            held_in=self.service.held.shard_of(key),
            request_key=f"{owner} {key}",
            idempotency_key=None,
            body_hash="",
            principal="p1",
            owner=owner,
            metadata_json="null",
            ttl_ms=TTL_MS,
        )


@pytest.fixture(scope="module")
def world() -> World:
    return World()


def test_ten_thousand_deaths_are_worked_off_in_bounded_runs_and_each_is_told_once(world: World) -> None:
    assert world.claim_all_of_them("first") == LEASES
    world.us += (TTL_MS + 1_000) * 1_000
    runs, recovered = 0, 0
    with patch("chalicelib.recovery.ThreadPoolExecutor", OneThread):
        while True:
            runs += 1
            swept = world.service.recovery.sweep_all(world.clock, budget_ms=400)
            assert swept.examined == len(swept.recovered)
            recovered += len(swept.recovered)
            if swept.stopped is None:
                break
    assert recovered == LEASES
    assert 2 < runs <= LEASES // ROWS_OF_A_PAGE
    assert world.events == {"claimed": LEASES, "expired": LEASES}


def test_all_their_workers_come_back_and_each_job_has_one_owner(world: World) -> None:
    assert world.claim_all_of_them("second") == LEASES
    assert world.claim_all_of_them("third") == 0
    assert world.events == {"claimed": 2 * LEASES, "expired": LEASES}
