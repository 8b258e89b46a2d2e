"""What AWS calls besides the HTTP face: the handler of the table's stream, and the schedule."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import boto3
from botocore.config import Config

from chalicelib import log, times
from chalicelib.bus import Bus
from chalicelib.dead_letters import DeadLetters
from chalicelib.event_log import EventLog
from chalicelib.recovery import RUN_BUDGET_MS
from chalicelib.service import Service
from chalicelib.store import Store
from chalicelib.stream import StreamHandler

Emit = Callable[[Mapping[str, Any]], None]

# A call that fails is reported with its record and comes again, so botocore need not insist.
_ONCE_MORE = Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 2})


def on_lease(service: Service, emit: Emit, records: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """A batch of the stream into the log and onto the bus. The answer names the first record that has to come again."""
    return _handler(service, emit).handle(records)


def recover(service: Service, emit: Emit, time: str) -> None:
    """Each minute, over all namespaces. The schedule's own time is the stamp that this clock is held against."""
    stamp_ms = times.ms_of(time)
    late_ms = service.clock(stamp_ms).now().ms - stamp_ms
    swept = service.recovery.sweep_all(lambda: service.clock(stamp_ms), budget_ms=max(0, RUN_BUDGET_MS - late_ms))
    for trouble in swept.troubles:
        emit(log.fault("sweep", "noted", trouble))
    emit(log.sweep(recovered=len(swept.recovered), examined=swept.examined, complete=swept.stopped is None))


@lru_cache(maxsize=1)
def _handler(service: Service, emit: Emit) -> StreamHandler:
    settings = service.settings
    events = EventLog(
        Store(service.client, settings.events_table),
        feed_shards=settings.feed_shards,
        retention_days=settings.event_retention_days,
    )
    return StreamHandler(
        events,
        bus=Bus(_client("events"), settings.event_bus) if settings.event_bus else None,
        dead_letters=DeadLetters(_client("sqs"), settings.dead_letters) if settings.dead_letters else None,
        log_heartbeats=settings.log_heartbeats,
        clock=lambda: service.clock(None),
        emit=emit,
    )


def _client(name: str) -> Any:
    return boto3.client(name, config=_ONCE_MORE)
