"""What the service asks of DynamoDB, seen from botocore's events: the service itself is not touched."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bench import sizes

_VERBS = ("UpdateItem", "GetItem", "Query", "BatchGetItem", "TransactWriteItems")
_KEYS_ASKED_FOR = "keys_asked_for"


@dataclass(slots=True)
class Cost:
    """Of one request. Writes are told by the store; reads and refusals, which it tells wrongly or not at all, are
    reckoned from what came back."""

    calls: list[str] = field(default_factory=list)
    table_writes: float = 0
    index_writes: float = 0
    reads: float = 0

    def units(self) -> str:
        parts = [
            (self.table_writes, "write"),
            (self.index_writes, "index"),
            (self.reads, "read"),
        ]
        return " + ".join(f"{units:g} {kind}" for units, kind in parts if units) or "not told"

    def numbers(self) -> dict[str, float]:
        return {
            "calls": len(self.calls),
            "table_write_units": self.table_writes,
            "index_write_units": self.index_writes,
            "read_units": self.reads,
        }


class Meter:
    def __init__(self) -> None:
        self._cost = Cost()

    @contextmanager
    def request(self) -> Iterator[Cost]:
        self._cost = Cost()
        yield self._cost

    def attach(self, events: Any) -> None:
        for verb in _VERBS:
            events.register(f"before-parameter-build.dynamodb.{verb}", self._ask_for_capacity)
            events.register(f"before-send.dynamodb.{verb}", self._count)
            events.register(f"after-call.dynamodb.{verb}", self._add)

    def _ask_for_capacity(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "INDEXES"
        asked = params.get("RequestItems", {}).values()
        context[_KEYS_ASKED_FOR] = sum(len(table["Keys"]) for table in asked)

    def _count(self, event_name: str, **_: Any) -> None:
        self._cost.calls.append(event_name.rsplit(".", 1)[1])

    def _add(self, parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        match model.name:
            case "UpdateItem" if "Error" in parsed:
                self._cost.table_writes += sizes.write_units(sizes.item_bytes(parsed.get("Item", {})))
            case "UpdateItem":
                self._add_write(parsed["ConsumedCapacity"])
            case "TransactWriteItems":
                for capacity in parsed.get("ConsumedCapacity", ()):
                    self._add_write(capacity)
            case "GetItem":
                self._cost.reads += sizes.consistent_read_units(sizes.item_bytes(parsed.get("Item", {})))
            case "Query":
                self._cost.reads += sizes.query_units(_all_that_was_read(parsed))
            case "BatchGetItem":
                rows = [row for rows in parsed["Responses"].values() for row in rows]
                self._cost.reads += sum(sizes.consistent_read_units(sizes.item_bytes(row)) for row in rows)
                # A row that is not there costs as much as a small one.
                self._cost.reads += context[_KEYS_ASKED_FOR] - len(rows)

    def _add_write(self, capacity: dict[str, Any]) -> None:
        indexes = capacity.get("GlobalSecondaryIndexes", {}).values()
        index_writes = sum(index["CapacityUnits"] for index in indexes)
        self._cost.table_writes += capacity["CapacityUnits"] - index_writes
        self._cost.index_writes += index_writes


def _all_that_was_read(parsed: dict[str, Any]) -> list[sizes.RawItem]:
    """Rows that a filter drops are paid for and not seen, so their price could not be reckoned from the answer."""
    if parsed["ScannedCount"] != parsed["Count"]:
        raise ValueError(f"a query read {parsed['ScannedCount']} rows to answer with {parsed['Count']}")
    items: list[sizes.RawItem] = parsed["Items"]
    return items
