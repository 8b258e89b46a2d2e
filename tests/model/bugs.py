"""Stores that do what DynamoDB never would, to see whether the checker notices."""

from typing import Any

from tests.model import expressions
from tests.model.clocks import DAY_MS
from tests.model.dynamodb import InMemory, Request
from tests.model.expressions import Row

Updated = tuple[str, Row | None, Row | None]


def _is(op: str, request: Request) -> bool:
    return f":S_{op}" in request["ExpressionAttributeValues"] and ":lease_id" in request["ExpressionAttributeValues"]


class DoubleGrant(InMemory):
    """Grants to some whose condition says no."""

    def _updated(self, table: str, request: Request) -> Updated:
        key, old, new = super()._updated(table, request)
        if new is None and old is not None and _is("claim", request) and int(old["rev"]["N"]) % 3 == 0:
            names = tuple(request["ExpressionAttributeNames"].items())
            new = expressions.update(request["UpdateExpression"], names)(old, request["ExpressionAttributeValues"])
        return key, old, new


class LostRelease(InMemory):
    """Says that it has written, and has not."""

    def update_item(self, **request: Any) -> dict[str, Any]:
        if _is("release", request):
            self._updated(request["TableName"], request)
            return {}
        return super().update_item(**request)


class FenceStepsBack(InMemory):
    def _updated(self, table: str, request: Request) -> Updated:
        key, old, new = super()._updated(table, request)
        if new is not None and old is not None and _is("claim", request):
            new = {**new, "fence": {"N": str(int(old["fence"]["N"]) - 1)}}
        return key, old, new


class Resurrected(InMemory):
    """Puts an older image of a row back, as a replica that lags and wins would."""

    def put(self, table: str, key: str, new: Row | None) -> None:
        old = self.row(table, key)
        super().put(table, key, new)
        if new is not None and old is not None and "lease_id" in old and "lease_id" not in new:
            super().put(table, key, old)


class EventsDoubled(InMemory):
    """A change that its stream shows twice."""

    def put(self, table: str, key: str, new: Row | None) -> None:
        old = self.row(table, key)
        super().put(table, key, new)
        if new is not None and "op" in new and new["op"]["S"] == "release":
            self.on_change(table, old, new)


class EventsMissing(InMemory):
    """A change that its stream leaves out."""

    def put(self, table: str, key: str, new: Row | None) -> None:
        listener = self.on_change
        if new is not None and "op" in new and new["op"]["S"] == "cancel":
            self.on_change = lambda _table, _old, _new: None
        super().put(table, key, new)
        self.on_change = listener


class TtlTooSoon(InMemory):
    def _updated(self, table: str, request: Request) -> Updated:
        key, old, new = super()._updated(table, request)
        if new is not None and "ttl" in new:
            new = {**new, "ttl": {"N": str(int(new["ttl"]["N"]) - 2 * DAY_MS // 1000)}}
        return key, old, new
