"""From the stream of the leases' table to the log and the bus.

A batch is worked through in order, and comes again from the record on that is reported as failed. Nothing is doubled
in the log by that, because each append is conditional. What fails is of two kinds:

    the log, the bus or the queue cannot be used   reported, so that this record and all later ones come again
    no event can be told from the record           sent to the dead-letter queue, and the others flow on

The second kind is ours to see to. Lambda would try such a record again and again, keep all later ones of its shard
waiting, and in the end discard it together with whatever came in the same batch.
"""

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib import log
from chalicelib.bus import LARGEST_CALL, Bus
from chalicelib.clock import Clock
from chalicelib.dead_letters import DeadLetters
from chalicelib.event_log import AppendedBeside, EventLog
from chalicelib.events import HEARTBEAT, Event, PoisonImage, event_of

# A slow log must not cost a batch its whole time: what was done by then is kept, and the rest comes again. The
# function's own time limit has to leave room for one last record and the bus.
LONGEST_RUN_MS = 20_000
# EventBridge's codes for an entry that it will not take at any later try either.
UNFIT_FOR_THE_BUS = frozenset({"MalformedDetail", "InvalidArgument"})

Record = Mapping[str, Any]
Emit = Callable[[Mapping[str, Any]], None]


class BusRefused(Exception):
    """The bus took other entries of the call, but not this one."""


class NowhereToPut(Exception):
    """The record is poison, and this stage has no queue for such."""


class OutOfTime(Exception):
    """Nothing is wrong with this record; there was no time left for it."""


@dataclass(frozen=True, slots=True)
class Told:
    """A record whose event is in the log, and the event's place there."""

    record: Record
    event: Event
    seq: str


class StreamHandler:
    def __init__(
        self,
        events: EventLog,
        *,
        bus: Bus | None,
        dead_letters: DeadLetters | None,
        log_heartbeats: bool,
        clock: Callable[[], Clock],
        emit: Emit,
    ) -> None:
        self._events = events
        self._bus = bus
        self._dead_letters = dead_letters
        self._log_heartbeats = log_heartbeats
        self._clock = clock
        self._emit = emit

    def handle(self, records: Sequence[Record]) -> dict[str, list[dict[str, str]]]:
        """An empty answer tells Lambda that all is done, so each failure is in it, by the number of its record."""
        told, failed = self._log_in_order(records)
        refused = self._put_on_bus(told)
        first = failed if refused is None else refused
        return {"batchItemFailures": [] if first is None else [{"itemIdentifier": _number(first)}]}

    def _log_in_order(self, records: Sequence[Record]) -> tuple[list[Told], Record | None]:
        """What is in the log now, and the record that it came to a stop at."""
        told: list[Told] = []
        started_ms = self._clock().now().ms
        for record in records:
            try:
                if self._clock().now().ms - started_ms > LONGEST_RUN_MS:
                    raise OutOfTime
                told += self._logged(record)
            except Exception:
                self._complain(record, "stream_record_failed", traceback.format_exc())
                return told, record
        return told, None

    def _logged(self, record: Record) -> Sequence[Told]:
        try:
            event, event_id = _event_in(record), str(record["eventID"])
        except Exception as error:
            # Nothing but the record was looked at until here, so it would fail again at every try.
            self._bury(record, f"{type(error).__name__}: {error}")
            return ()
        if event is None or (event.type == HEARTBEAT and not self._log_heartbeats):
            return ()
        appended = self._events.append(event, event_id, self._clock())
        if isinstance(appended, AppendedBeside):
            what = f"{event.key}: the log has {appended.twin} as this change already, so this is beside it"
            self._complain(record, "event_number_used_twice", what)
        return (Told(record, event, appended.seq),)

    def _put_on_bus(self, told: Sequence[Told]) -> Record | None:
        """The first record that has to come again for the bus's sake."""
        if self._bus is None:
            return None
        for start in range(0, len(told), LARGEST_CALL):
            refused = self._put_together(self._bus, told[start : start + LARGEST_CALL])
            if refused is not None:
                return refused
        return None

    def _put_together(self, bus: Bus, told: Sequence[Told]) -> Record | None:
        failing = told[0]
        try:
            codes = bus.put([(one.event, one.seq) for one in told])
            for failing, code in zip(told, codes, strict=True):
                if code is not None:
                    self._give_up_or_raise(failing, code)
        except Exception:
            self._complain(failing.record, "bus_failed", traceback.format_exc())
            return failing.record
        return None

    def _give_up_or_raise(self, told: Told, code: str) -> None:
        if code not in UNFIT_FOR_THE_BUS:
            raise BusRefused(code)
        self._bury(told.record, f"{told.event.key}: the bus answered {code}")

    def _bury(self, record: Record, why: str) -> None:
        """Without a queue, or if the queue cannot be used, the record fails, and Lambda's own destination is left."""
        self._complain(record, "stream_record_poison", why)
        if self._dead_letters is None:
            raise NowhereToPut(why)
        self._dead_letters.send(record, why)

    def _complain(self, record: Record, code: str, what: str) -> None:
        self._emit(log.fault(str(record.get("eventID", "")), code, what))


def _event_in(record: Record) -> Event | None:
    change, name = record["dynamodb"], record["eventName"]
    old, new = change.get("OldImage"), change.get("NewImage")
    if (name != "REMOVE" and new is None) or (name == "MODIFY" and old is None):
        raise PoisonImage("an image is missing: the stream must carry NEW_AND_OLD_IMAGES")
    return event_of(old, new)


def _number(record: Record) -> str:
    """Lambda takes an empty one for the failure of the whole batch, which is as safe."""
    return str(record.get("dynamodb", {}).get("SequenceNumber", ""))
