"""Runs the table that is drawn in the docstring of `verbs`, cell by cell: the drawing is the test."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from chalicelib import verbs
from chalicelib.errors import LeaseNotCurrent
from chalicelib.outcomes import Acquired
from tests.world import MARGIN_MS, World

TTL_MS = 10_000
DELAY_MS = 20_000


def lines_of_the_table() -> list[list[str]]:
    """The header and the rows, cut into columns where the line of dashes says."""
    lines = (verbs.__doc__ or "").splitlines()
    ruler = next(number for number, line in enumerate(lines) if line.startswith("---"))
    ends = [0]
    for dashes in lines[ruler].split():
        ends.append(lines[ruler].index(dashes, ends[-1]) + len(dashes))
    body = lines[ruler + 1 : lines.index("", ruler)]
    return [[line[start:end].strip() for start, end in pairwise(ends)] for line in (lines[ruler - 1], *body)]


HEADER, *ROWS = lines_of_the_table()
CELLS = [
    pytest.param(row[0], verb, expected, id=f"{row[0].split(':')[0]}-{verb}")
    for row in ROWS
    for verb, expected in zip(HEADER[1:], row[1:], strict=True)
]


class Scene:
    """A row that has come to stand as the table's first column says, and the request that last acquired it."""

    def __init__(self, world: World, standing: str) -> None:
        self.world = world
        delay_ms = DELAY_MS if standing.endswith("in its lock delay") else 0
        self.last = world.ask(ttl_ms=TTL_MS, idempotency_key="mine", lock_delay_ms=delay_ms)
        self.lease_id = "none"
        SCENES[standing.split(",")[0].split(":")[0]](self)

    def never_seen(self) -> None: ...

    def held(self) -> None:
        outcome = self.world.submit(self.last)
        assert isinstance(outcome, Acquired)
        self.lease_id = outcome.lease_id

    def overdue(self) -> None:
        self.held()
        self.world.time.advance(ms=TTL_MS + MARGIN_MS - 1)

    def lapsed(self) -> None:
        self.held()
        self.world.time.advance(ms=TTL_MS + MARGIN_MS)

    def released(self) -> None:
        self.held()
        self.world.release(self.lease_id)

    def expired(self) -> None:
        self.lapsed()
        self.world.mark_expired()

    def acquire(self) -> object:
        return self.world.acquire(owner="another")

    def again(self) -> object:
        return self.world.submit(self.last)

    def renew(self) -> object:
        return self.world.renew(self.lease_id)

    def release(self) -> object:
        return self.world.release(self.lease_id)

    def inspect(self) -> object:
        return self.world.inspect()


SCENES: dict[str, Callable[[Scene], None]] = {
    "never seen": Scene.never_seen,
    "held": Scene.held,
    "overdue": Scene.overdue,
    "lapsed": Scene.lapsed,
    "released": Scene.released,
    "expired": Scene.expired,
}


def name_of_outcome(act: Callable[[], object]) -> str:
    try:
        outcome = act()
    except LeaseNotCurrent:
        return "not current"
    return "Late" if getattr(outcome, "late", False) else type(outcome).__name__


def test_the_table_names_every_state_and_every_verb() -> None:
    assert len(ROWS) == 9
    assert HEADER[1:] == ["acquire", "again", "renew", "release", "inspect"]


@pytest.mark.parametrize(("standing", "verb", "expected"), CELLS)
def test_the_row_answers_as_the_table_says(world: World, standing: str, verb: str, expected: str) -> None:
    scene = Scene(world, standing)
    assert name_of_outcome(getattr(scene, verb)) == expected


@pytest.mark.parametrize(("standing", "expected"), [(row[0], row[1]) for row in ROWS])
def test_looking_first_agrees_with_acquiring(world: World, standing: str, expected: str) -> None:
    """`Free` to those who look means that an acquire succeeds, but for a lock delay."""
    scene = Scene(world, standing)
    seen = name_of_outcome(scene.inspect)
    assert (seen == "Free") == (expected in {"Acquired", "Delayed"})
