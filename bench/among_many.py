"""What a page costs among many held leases: a page of a list, and one of the recovery sweep."""

from dataclasses import dataclass

from bench import loading
from bench.caller import ACQUIRE
from bench.figures import Figure, Section, exactly
from bench.meter import Cost
from bench.stand import Stand, key_of
from chalicelib.edge import Application
from chalicelib.recovery import ROWS_OF_A_PAGE, Swept

PREFIX = "many/"
LISTED = 50
FEW, MANY = ROWS_OF_A_PAGE, 10_000

_NOTES = (
    "All of them live, and copied from one that this service granted. A page of recovery is of one shard, and here of "
    f"{FEW} rows: the mark of the last sweep, a query, a batch read, and the move of the mark. So that it is full with "
    f"{FEW} leases too, these are all in one shard; {MANY:,} are spread over all shards. Units as above.",
)


@dataclass(frozen=True, slots=True)
class Pages:
    listed: Cost
    swept: Cost


def of_a_page(stand: Stand) -> Section:
    names = [f"{PREFIX}held-{number:05d}" for number in range(MANY)]
    first = [name for name in names if stand.app.service.held.shard_of(key_of(name)) == "0"][:FEW]
    stand.caller.acquire(first[0], **{**ACQUIRE, "ttl_seconds": 3600})
    # It knows one shard alone, and so does a sweep that has no time for a second page look at one page in all.
    sweeper = stand.started(HELD_SHARDS="1")
    loading.copies(stand, stand.row(first[0]), first)
    few = _pages(stand, sweeper)
    loading.copies(stand, stand.row(first[0]), names)
    many = _pages(stand, sweeper)
    figures = (
        _figure(f"list, {LISTED} of {FEW} held", few.listed),
        _figure(f"list, {LISTED} of {MANY:,} held", many.listed, few.listed),
        _figure(f"recovery, {ROWS_OF_A_PAGE} of {FEW} held", few.swept),
        _figure(f"recovery, {ROWS_OF_A_PAGE} of {MANY:,} held", many.swept, few.swept),
    )
    return Section("A page among many", "units", figures, _NOTES)


def _pages(stand: Stand, sweeper: Application) -> Pages:
    page, listed = stand.cost(lambda: stand.caller.list_page(PREFIX))
    swept, sweeping = stand.cost(lambda: _one_page_swept(sweeper))
    if (page["total"], swept.examined, swept.recovered) != (LISTED, ROWS_OF_A_PAGE, []):
        raise RuntimeError(f"not the pages that were meant: {page['total']} rows listed, {swept}")
    return Pages(listed, sweeping)


def _one_page_swept(sweeper: Application) -> Swept:
    service = sweeper.service
    return service.recovery.sweep_all(lambda: service.clock(None), budget_ms=0)


def _figure(what: str, cost: Cost, like: Cost | None = None) -> Figure:
    return Figure(what, cost.units(), _all(cost), exactly(_all(like)) if like else None, cost.numbers())


def _all(cost: Cost) -> float:
    return cost.reads + cost.table_writes + cost.index_writes
