"""The service over an empty MiniStack, with a meter at its DynamoDB client and a clock that can be moved."""

from collections.abc import Callable
from typing import Any

from bench import handler
from bench.caller import NAME, Caller
from bench.meter import Cost, Meter
from bench.moved_time import MovedTime
from chalicelib.edge import Application
from infra import tables


class Stand:
    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._meter = Meter()
        self._time = MovedTime()
        self.client = handler.plain_client(endpoint)
        tables.create_missing(self.client, handler.chosen())
        self.app = self.started()
        self._bearer = handler.new_token(self.app).bearer
        self.caller = self._caller(self.app)
        self.wait(seconds=0)  # from here on the token is known

    def caller_of_a_cold_start(self) -> Caller:
        return self._caller(self.started())

    def wait(self, *, seconds: int) -> None:
        """The token is read again if its time in the cache has passed, by a request that nobody measures."""
        self._time.move(seconds=seconds)
        self.caller.inspect(NAME)

    def cost(self, request: Callable[[], Any]) -> tuple[Any, Cost]:
        """What was answered, and what it cost."""
        with self._meter.request() as cost:
            answer = request()
        return answer, cost

    def row(self, name: str) -> dict[str, Any]:
        key = {"key": {"S": key_of(name)}}
        item: dict[str, Any] = self.client.get_item(TableName=handler.LEASES, Key=key, ConsistentRead=True)["Item"]
        return item

    def started(self, **chosen: str) -> Application:
        """An app on its own, with other settings if need be."""
        return handler.start(endpoint=self._endpoint, attach=self._meter.attach, read_us=self._time, **chosen)

    def _caller(self, app: Application) -> Caller:
        return Caller(app, self._bearer, self._time)


def key_of(name: str) -> str:
    return f"{handler.NAMESPACE}/{name}"
