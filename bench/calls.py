"""DynamoDB calls and capacity of each verb through the whole handler, and what a realistic row weighs."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

from bench import sizes
from bench.caller import ACQUIRE, NAME, Caller
from bench.figures import Figure, Section, below, exactly
from bench.stand import Stand

Step = tuple[str, Callable[[], Any], int]

_CALLS_NOTES = (
    "Calls are counted at botocore's before-send. The units of a write are MiniStack's own figures. It tells nothing "
    "of a refusal or a batch read, and half a unit or one of any other read, whatever its size: these are reckoned "
    "from the rows that came back, by DynamoDB's rules (a refusal: each started KB of the row; a read: each started "
    "4 KB of a row; a query: half a unit for each started 4 KB of all its rows, at least half a unit).",
)
_ROW_NOTES = (
    "Held, after an earlier lease: each attribute is filled. One byte over 1,024 doubles the price of each heartbeat.",
)


def of_each_verb(stand: Stand) -> Section:
    figures = []
    for what, request, calls in _steps(stand):
        cost = stand.cost(request)
        measured = f"{_told(cost.calls)}: {cost.units()}"
        figures.append(Figure(what, measured, len(cost.calls), exactly(calls), cost.numbers()))
    return Section("DynamoDB calls of one request", "calls", tuple(figures), _CALLS_NOTES)


def _steps(stand: Stand) -> Iterator[Step]:
    """In an order in which each does what its name says."""
    caller, shards = stand.caller, stand.app.service.settings.held_shards
    lease: dict[str, str] = {}
    yield "acquire, a new name", lambda: lease.update(caller.acquire(NAME, **ACQUIRE)), 1
    yield "acquire, refused", lambda: _refused(caller), 1
    yield "renew", lambda: caller.renew(NAME, lease["lease_id"]), 1
    yield "inspect", lambda: caller.inspect(NAME), 1
    yield f"list page, 1 row, {shards} shards", lambda: caller.list_page("repo/"), shards + 1
    yield "release", lambda: caller.release(NAME, lease["lease_id"]), 1
    yield "acquire, a name used before", lambda: _taken_again(caller), 1
    cold = stand.caller_of_a_cold_start()
    yield "acquire, token not cached", lambda: cold.acquire(f"{NAME}/cold", **ACQUIRE), 2


def _refused(caller: Caller) -> None:
    if _taken_again(caller)["status"] != "held":
        raise RuntimeError("a name that is held was granted again")


def _taken_again(caller: Caller) -> Any:
    return caller.acquire(NAME, **{**ACQUIRE, "idempotency_key": str(uuid4())})


def _told(calls: list[str]) -> str:
    counts = {call: calls.count(call) for call in calls}
    return " + ".join(call if count == 1 else f"{count} {call}" for call, count in counts.items())


def of_a_row(stand: Stand) -> Section:
    row = stand.row(NAME)
    size_bytes = sizes.item_bytes(row)
    what = (
        f"key {len(row['key']['S'])}, owner {len(row['owner']['S'])}, metadata {len(row['metadata']['S'])} characters"
    )
    figure = Figure("a realistic row", what, size_bytes, below(sizes.WRITE_UNIT_BYTES))
    return Section("Weight of a row", "bytes", (figure,), _ROW_NOTES)
