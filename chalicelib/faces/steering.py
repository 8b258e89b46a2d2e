"""What others may do to a job: ask its owner to stop, end its lease, open it again."""

from chalicelib import names
from chalicelib.call import Answer, Call
from chalicelib.row import Lease
from chalicelib.verbs import steering
from chalicelib.wire import jobs as wire


def cancel(call: Call, segment: str) -> Answer:
    row = call.service.leases.steer(steering.cancel(_asked(call, segment)), call.clock).row
    message = f"{row.owner} is told at its next heartbeat. It goes on holding the job until it releases it or ends."
    return Answer(_answer("cancel_requested", row, message), outcome="cancel_requested")


def evict(call: Call, segment: str) -> Answer:
    row = call.service.leases.steer(steering.evict(_asked(call, segment)), call.clock).row
    message = (
        f"The job is free. {row.owner} hears of it at its next heartbeat and may work on until then: only a resource "
        f"that refuses fencing tokens up to {row.fence} is safe from it."
    )
    return Answer(_answer("evicted", row, message), outcome="evicted")


def reopen(call: Call, segment: str) -> Answer:
    row = call.service.leases.reopen(_asked(call, segment), call.clock).row
    return Answer(_answer("reopened", row, "The job is free, with no attempt counted against it."), outcome="reopened")


def _asked(call: Call, segment: str) -> steering.Ask:
    key, body = call.key(segment), call.exact_body(wire.Steer)
    return steering.Ask(key, body.reason, body.fencing_token, call.principal.id, call.service.draw().hex)


def _answer(status: str, row: Lease, message: str) -> wire.JobSteered:
    return wire.JobSteered(status, names.name_of(row.key), row.owner, row.fence, message)  # type: ignore[arg-type]
