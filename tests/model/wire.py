"""The wire between the service and DynamoDB: it loses, delays and doubles what passes.

A call is held up while true time goes on and others act, so that it lands with an old reading of the clock:

    fate             DynamoDB sees it        the service hears
    ---------------  ----------------------  ------------------------
    passes           at once or held up      the answer
    request lost     never                   a time-out
    reply lost       at once                 a time-out
    astray           long after              a time-out
    throttled        never                   a refusal by DynamoDB
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError

from chalicelib.store import DynamoDB
from tests.model.clocks import TrueTime

WRITES = frozenset({"update_item", "transact_write_items"})
CONNECT_TIMEOUT_MS, READ_TIMEOUT_MS = 1_000, 2_000


@dataclass(frozen=True, slots=True)
class Weather:
    """How likely each fate is."""

    held_up: float = 0.25
    request_lost: float = 0.02
    reply_lost: float = 0.04
    astray: float = 0.03
    throttled: float = 0.005
    others_act: float = 0.35
    pauses_ms: tuple[float, ...] = (0.5, 3, 3, 40, 40, 200, 450, 700, 1_100, 2_800)


CALM = Weather(held_up=0, request_lost=0, reply_lost=0, astray=0, throttled=0, others_act=0)


class Wire:
    """`meanwhile` is what others do while a call is under way."""

    def __init__(self, beyond: DynamoDB, time: TrueTime, rng: Random, weather: Weather) -> None:
        self._beyond = beyond
        self._time = time
        self._rng = rng
        self._astray: list[tuple[int, str, dict[str, Any]]] = []
        self.weather = weather
        self.counted: Counter[str] = Counter()
        self.say: Callable[[str], None] = lambda _line: None
        self.meanwhile: Callable[[], None] = lambda: None

    def update_item(self, **request: Any) -> dict[str, Any]:
        return self._call("update_item", request)

    def transact_write_items(self, **request: Any) -> dict[str, Any]:
        return self._call("transact_write_items", request)

    def get_item(self, **request: Any) -> dict[str, Any]:
        return self._call("get_item", request)

    def batch_get_item(self, **request: Any) -> dict[str, Any]:
        return self._call("batch_get_item", request)

    def query(self, **request: Any) -> dict[str, Any]:
        return self._call("query", request)

    def put_item(self, **request: Any) -> dict[str, Any]:
        return self._call("put_item", request)

    def pass_time(self, ms: float) -> None:
        """What went astray lands when its moment has come."""
        until_us = self._time.us + int(ms * 1000)
        while self._astray and self._astray[0][0] <= until_us:
            due_us, call, request = self._astray.pop(0)
            self._time.us = max(self._time.us, due_us)
            self._land(call, request)
        self._time.us = max(self._time.us, until_us)

    def _land(self, call: str, request: dict[str, Any]) -> None:
        try:
            getattr(self._beyond, call)(**request)
            self._note("astray, applied")
        except ClientError:
            self._note("astray, refused")

    def _call(self, call: str, request: dict[str, Any]) -> dict[str, Any]:
        self._hold_up()
        fate, weather = self._rng.random(), self.weather
        if (fate := fate - weather.request_lost) < 0:
            self._time_out("request lost", CONNECT_TIMEOUT_MS)
            raise ConnectTimeoutError(endpoint_url="dynamodb")
        if (fate := fate - weather.throttled) < 0:
            self._note("throttled")
            raise ClientError({"Error": {"Code": "ThrottlingException", "Message": ""}}, call)
        if (fate := fate - weather.astray) < 0 and call in WRITES:
            self._lead_astray(call, request)
            raise ReadTimeoutError(endpoint_url="dynamodb")
        is_lost = 0 <= fate < weather.reply_lost
        try:
            answer: dict[str, Any] = getattr(self._beyond, call)(**request)
        except ClientError:  # a refusal can be lost as well as a success
            self._bring_back(is_lost=is_lost)
            raise
        self._bring_back(is_lost=is_lost)
        return answer

    def _lead_astray(self, call: str, request: dict[str, Any]) -> None:
        late_ms = self._rng.choice((300, 1_500, 2_500, 4_000, 9_000, 40_000))
        self._astray.append((self._time.us + late_ms * 1000, call, request))
        self._astray.sort(key=lambda one: one[0])
        self._time_out(f"astray for {late_ms} ms", READ_TIMEOUT_MS)

    def _bring_back(self, *, is_lost: bool) -> None:
        if is_lost:
            self._time_out("reply lost", READ_TIMEOUT_MS)
            raise ReadTimeoutError(endpoint_url="dynamodb")
        self._hold_up()

    def _time_out(self, what: str, ms: int) -> None:
        self._note(what)
        self._pass_while_others_act(ms)

    def _hold_up(self) -> None:
        if self._rng.random() < self.weather.held_up:
            ms = self._rng.choice(self.weather.pauses_ms)
            self._note(f"held up for {ms} ms")
            self._pass_while_others_act(ms)

    def _pass_while_others_act(self, ms: float) -> None:
        before_ms = ms * self._rng.random()
        self.pass_time(before_ms)
        if self._rng.random() < self.weather.others_act:
            self.meanwhile()
        self.pass_time(ms - before_ms)

    def _note(self, what: str) -> None:
        self.counted[what.split(" for ")[0]] += 1
        self.say(f"    {what}")
