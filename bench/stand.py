"""The service over an empty MiniStack, with a meter at its DynamoDB client."""

from collections.abc import Callable
from typing import Any

from bench import handler
from bench.caller import NAME, Caller
from bench.meter import Cost, Meter
from chalicelib.edge import Application
from infra import tables


class Stand:
    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._meter = Meter()
        self.client = handler.plain_client(endpoint)
        tables.create_missing(self.client, leases_table=handler.LEASES, tokens_table=handler.TOKENS)
        self.app = self._started()
        self._bearer = handler.new_token(self.app).bearer
        self.caller = Caller(self.app, self._bearer)
        self.caller.inspect(NAME)  # from here on the token is known

    def caller_of_a_cold_start(self) -> Caller:
        return Caller(self._started(), self._bearer)

    def cost(self, request: Callable[[], Any]) -> Cost:
        with self._meter.request() as cost:
            request()
        return cost

    def row(self, name: str) -> dict[str, Any]:
        key = {"key": {"S": key_of(name)}}
        item: dict[str, Any] = self.client.get_item(TableName=handler.LEASES, Key=key, ConsistentRead=True)["Item"]
        return item

    def _started(self) -> Application:
        return handler.start(endpoint=self._endpoint, attach=self._meter.attach)


def key_of(name: str) -> str:
    return f"{handler.NAMESPACE}/{name}"
