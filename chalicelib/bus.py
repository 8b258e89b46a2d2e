"""The EventBridge bus, where users hang webhooks, queues and alarms.

At least once, and in no promised order: a batch that is retried puts its events on the bus again. Consumers tell a
repeat by `id`, and the order of one job's events by `fencing_token` and `rev`.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from chalicelib.events import Event
from chalicelib.faces import event_answers

SOURCE = "octolease"
# PutEvents takes no more in one call.
LARGEST_CALL = 10

_encode = msgspec.json.Encoder().encode


class EventBridge(Protocol):
    """What is used of boto3's client."""

    def put_events(self, *, Entries: list[dict[str, str]]) -> dict[str, Any]: ...


class IncompleteAnswer(Exception):
    """The bus did not say of each entry what became of it."""


class Bus:
    def __init__(self, client: EventBridge, name: str) -> None:
        self._client = client
        self._name = name

    def put(self, told: Sequence[tuple[Event, str]]) -> list[str | None]:
        """For each event and its place in the log: the code of its refusal, or None. A call may succeed and refuse
        some of its entries, so its own success says nothing."""
        answer = self._client.put_events(Entries=[self._entry(event, seq) for event, seq in told])
        codes = [_refusal(entry) for entry in answer["Entries"]]
        if len(codes) != len(told) or answer.get("FailedEntryCount", 0) != len([code for code in codes if code]):
            raise IncompleteAnswer(f"{len(told)} entries, answered {codes}")
        return codes

    def _entry(self, event: Event, seq: str) -> dict[str, str]:
        return {
            "EventBusName": self._name,
            "Source": SOURCE,
            "DetailType": event.type,
            "Detail": _encode(event_answers.on_bus(event, seq)).decode(),
        }


def _refusal(entry: dict[str, Any]) -> str | None:
    return None if "EventId" in entry else str(entry.get("ErrorCode", "no code"))
