"""What the service sends for requests, as boto3 is given it, and the rows that the store answers with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench import handler
from bench.caller import Caller
from infra import embedded, tables

Sent = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    sent: list[Sent] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def attach(self, events: Any) -> None:
        events.register("before-parameter-build.dynamodb.UpdateItem", self._keep_sent)
        events.register("after-call.dynamodb.UpdateItem", self._keep_row)

    def _keep_sent(self, params: Mapping[str, Any], **_: Any) -> None:
        self.sent.append(dict(params))

    def _keep_row(self, parsed: Mapping[str, Any], **_: Any) -> None:
        self.rows.append(parsed.get("Attributes", {}))


def writes_of(play: Callable[[Caller], Any]) -> Recording:
    """By an app of its own, over an empty store: nobody listens to the one that is measured."""
    recording = Recording()
    with embedded.dynamodb():
        tables.create_missing(handler.plain_client(), handler.chosen())
        token = handler.new_token(handler.start())
        play(Caller(handler.start(attach=recording.attach), token.bearer))
    return recording
