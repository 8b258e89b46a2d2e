"""The wire between botocore and DynamoDB: counts what passes, and loses what it is told to lose."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError
from moto.core import botocore_stubber

Act = Callable[[], None]


def _nothing() -> None: ...


class Transport:
    """`before-send` handlers around moto's own: one is asked before DynamoDB sees the request, one after it acted."""

    def __init__(self, client: Any) -> None:
        self.calls: list[str] = []
        self.requests: list[bytes] = []
        self._before: list[Act] = []
        self._after: list[Act] = []
        self._to_cut: list[str] = []
        self._cutting = ExitStack()
        self._events = client.meta.events
        self._events.register_first("before-send.dynamodb", self._on_request)
        # botocore asks the most general handlers last, and moto's is one of those.
        self._events.register_last("before-send", self._on_reply)

    def close(self) -> None:
        self._events.unregister("before-send.dynamodb", self._on_request)
        self._events.unregister("before-send", self._on_reply)

    def lose_request(self, times: int = 1, meanwhile: Act = _nothing) -> None:
        self._before += [_failing(ConnectTimeoutError, meanwhile)] * times

    def lose_reply(self, times: int = 1, meanwhile: Act = _nothing) -> None:
        """DynamoDB has applied the write, and nobody hears of it."""
        self._after += [_failing(ReadTimeoutError, meanwhile)] * times

    def cut_reply(self, call: str, times: int = 1) -> None:
        """DynamoDB has acted, and half of its answer arrives, under the headers of the whole."""
        self._to_cut += [call] * times

    def before_next(self, act: Act) -> None:
        self._before.append(act)

    def after_next(self, act: Act) -> None:
        self._after.append(act)

    def forget(self) -> None:
        self.calls.clear()
        self.requests.clear()

    def writes(self) -> list[str]:
        return [call for call in self.calls if call in {"UpdateItem", "PutItem", "DeleteItem", "TransactWriteItems"}]

    def _on_request(self, request: Any, **_: Any) -> None:
        self.calls.append(request.headers["X-Amz-Target"].decode().split(".")[-1])
        self.requests.append(request.body)
        if self.calls[-1] in self._to_cut:
            self._to_cut.remove(self.calls[-1])
            self._cutting.enter_context(patch.object(botocore_stubber, "MockRawResponse", _half))
        if self._before:
            self._before.pop(0)()

    def _on_reply(self, **_: Any) -> None:
        self._cutting.close()
        if self._after:
            self._after.pop(0)()


def _half(body: str | bytes, whole: Callable[[str | bytes], Any] = botocore_stubber.MockRawResponse) -> Any:
    return whole(body[: len(body) // 2])


def _failing(error: type[ConnectTimeoutError | ReadTimeoutError], meanwhile: Act) -> Act:
    def act() -> None:
        meanwhile()
        raise error(endpoint_url="dynamodb")

    return act
