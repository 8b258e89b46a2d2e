"""What Lambda's event source does between a table's stream and a handler, on a machine without AWS.

As there, a batch is tried again from its first failed record on, so nothing is skipped; a record that has failed too
often is given up with a line in the log, so that it does not hold up the rest for ever.

Not promised: several shards at once, and a queue for what the delivery itself gives up.
"""

import traceback
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from chalicelib import log
from infra.background import Emit, Wait
from infra.proxy_event import LambdaContext
from infra.stream_reader import Record, StreamReader

Handler = Callable[[dict[str, Any], Any], Any]

IDLE_SECONDS = 0.2
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.2, 5.0
TRIES = 10


class Broken(Exception):
    """The end has come while records were left to deliver."""


class Delivery:
    """Hands records to a handler until each of them is done or given up."""

    def __init__(self, handler: Handler, *, wait: Wait, emit: Emit) -> None:
        self._handler = handler
        self._wait = wait
        self._emit = emit

    def deliver(self, records: Sequence[Record]) -> None:
        left, at_once, tries = list(records), len(records), 0
        while left:
            asked = len(left[:at_once])
            done = self._done(left[:at_once])
            left = left[done:]
            if done == asked:
                at_once, tries = len(left), 0
                continue
            # A handler that raises does not say at which record: smaller batches find it.
            at_once, tries = (len(left), 1) if done else (max(1, at_once // 2), tries + 1)
            if tries == TRIES:
                self._give_up(left.pop(0))
                at_once, tries = len(left), 0
            elif self._wait(pause_seconds(tries)):
                raise Broken

    def _done(self, records: Sequence[Record]) -> int:
        """How many of them, from the first on, need not come again."""
        try:
            answer = self._handler({"Records": list(records)}, LambdaContext(str(uuid4())))
            failed = [failure["itemIdentifier"] for failure in (answer or {}).get("batchItemFailures") or ()]
        except Exception:
            self._emit(log.fault("pump", "delivery_failed", traceback.format_exc()))
            return 0
        numbers = [_number(record) for record in records]
        # As on AWS, a number that is none of them is the failure of all.
        return min((numbers.index(number) if number in numbers else 0 for number in failed), default=len(records))

    def _give_up(self, record: Record) -> None:
        what = f"record {_number(record)} of {record['dynamodb'].get('Keys')} failed {TRIES} times and is left out"
        self._emit(log.fault("pump", "delivery_given_up", what))


class StreamPump:
    """Reads and delivers until the end comes. What fails on the way is said once, and tried again."""

    def __init__(
        self, reader: StreamReader, handler: Handler, *, wanted: Callable[[Record], bool], wait: Wait, emit: Emit
    ) -> None:
        self._reader = reader
        self._delivery = Delivery(handler, wait=wait, emit=emit)
        self._wanted = wanted
        self._wait = wait
        self._emit = emit
        self._said = ""

    def run(self) -> None:
        failures, seconds = 0, 0.0
        while not self._wait(seconds):
            try:
                seconds = 0.0 if self._round() else IDLE_SECONDS
                failures, self._said = 0, ""
            except Broken:
                return
            except Exception as error:
                self._say_once(error)
                self._reader.look_again()
                failures += 1
                seconds = pause_seconds(failures)

    def _round(self) -> bool:
        came = False
        for records in self._reader.batches():
            came = came or bool(records)
            self._delivery.deliver([record for record in records if self._wanted(record)])
        return came

    def _say_once(self, error: Exception) -> None:
        if repr(error) != self._said:
            self._emit(log.fault("pump", "stream_failed", "".join(traceback.format_exception(error))))
            self._said = repr(error)


def is_no_heartbeat(record: Record) -> bool:
    """What the filter of the event source lets through on AWS, where heartbeats are not logged."""
    new = record["dynamodb"].get("NewImage", {})
    return bool(new.get("op") != {"S": "heartbeat"})


def pause_seconds(tries: int) -> float:
    doubled = min(tries - 1, 10)  # a store may be away for days, and a float ends at 2**1024
    return float(min(FIRST_PAUSE_SECONDS * 2**doubled, LONGEST_PAUSE_SECONDS))


def _number(record: Record) -> str:
    return str(record["dynamodb"]["SequenceNumber"])
