"""A list costs what is live. Dead rows are not in the index, so a page neither reads nor counts them."""

import json
from typing import Any

import pytest

from tests.world import World

LIVE = 50
DEAD = 10_000


@pytest.fixture
def answers(world: World) -> list[Any]:
    seen: list[Any] = []
    events = world.service.leases._store._client.meta.events  # type: ignore[attr-defined]
    events.register("after-call.dynamodb", lambda parsed, **_: seen.append(parsed))
    return seen


def load_dead_rows(world: World) -> None:
    released = world.raw_row("dead") or {}
    table = world.settings.leases_table
    for start in range(0, DEAD, 25):
        puts = [
            {"PutRequest": {"Item": {**released, "key": {"S": f"default/dead-{number}"}}}}
            for number in range(start, start + 25)
        ]
        world.dynamodb.batch_write_item(RequestItems={table: puts})


def page(world: World, answers: list[Any]) -> tuple[int, int, int]:
    """Calls, index entries read, and bytes of rows read."""
    answers.clear()
    assert len(world.held_names()) == LIVE
    scanned = sum(answer.get("ScannedCount", 0) for answer in answers)
    rows = [row for answer in answers for table in answer.get("Responses", {}).values() for row in table]
    return len(answers), scanned, len(json.dumps(rows))


def test_a_page_reads_as_much_with_ten_thousand_dead_rows_as_with_none(world: World, answers: list[Any]) -> None:
    for number in range(LIVE):
        world.claimed(f"live-{number}")
    world.release(world.claimed("dead").lease_id, "dead")
    before = page(world, answers)
    load_dead_rows(world)
    assert page(world, answers) == before
    assert before[:2] == (5, LIVE)
