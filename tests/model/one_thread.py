"""A pool of no threads, so that a seed gives the same history each time."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Asked = TypeVar("Asked")
Got = TypeVar("Got")


class OneThread:
    def __init__(self, _workers: int) -> None: ...

    def __enter__(self) -> "OneThread":
        return self

    def __exit__(self, *_: object) -> None: ...

    def map(self, act: Callable[[Asked], Got], asked: Iterable[Asked]) -> list[Got]:
        return [act(one) for one in asked]
