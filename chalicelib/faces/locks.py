"""The lock face: OctoStore's words over the engine."""

from chalicelib.call import Answer, Call
from chalicelib.errors import InvalidInput
from chalicelib.faces import asking
from chalicelib.faces import lock_answers as answers
from chalicelib.outcomes import Delayed
from chalicelib.verbs import claim, heartbeat
from chalicelib.verbs.release import Release
from chalicelib.wire import locks as wire


def acquire(call: Call, segment: str) -> Answer:
    key = call.key(segment)
    ask = _asked(call, key, call.body(wire.Acquire))
    outcome = call.service.leases.claim(ask, call.clock)
    answer = answers.acquire(outcome, call.jitter, call.warnings)
    return Answer(answer, status=409 if isinstance(outcome, Delayed) else 200, outcome=answer.status)


def _asked(call: Call, key: str, body: wire.Acquire) -> claim.Ask:
    if body.ephemeral and body.session_id is None:
        raise InvalidInput("ephemeral: needs a session_id to end with.", field="ephemeral")
    owner, ttl_ms = (
        body.owner or call.principal.label,
        asking.ttl_ms(call, body.ttl_seconds or wire.DEFAULT_TTL_SECONDS),
    )
    metadata_json, lock_delay_ms = asking.metadata_json(body.metadata), (body.lock_delay_seconds or 0) * 1000
    return claim.Ask(
        key=key,
        held_in=call.service.held.shard_of(key),
        request_key=call.service.draw().hex,
        idempotency_key=body.idempotency_key,
        body_hash=asking.body_hash("acquire", owner, body.metadata, ttl_ms, lock_delay_ms, body.session_id),
        principal=call.principal.id,
        owner=owner,
        metadata_json=metadata_json,
        ttl_ms=ttl_ms,
        lock_delay_ms=lock_delay_ms,
        session=asking.bound(call, body.session_id),
        again_in_session=True,
    )


def renew(call: Call, segment: str) -> Answer:
    key = call.key(segment)
    body = call.body(wire.Renew)
    ttl_ms = asking.ttl_ms(call, body.ttl_seconds or wire.DEFAULT_TTL_SECONDS)
    logged = call.service.settings.log_heartbeats
    ask = heartbeat.Ask(key, str(body.lease_id), ttl_ms, carries=False, logged=logged)
    return Answer(answers.renewed(call.service.leases.heartbeat(ask, call.clock), call.warnings), outcome="renewed")


def release(call: Call, segment: str) -> Answer:
    key = call.key(segment)
    body = call.body(wire.Release)
    call.service.leases.release(Release(key, str(body.lease_id)), call.clock)
    return Answer(None, outcome="released")


def inspect(call: Call, segment: str) -> Answer:
    answer = answers.lock(call.service.leases.inspect(call.key(segment), call.clock))
    return Answer(answer, outcome=answer.status)


def list_held(call: Call) -> Answer:
    asked = asking.prefix_asked_for(call)
    page = asking.held_page(call, asked, lambda _row: True)
    locks = [answers.lock(held) for held in page.held]
    return Answer(wire.LockPage(locks, len(locks), asked, page.next_cursor))
