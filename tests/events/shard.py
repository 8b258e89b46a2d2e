"""A shard of the leases' stream, and Lambda's part in reading it."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.events.jobs import Change

Record = dict[str, Any]
Answer = Mapping[str, Any] | None
TTL_SERVICE = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}

FIRST_NUMBER = 100_000_000_000_000_000_000


class Shard:
    """Keeps its records in order, and hands them out from the last checkpoint on, as Lambda does."""

    def __init__(self, name: str = "a") -> None:
        self.records: list[Record] = []
        self.checkpoint = 0
        self._name = name

    def add(self, *changes: Change) -> list[Record]:
        added = [self._record(len(self.records) + place, change) for place, change in enumerate(changes)]
        self.records += added
        return added

    def _record(self, place: int, change: Change) -> Record:
        seen = change.new or change.old or {}
        images = {"OldImage": change.old, "NewImage": change.new}
        record: Record = {
            "eventID": f"{self._name}{place:031x}",
            "eventName": "REMOVE" if change.new is None else "INSERT" if change.old is None else "MODIFY",
            "eventSource": "aws:dynamodb",
            "dynamodb": {
                "Keys": {"key": seen.get("key")},
                "SequenceNumber": str(FIRST_NUMBER + place),
                "StreamViewType": "NEW_AND_OLD_IMAGES",
                **{name: shown for name, shown in images.items() if shown is not None},
            },
        }
        return record if change.new is not None else {**record, "userIdentity": TTL_SERVICE}

    def deliver(self, handle: Callable[[list[Record]], Answer], *, batch: int = 100) -> None:
        """One batch. An answer with nothing in it means success to Lambda, whatever really happened; a number means
        that everything before it is done; an exception, that nothing is."""
        records = self.records[self.checkpoint : self.checkpoint + batch]
        answer = handle(records)
        failures = (answer or {}).get("batchItemFailures") or []
        if not failures:
            self.checkpoint += len(records)
            return
        numbers = [failure["itemIdentifier"] for failure in failures]
        self.checkpoint += min(place for place, record in enumerate(records) if number_of(record) in numbers)

    @property
    def left(self) -> int:
        return len(self.records) - self.checkpoint


def number_of(record: Record) -> str:
    return str(record["dynamodb"]["SequenceNumber"])


def reported(answer: Mapping[str, Any]) -> list[str]:
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]
