"""Loops beside the server, each in a thread of its own, that end together with it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

# Waits for so many seconds, and says whether the end has come.
Wait = Callable[[float], bool]
Emit = Callable[[Mapping[str, Any]], None]
Loop = Callable[[Wait], None]

# A call that is under way is waited for; a store that hangs is not.
STOP_SECONDS = 2.0


@contextmanager
def in_background(*loops: Loop) -> Iterator[None]:
    """A loop ends when its wait says so."""
    ended = Event()
    threads = [Thread(target=loop, args=(ended.wait,), daemon=True) for loop in loops]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join(STOP_SECONDS)
