"""A clock for what is counted and not timed."""

import time


class MovedTime:
    """Stands still until it is moved, so that nothing ends and no cached token is read again behind the bench's back.
    Only a microsecond passes with each reading, because a fence is the time of its claim and has to rise."""

    def __init__(self) -> None:
        self._us = time.time_ns() // 1000

    def __call__(self) -> int:
        self._us += 1
        return self._us

    def move(self, *, seconds: int) -> None:
        self._us += seconds * 1_000_000
