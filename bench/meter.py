"""What the service asks of DynamoDB, seen from botocore's events: the service itself is not touched."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bench import sizes

_VERBS = ("UpdateItem", "GetItem", "Query", "BatchGetItem")


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
            (self.index_writes, "index write"),
            (self.reads, "read"),
        ]
        return " + ".join(f"{units:g} {kind}" for units, kind in parts if units)

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

    def _ask_for_capacity(self, params: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "INDEXES"

    def _count(self, event_name: str, **_: Any) -> None:
        self._cost.calls.append(event_name.rsplit(".", 1)[1])

    def _add(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        match model.name:
            case "UpdateItem":
                self._add_write(parsed)
            case "GetItem":
                self._cost.reads += sizes.consistent_read_units(sizes.item_bytes(parsed.get("Item", {})))
            case "Query":
                self._cost.reads += sizes.query_units(_all_that_was_read(parsed))
            case "BatchGetItem":
                rows = [row for rows in parsed["Responses"].values() for row in rows]
                self._cost.reads += sum(sizes.consistent_read_units(sizes.item_bytes(row)) for row in rows)

    def _add_write(self, parsed: dict[str, Any]) -> None:
        if "Error" in parsed:
            self._cost.table_writes += sizes.write_units(sizes.item_bytes(parsed.get("Item", {})))
            return
        capacity = parsed["ConsumedCapacity"]
        indexes = capacity.get("GlobalSecondaryIndexes", {}).values()
        self._cost.table_writes += capacity["Table"]["CapacityUnits"]
        self._cost.index_writes += sum(index["CapacityUnits"] for index in indexes)


def _all_that_was_read(parsed: dict[str, Any]) -> list[sizes.RawItem]:
    """Rows that a filter drops are paid for and not seen, so their price could not be reckoned from the answer."""
    if parsed["ScannedCount"] != parsed["Count"]:
        raise ValueError(f"a query read {parsed['ScannedCount']} rows to answer with {parsed['Count']}")
    items: list[sizes.RawItem] = parsed["Items"]
    return items
