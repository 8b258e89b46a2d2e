"""Requests a second of the local service, over calls a second made straight to the store that it embeds."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bench import handler, local_service
from bench.caller import ACQUIRE, NAME, Caller
from bench.figures import Figure, Section, at_least
from bench.local_service import ROOT, Address
from bench.recording import Sent, writes_of
from infra import embedded, tables

CYCLES = 40
ROUNDS = 16
CLIENTS = (1, 8)
# Without a key of its own: a repeated key would be a repeated request, and not a new acquire.
BODY = {field: value for field, value in ACQUIRE.items() if field != "idempotency_key"}

Rates = dict[str, float]

_NOTES = (
    f"The best of {ROUNDS} interleaved rounds of {CYCLES} acquires and releases: other work on this machine can only "
    "slow one down. The service is the program of `make run` in a process of its own; its clients are threads of "
    "another process that speaks HTTP by hand on kept-alive connections, and share the machine's cores with it. "
    "Direct: one thread sends the same updates by boto3 to the same embedded store, without HTTP and service. "
    "The log of the changes is written when nobody has asked for 50 ms, or after 2 s: mostly outside the rounds.",
)


def of_the_local_service() -> Section:
    updates = writes_of(_cycles).sent
    with local_service.running() as address, embedded.dynamodb():
        client = handler.service_client()
        tables.create_missing(client, handler.chosen())
        rounds = [_round(client, updates, address, f"direct-{number}") for number in range(ROUNDS + 1)]
    # The first one warms up.
    figures = tuple(_figure(clients, rounds[1:]) for clients in CLIENTS)
    return Section("Local service", "ratio", figures, _NOTES)


def _cycles(caller: Caller) -> None:
    for _ in range(CYCLES):
        caller.release(NAME, caller.acquire(NAME, **BODY)["lease_id"])


def _round(client: Any, updates: Sequence[Sent], address: Address, key: str) -> Rates:
    """Turn by turn, so that a busy moment of the machine hits all of them."""
    through = {_label(clients): _requests_a_second(address, clients) for clients in CLIENTS}
    return {"direct": _calls_a_second(client, updates, key), **through}


def _calls_a_second(client: Any, updates: Sequence[Sent], key: str) -> float:
    """On a row of its own: what was sent once is refused a second time, because its fence is no longer ahead."""
    requests = [{**update, "Key": {"key": {"S": key}}} for update in updates]
    started = time.perf_counter()
    for request in requests:
        client.update_item(**request)
    return len(requests) / (time.perf_counter() - started)


def _requests_a_second(address: Address, clients: int) -> float:
    told = {**asdict(address), "acquire": BODY, "clients": clients, "cycles": CYCLES}
    done = subprocess.run(
        [sys.executable, "-m", "bench.load"], input=json.dumps(told).encode(), capture_output=True, cwd=ROOT
    )
    if done.returncode:
        raise RuntimeError(f"the clients of the local service failed: {done.stderr.decode().strip()}")
    result = json.loads(done.stdout)
    return float(result["requests"] / result["seconds"])


def _figure(clients: int, rounds: Sequence[Rates]) -> Figure:
    label = _label(clients)
    service, direct = (max(one[name] for one in rounds) for name in (label, "direct"))
    details = {"requests_a_second": service, "direct_calls_a_second": direct}
    return Figure(f"{label} / direct", f"{service:.0f}/s / {direct:.0f}/s", service / direct, at_least(0.7), details)


def _label(clients: int) -> str:
    return f"service, {clients} client{'s' if clients > 1 else ''}"
