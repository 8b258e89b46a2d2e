"""Runs the table that is drawn in the docstring of `verbs`, cell by cell: the drawing is the test."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest

from chalicelib import verbs
from chalicelib.errors import Conflict, LeaseNotCurrent, SessionExpired
from chalicelib.outcomes import Claimed
from chalicelib.sessions import Dead, Session
from chalicelib.verbs.release import Failed, Finished, Freely
from tests.world import MARGIN_MS, World

TTL_MS = 10_000
DELAY_MS = 20_000
SESSION_MS = 10_000
RETAIN_MS = 60_000


def method_of(standing: str) -> str:
    return standing.split(":")[0].replace(",", "").replace("'", "").replace(" ", "_")


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
    pytest.param(row[0], verb, expected, id=f"{method_of(row[0])}-{verb}")
    for row in ROWS
    for verb, expected in zip(HEADER[1:], row[1:], strict=True)
]


class Scene:
    """A row that has come to stand as the table's first column says, and the request that last claimed it."""

    def __init__(self, world: World, standing: str) -> None:
        self.world = world
        self.lease_id = "none"
        self.outcome: Freely | Failed | Finished = Freely()
        self.session: Session | None = None
        delay_ms = DELAY_MS if standing.endswith("in its lock delay") else 0
        self.claim_anew = partial(world.ask, idempotency_key="mine", lock_delay_ms=delay_ms)
        getattr(self, method_of(standing))()

    def never_seen(self) -> None: ...

    def held(self, ttl_ms: int = TTL_MS) -> None:
        outcome = self.world.submit(self.claim_anew(ttl_ms=ttl_ms, session=self.session))
        assert isinstance(outcome, Claimed)
        self.lease_id = str(outcome.row.lease_id)

    def overdue(self) -> None:
        self.held()
        self.world.time.advance(ms=TTL_MS + MARGIN_MS - 1)

    def lapsed(self) -> None:
        self.held()
        self.world.time.advance(ms=TTL_MS + MARGIN_MS)

    lapsed_in_its_lock_delay = lapsed

    def released(self) -> None:
        self.held()
        self.world.release(self.lease_id, outcome=self.outcome)

    released_in_its_lock_delay = released

    def failed(self) -> None:
        self.outcome = Failed("no luck")
        self.released()

    def expired(self) -> None:
        self.lapsed()
        assert self.world.sweep() == ["job"]

    expired_in_its_lock_delay = expired

    def evicted(self) -> None:
        self.held()
        self.world.evict()

    def done(self) -> None:
        self.outcome = Finished("null", RETAIN_MS)
        self.released()

    def done_its_retention_over(self) -> None:
        self.done()
        self.world.time.advance(ms=RETAIN_MS)

    def bound(self) -> None:
        self.session = self.world.session(ttl_ms=SESSION_MS)
        self.held(ttl_ms=10 * SESSION_MS)

    def bound_past_its_sessions_end_and_the_margin(self) -> None:
        self.bound()
        self.world.time.advance(ms=SESSION_MS + MARGIN_MS)

    def bound_its_sessions_death_written(self) -> None:
        self.bound_past_its_sessions_end_and_the_margin()
        self._write_its_death()

    def carried(self) -> None:
        self.session = self.world.session(ttl_ms=SESSION_MS)
        self.held(ttl_ms=1_000)
        assert self.world.heartbeat(self.lease_id).carried
        self.world.time.advance(ms=1_000 + MARGIN_MS)

    def carried_its_session_kept_alive_since_then(self) -> None:
        self.carried()
        self.session = self.world.keepalive(self._session)
        self.world.time.advance(ms=SESSION_MS - 1_000)

    def carried_past_its_sessions_end_and_the_margin(self) -> None:
        self.carried()
        self.world.time.advance(ms=SESSION_MS)

    def carried_its_sessions_death_written(self) -> None:
        self.carried_past_its_sessions_end_and_the_margin()
        self._write_its_death()

    @property
    def _session(self) -> Session:
        assert self.session is not None
        return self.session

    def _write_its_death(self) -> None:
        assert self.world.service.sessions.judged(self._session.session_id, self.world.clock()) == Dead()

    def do_claim(self) -> object:
        return self.world.claim(owner="another")

    def do_again(self) -> object:
        row = self.world.raw_row() or {}
        ttl_ms = int(row["lease_ttl_ms"]["N"]) if row else TTL_MS
        return self.world.submit(self.claim_anew(ttl_ms=ttl_ms, session=self.session))

    def do_heartbeat(self) -> object:
        return self.world.heartbeat(self.lease_id)

    def do_release(self) -> object:
        return self.world.release(self.lease_id, outcome=self.outcome)

    def do_handover(self) -> object:
        return self.world.hand_over(self.lease_id)

    def do_cancel(self) -> object:
        return self.world.cancel()

    def do_evict(self) -> object:
        return self.world.evict()

    def do_reopen(self) -> object:
        return self.world.reopen()

    def do_sweep(self) -> object:
        return self.world.sweep()

    def do_inspect(self) -> object:
        return self.world.inspect()


def name_of_outcome(act: Callable[[], object]) -> str:
    try:
        outcome = act()
    except LeaseNotCurrent:
        return "not current"
    except Conflict:
        return "conflict"
    except SessionExpired:
        return "gone"
    if isinstance(outcome, list):
        return "marked" if outcome == ["job"] else "-"
    return "Late" if getattr(outcome, "late", False) else type(outcome).__name__


def test_the_table_names_every_state_and_every_verb() -> None:
    assert len(ROWS) == 20
    assert HEADER[1:] == [
        "claim",
        "again",
        "heartbeat",
        "release",
        "handover",
        "cancel",
        "evict",
        "reopen",
        "sweep",
        "inspect",
    ]


@pytest.mark.parametrize(("standing", "verb", "expected"), CELLS)
def test_the_row_answers_as_the_table_says(world: World, standing: str, verb: str, expected: str) -> None:
    scene = Scene(world, standing)
    assert name_of_outcome(getattr(scene, f"do_{verb}")) == expected


@pytest.mark.parametrize(("standing", "expected"), [(row[0], row[1]) for row in ROWS])
def test_looking_first_agrees_with_claiming(world: World, standing: str, expected: str) -> None:
    """`Free` to those who look means that a claim succeeds."""
    scene = Scene(world, standing)
    seen = name_of_outcome(scene.do_inspect)
    assert (seen == "Free") == (expected == "Claimed")
