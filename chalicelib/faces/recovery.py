"""Recovery on demand: marks what is over in the caller's namespace."""

from chalicelib import cursors, names
from chalicelib.call import Answer, Call
from chalicelib.errors import InvalidName
from chalicelib.recovery import Place
from chalicelib.row import Lease
from chalicelib.times import rfc3339
from chalicelib.wire import jobs as wire


def recover(call: Call) -> Answer:
    start = _place(call.request.query["cursor"], call) if "cursor" in call.request.query else None
    low, high = names.key_range(call.principal.namespace, call.principal.prefix, None)
    swept = call.service.recovery.sweep_range(low, high, start, call.clock)
    for trouble in swept.troubles:
        call.note(f"left alone by the sweep: {trouble}")
    recovered = [_recovered(row) for row in swept.recovered]
    cursor = _cursor(swept.stopped) if swept.stopped else None
    return Answer(wire.Recovery(recovered, swept.examined, cursor), outcome="recovered")


def _recovered(row: Lease) -> wire.Recovered:
    return wire.Recovered(names.name_of(row.key), row.owner, row.fence, rfc3339(row.holder_until_ms))


def _cursor(place: Place) -> str:
    return cursors.opaque(f"{place.shard} {names.name_of(place.after)}")


def _place(cursor: str, call: Call) -> Place:
    shard, _, name = cursors.read(cursor).partition(" ")
    if shard not in call.service.held.shards:
        raise cursors.foreign()
    try:
        return Place(shard, names.key_of(call.principal.namespace, names.checked(name)))
    except InvalidName:
        raise cursors.foreign() from None
