"""What a list page costs beside history: with no dead rows, and with 10,000 of them."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bench import handler
from bench.caller import ACQUIRE
from bench.figures import Figure, Section, exactly
from bench.stand import Stand, key_of

PREFIX = "listed/"
LIVE, DEAD = 50, 10_000
# DynamoDB takes 25 rows in a batch.
BATCH = 25
LOADERS = 4

_NOTES = (
    "GET /locks?prefix=… through the whole handler. The dead rows have the same prefix, and were copied from a row "
    "that this service released. The units are reckoned as above; no query had a filter: all that it read came back.",
)


def of_a_page(stand: Stand) -> Section:
    for number in range(LIVE):
        stand.caller.acquire(f"{PREFIX}live-{number:02d}", **_asked(number))
    alone, _ = _page(stand)
    _load_dead_rows(stand)
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
    pages: list[Any] = []
    cost = stand.cost(lambda: pages.append(stand.caller.list_page(PREFIX)))
    return cost.reads, pages[0]["total"]


def _load_dead_rows(stand: Stand) -> None:
    name = f"{PREFIX}dead"
    stand.caller.release(name, stand.caller.acquire(name, **ACQUIRE)["lease_id"])
    with ThreadPoolExecutor(LOADERS) as loaders:
        list(loaders.map(lambda batch: stand.client.batch_write_item(RequestItems=batch), _batches(stand.row(name))))


def _batches(dead: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for first in range(0, DEAD, BATCH):
        keys = [key_of(f"{PREFIX}dead-{number:05d}") for number in range(first, first + BATCH)]
        yield {handler.LEASES: [{"PutRequest": {"Item": {**dead, "key": {"S": key}}}} for key in keys]}
