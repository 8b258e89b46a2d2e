"""What a list page costs beside history: with no dead rows, and with 10,000 of them."""

from typing import Any

from bench import loading
from bench.caller import ACQUIRE
from bench.figures import Figure, Section, exactly
from bench.stand import Stand

PREFIX = "listed/"
LIVE, DEAD = 50, 10_000

_NOTES = (
    "GET /locks?prefix=… through the whole handler. The dead rows have the same prefix, and were copied from a row "
    "that this service released. The units are reckoned as above; no query had a filter: all that it read came back.",
)


def of_a_page(stand: Stand) -> Section:
    for number in range(LIVE):
        stand.caller.acquire(f"{PREFIX}live-{number:02d}", **_asked(number))
    alone, _ = _page(stand)
    loading.copies(stand, _dead(stand), [f"{PREFIX}dead-{number:05d}" for number in range(DEAD)])
    beside_history, shown = _page(stand)
    figures = (
        Figure(f"{LIVE} held rows, 0 dead ones", "read units", alone),
        Figure(f"{LIVE} held rows, {DEAD:,} dead ones", "read units", beside_history, exactly(alone)),
        Figure(f"{LIVE} held rows, {DEAD:,} dead ones", "rows shown", shown, exactly(LIVE)),
    )
    return Section("A list page beside history", "", figures, _NOTES)


def _asked(number: int) -> dict[str, Any]:
    return {**ACQUIRE, "ttl_seconds": 3600, "idempotency_key": f"{ACQUIRE['idempotency_key']}-{number}"}


def _page(stand: Stand) -> tuple[float, int]:
    """Its read units, and how many rows it shows."""
    page, cost = stand.cost(lambda: stand.caller.list_page(PREFIX))
    return cost.reads, page["total"]


def _dead(stand: Stand) -> dict[str, Any]:
    name = f"{PREFIX}dead"
    stand.caller.release(name, stand.caller.acquire(name, **ACQUIRE)["lease_id"])
    return stand.row(name)
