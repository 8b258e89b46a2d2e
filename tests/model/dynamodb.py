"""DynamoDB in memory, fast enough for thousands of histories: it evaluates the very expressions that the service sends.

Its indexes lag: a query sees every change in order, but not yet the last ones.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from botocore.exceptions import ClientError

from tests.model import expressions
from tests.model.expressions import InvalidExpression, Row

Request = Mapping[str, Any]
# A table, and a row of it before and after.
OnChange = Callable[[str, Row | None, Row | None], None]

MOST_CHANGES_BEHIND = 6
_INDEXED = {"held": "held_in", "bound": "session_id"}


def _nobody_listens(_table: str, _old: Row | None, _new: Row | None) -> None: ...


class InMemory:
    def __init__(self, lag: Random | None = None) -> None:
        self.tables: dict[str, dict[str, Row]] = {}
        self.on_change: OnChange = _nobody_listens
        # How often a query did not see all that had happened.
        self.behind = 0
        self._lag = lag
        self._index: dict[tuple[str, str], Row] = {}
        self._not_indexed: list[tuple[tuple[str, str], Row | None]] = []

    def row(self, table: str, key: str) -> Row | None:
        return self.tables.get(table, {}).get(key)

    def update_item(self, **request: Any) -> dict[str, Any]:
        key, old, new = self._updated(request["TableName"], request)
        if new is None:
            item = {"Item": old} if old else {}
            raise ClientError({"Error": _error("ConditionalCheckFailedException"), **item}, "UpdateItem")
        self.put(request["TableName"], key, new)
        match request.get("ReturnValues"):
            case "ALL_NEW":
                return {"Attributes": new}
            case "ALL_OLD" if old:
                return {"Attributes": old}
        return {}

    def _updated(self, table: str, request: Request) -> tuple[str, Row | None, Row | None]:
        """The row's key, the row as it is, and as it would be, or None if the condition says no."""
        ((key_name, typed),) = request["Key"].items()
        old = self.row(table, typed["S"])
        names, values = tuple(request["ExpressionAttributeNames"].items()), request["ExpressionAttributeValues"]
        try:
            if not expressions.condition(request["ConditionExpression"], names)(old or {}, values):
                return typed["S"], old, None
            new = expressions.update(request["UpdateExpression"], names)(old or {}, values)
        except InvalidExpression as error:
            raise ClientError({"Error": _error("ValidationException", str(error))}, "UpdateItem") from error
        return typed["S"], old, {**new, key_name: typed}

    def transact_write_items(self, **request: Any) -> dict[str, Any]:
        asked: list[Request] = [one["Update"] for one in request["TransactItems"]]
        found = [(one["TableName"], *self._updated(one["TableName"], one)) for one in asked]
        if any(new is None for *_, new in found):
            reasons = [_reason(old, new) for _, _, old, new in found]
            cancelled = {"Error": _error("TransactionCanceledException"), "CancellationReasons": reasons}
            raise ClientError(cancelled, "TransactWriteItems")
        for table, key, _, new in found:
            self.put(table, key, new)
        return {}

    def get_item(self, **request: Any) -> dict[str, Any]:
        assert request["ConsistentRead"]
        (typed,) = request["Key"].values()
        row = self.row(request["TableName"], typed["S"])
        return {"Item": row} if row else {}

    def batch_get_item(self, **request: Any) -> dict[str, Any]:
        ((table, asked),) = request["RequestItems"].items()
        assert asked["ConsistentRead"]
        rows = [self.row(table, typed["S"]) for key in asked["Keys"] for typed in key.values()]
        return {"Responses": {table: [row for row in rows if row]}, "UnprocessedKeys": {}}

    def query(self, **request: Any) -> dict[str, Any]:
        self._index_some()
        index, values = request["IndexName"], request["ExpressionAttributeValues"]
        wanted, low = values[":shard"] if index == "held" else values[":session"], values[":low"]["S"]
        high = values[":high"]["S"] if ":high" in values else "\U0010ffff"
        keys = sorted(
            key
            for (table, key), row in self._index.items()
            if table == request["TableName"] and row.get(_INDEXED[index]) == wanted and low <= key <= high
        )
        found = keys[: request.get("Limit")]
        return {"Items": [{"key": {"S": key}} for key in found], "Count": len(found)}

    def put_item(self, **_request: Any) -> dict[str, Any]:
        raise NotImplementedError("no verb puts a whole row")

    def remove(self, table: str, key: str) -> None:
        """As TTL does."""
        self.put(table, key, None)

    def put(self, table: str, key: str, new: Row | None) -> None:
        rows = self.tables.setdefault(table, {})
        old = rows.pop(key, None)
        if new is not None:
            rows[key] = new
        self._not_indexed.append(((table, key), new))
        self.on_change(table, old, new)

    def _index_some(self) -> None:
        behind = self._lag.randint(0, MOST_CHANGES_BEHIND) if self._lag else 0
        self.behind += bool(behind and self._not_indexed)
        while len(self._not_indexed) > behind:
            place, new = self._not_indexed.pop(0)
            self._index.pop(place, None)
            if new is not None:
                self._index[place] = new


def _reason(old: Row | None, new: Row | None) -> dict[str, Any]:
    if new is not None:
        return {"Code": "None"}
    return {"Code": "ConditionalCheckFailed", **({"Item": old} if old else {})}


def _error(code: str, message: str = "") -> dict[str, str]:
    return {"Code": code, "Message": message}
