"""What each verb of the lock face asks of DynamoDB."""

from typing import Any
from uuid import uuid4

from bench import calls
from bench.caller import ACQUIRE, NAME, Caller
from bench.calls import Step, Steps
from bench.figures import Section
from bench.stand import Stand


def of_each_verb(stand: Stand) -> Section:
    return calls.section("DynamoDB calls of a request: locks", _steps(stand), stand, calls.NOTES)


def _steps(stand: Stand) -> Steps:
    """In an order in which each does what its name says."""
    caller, shards = stand.caller, stand.app.service.settings.held_shards
    lease = yield Step("acquire, a new name", lambda: caller.acquire(NAME, **ACQUIRE), 1, "acquired")
    yield Step("acquire, refused", lambda: _by_another(caller), 1, "held")
    yield Step("renew", lambda: caller.renew(NAME, lease["lease_id"]), 1)
    yield Step("inspect", lambda: caller.inspect(NAME), 1, "held")
    yield Step(f"list page, 1 row, {shards} shards", lambda: caller.list_page("repo/"), shards + 1)
    yield Step("release", lambda: caller.release(NAME, lease["lease_id"]), 1)
    yield Step("acquire, a name used before", lambda: _by_another(caller), 1, "acquired")
    cold = stand.caller_of_a_cold_start()
    yield Step("acquire, token not cached", lambda: cold.acquire(f"{NAME}/cold", **ACQUIRE), 2, "acquired")


def _by_another(caller: Caller) -> Any:
    return caller.acquire(NAME, **{**ACQUIRE, "idempotency_key": str(uuid4())})
