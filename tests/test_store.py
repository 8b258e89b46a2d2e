"""The store by itself, on a client that answers as told."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.clock import Clock
from chalicelib.errors import RateLimited
from chalicelib.store import Store
from tests.world import MARGIN_MS, Time

KEYS = [{"key": {"S": name}} for name in "abcdefgh"]


class ReadsOneKey:
    """Leaves all but the first key of a batch unread."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def batch_get_item(self, RequestItems: Any) -> Any:
        first, *others = RequestItems["t"]["Keys"]
        self.asked.append(1 + len(others))
        return {"Responses": {"t": [first]}, "UnprocessedKeys": {"t": {"Keys": others}} if others else {}}


def read_all(client: Any, pause: Callable[[float], None], time: Time) -> list[Any]:
    clock = Clock(time, stamp_ms=None, margin_ms=MARGIN_MS)
    return list(Store(client, "t", pause=pause).get_many(KEYS, clock))


def test_what_a_batch_left_unread_is_asked_for_again_after_growing_pauses() -> None:
    client, pauses = ReadsOneKey(), list[float]()
    assert read_all(client, pauses.append, Time()) == KEYS
    assert client.asked == [8, 7, 6, 5, 4, 3, 2, 1]
    longest = [0.05, 0.1, 0.2, 0.4, 0.8, 0.8, 0.8]
    assert all(at_most / 2 <= pause <= at_most for pause, at_most in zip(pauses, longest, strict=True)), pauses


def test_two_callers_do_not_pause_equally_long() -> None:
    pauses = list[float]()
    for _ in range(20):
        read_all(ReadsOneKey(), pauses.append, Time())
    assert len(set(pauses[::7])) > 1


def test_no_pause_is_made_where_nothing_was_left() -> None:
    class ReadsAll:
        def batch_get_item(self, RequestItems: Any) -> Any:
            return {"Responses": {"t": RequestItems["t"]["Keys"]}}

    pauses = list[float]()
    assert read_all(ReadsAll(), pauses.append, Time()) == KEYS
    assert pauses == []


def test_pauses_count_against_the_budget_of_the_request() -> None:
    time, client = Time(), ReadsOneKey()
    with pytest.raises(RateLimited) as refused:
        read_all(client, lambda _: time.advance(seconds=2), time)
    assert client.asked == [8, 7, 6]
    assert refused.value.details is None
    assert "unprocessed 3 times" in str(refused.value.logged)
