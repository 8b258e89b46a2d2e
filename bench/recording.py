"""What the service sends for requests, as boto3 is given it."""

from collections.abc import Callable, Mapping
from typing import Any

from bench import handler, transport
from bench.caller import Caller

Sent = dict[str, Any]


def writes_of(play: Callable[[Caller], Any]) -> list[Sent]:
    """By an app of its own, over a store that applies every write: nobody listens to the one that is measured."""
    token = handler.a_token()
    stub, sent = transport.granting(token), list[Sent]()

    def keep(params: Mapping[str, Any], **_: Any) -> None:
        sent.append(dict(params))

    def attach(events: Any) -> None:
        stub.attach(events)
        events.register("before-parameter-build.dynamodb.UpdateItem", keep)

    play(Caller(handler.start(attach=attach), token.bearer))
    return sent
