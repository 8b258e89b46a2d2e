"""Recovery on demand: marks what is over in the caller's namespace."""

from base64 import b64decode, urlsafe_b64encode

from chalicelib import names
from chalicelib.call import Answer, Call
from chalicelib.errors import InvalidInput
from chalicelib.recovery import Place
from chalicelib.row import Lease
from chalicelib.times import rfc3339
from chalicelib.wire import jobs as wire


def recover(call: Call) -> Answer:
    start = _place(call.request.query["cursor"], call) if "cursor" in call.request.query else None
    low, high = names.key_range(call.principal.namespace, call.principal.prefix, None)
    swept = call.service.recovery.sweep_range(low, high, start, call.clock)
    for key in swept.unreadable:
        call.note(f"unreadable row left alone by the sweep: {key}")
    recovered = [_recovered(row) for row in swept.recovered]
    cursor = _cursor(swept.stopped) if swept.stopped else None
    return Answer(wire.Recovery(recovered, swept.examined, cursor), outcome="recovered")


def _recovered(row: Lease) -> wire.Recovered:
    return wire.Recovered(names.name_of(row.key), row.owner, row.fence, rfc3339(row.holder_until_ms))


def _cursor(place: Place) -> str:
    return urlsafe_b64encode(f"{place.shard} {names.name_of(place.after)}".encode()).decode().rstrip("=")


def _place(cursor: str, call: Call) -> Place:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        shard, name = b64decode(padded, altchars=b"-_", validate=True).decode("ascii").split(" ")
        place = Place(shard, names.key_of(call.principal.namespace, names.checked(name)))
    except (ValueError, InvalidInput):
        raise _foreign() from None
    if place.shard not in call.service.held.shards:
        raise _foreign()
    return place


def _foreign() -> InvalidInput:
    return InvalidInput(
        "cursor: this is not one of ours. Send next_cursor of the answer before, or leave it out to start anew.",
        field="cursor",
    )
