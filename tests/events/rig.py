"""The log, the bus and the queue around a stream handler, in a time that stands still until it is told to move."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import ConnectTimeoutError

from chalicelib import positions
from chalicelib.bus import Bus
from chalicelib.clock import Clock
from chalicelib.dead_letters import DeadLetters
from chalicelib.event_log import EventLog
from chalicelib.event_reader import Entry, EventReader
from chalicelib.settings import Settings
from chalicelib.store import DynamoDB, Store
from chalicelib.stream import StreamHandler
from tests.events.jobs import START_MS

NAMESPACE = "default"


class Time:
    def __init__(self) -> None:
        self.us = START_MS * 1000

    def __call__(self) -> int:
        return self.us

    @property
    def ms(self) -> int:
        return self.us // 1000

    def advance(self, *, seconds: float = 0, ms: int = 0) -> None:
        self.us += int(seconds * 1_000_000) + ms * 1000


class RecordingBus:
    """In the place of boto3's client. `refusals` are the codes for the next entries with those ids, once each."""

    def __init__(self) -> None:
        self.calls: list[list[dict[str, str]]] = []
        self.refusals: dict[str, str] = {}
        self.down = False

    @property
    def entries(self) -> list[dict[str, str]]:
        return [entry for call in self.calls for entry in call]

    @property
    def ids(self) -> list[str]:
        return [json.loads(entry["Detail"])["id"] for entry in self.entries]

    def put_events(self, *, Entries: list[dict[str, str]]) -> dict[str, Any]:
        if self.down:
            raise ConnectTimeoutError(endpoint_url="events")
        codes = [self.refusals.pop(json.loads(entry["Detail"])["id"], None) for entry in Entries]
        self.calls.append([entry for entry, code in zip(Entries, codes, strict=True) if code is None])
        return {
            "FailedEntryCount": sum(code is not None for code in codes),
            "Entries": [{"ErrorCode": code} if code else {"EventId": "1"} for code in codes],
        }


class RecordingQueue:
    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.down = False

    @property
    def records(self) -> list[dict[str, Any]]:
        return [body["record"] for body in self.bodies]

    def send_message(self, *, QueueUrl: str, MessageBody: str) -> dict[str, Any]:
        if self.down:
            raise ConnectTimeoutError(endpoint_url=QueueUrl)
        self.bodies.append(json.loads(MessageBody))
        return {"MessageId": "1"}


class Rig:
    def __init__(self, client: DynamoDB, settings: Settings) -> None:
        self.time = Time()
        self.bus = RecordingBus()
        self.queue = RecordingQueue()
        self.lines: list[Mapping[str, Any]] = []
        self.settings = settings
        self._store = Store(client, settings.events_table)
        self.log = EventLog(self._store, feed_shards=settings.feed_shards, retention_days=settings.event_retention_days)
        self.reader = EventReader(self._store, feed_shards=settings.feed_shards, feed_lag_ms=settings.feed_lag_ms)
        self.handler = self.handler_with()
        self.handle = self.handler.handle

    def clock(self) -> Clock:
        return Clock(self.time, stamp_ms=None, margin_ms=self.settings.skew_margin_ms)

    def handler_with(self, **other: Any) -> StreamHandler:
        usual: dict[str, Any] = {
            "bus": Bus(self.bus, "octolease-test"),
            "dead_letters": DeadLetters(self.queue, "https://queue"),
            "log_heartbeats": False,
            "clock": self.clock,
            "emit": self.lines.append,
        }
        return StreamHandler(self.log, **{**usual, **other})

    @property
    def complaints(self) -> list[str]:
        return [line["code"] for line in self.lines]

    def history(self, name: str = "job", *, after: str = positions.START_OF_HISTORY, limit: int = 100) -> list[Entry]:
        key = f"{NAMESPACE}/{name}"
        return list(self.reader.history(key, after=after, limit=limit, clock=self.clock()).entries)

    def types(self, name: str = "job") -> list[str]:
        return [entry.event.type for entry in self.history(name)]


NewRig = Callable[..., Rig]
