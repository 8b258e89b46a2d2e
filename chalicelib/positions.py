"""Where a reader of the log stands. As a cursor it is opaque to callers, and checked when it comes back.

    in the history of one name   fence.rev           of the last event that was read; `.event_id` if it has a twin
    in the feed of a namespace   logged              of the last event that was read
                                 a time              if none was read yet: all that was logged from then on

All are digits of fixed length, so that the order of texts is the order of what they say. No position names a job: a
token that sees a part of the names must not learn the others from its cursor.
"""

import re

from chalicelib import cursors
from chalicelib.events import Event

_ID = "[!-~]{1,128}"
_in_history = re.compile(rf"\d{{16}}\.\d{{10}}(\.{_ID})?", re.ASCII)
_in_feed = re.compile(rf"\d{{15}}(\.\d{{16}}\.\d{{10}}\.{_ID})?", re.ASCII)

# Below every event's place, and not empty, because DynamoDB takes no empty key.
START_OF_HISTORY = "0"


def seq(event: Event) -> str:
    return f"{event.fence:016d}.{event.rev:010d}"


def beside(event: Event, event_id: str) -> str:
    """Directly behind the twin that has this event's number already."""
    return f"{seq(event)}.{event_id}"


def is_beside(seq: str) -> bool:
    return seq.count(".") > 1


def rev_at(position: str) -> int:
    """Of the last event that was read in a history, 0 at its start."""
    return 0 if position == START_OF_HISTORY else int(position.split(".")[1])


def logged(event: Event, event_id: str, at_ms: int) -> str:
    """The id makes it unique; fence and rev keep the events of one name in order that were logged at one moment."""
    return f"{at_time(at_ms)}.{seq(event)}.{event_id}"


def at_time(ms: int) -> str:
    """Before all that is logged in this millisecond, after all that was logged in earlier ones."""
    return f"{ms:015d}"


def in_history(cursor: str) -> str:
    return _read(cursor, _in_history)


def in_feed(cursor: str) -> str:
    return _read(cursor, _in_feed)


def _read(cursor: str, pattern: re.Pattern[str]) -> str:
    position = cursors.read(cursor)
    if not pattern.fullmatch(position):
        raise cursors.foreign()
    return position
