"""The lock face: OctoStore's words over the engine."""

import hashlib
from uuid import uuid4

import msgspec

from chalicelib import names, outcomes, parse, render, verbs, wire
from chalicelib.call import Answer, Call
from chalicelib.errors import InvalidInput, InvalidTtl, NotFound


def acquire(call: Call, segment: str) -> Answer:
    key = call.key(segment)
    ask = _asked(call, key, call.body(wire.Acquire))
    outcome = call.service.leases.acquire(ask, call.clock)
    answer = render.acquire(outcome, call.jitter, call.warnings)
    return Answer(answer, status=409 if isinstance(outcome, outcomes.Delayed) else 200, outcome=answer.status)


def renew(call: Call, segment: str) -> Answer:
    key = call.key(segment)
    body = call.body(wire.Renew)
    ask = verbs.Renew(key, str(body.lease_id), _ttl_ms(call, body.ttl_seconds))
    return Answer(render.renewed(call.service.leases.renew(ask, call.clock), call.warnings), outcome="renewed")


def release(call: Call, segment: str) -> Answer:
    key = call.key(segment)
    body = call.body(wire.Release)
    call.service.leases.release(verbs.Release(key, str(body.lease_id)), call.clock)
    return Answer(None, outcome="released")


def inspect(call: Call, segment: str) -> Answer:
    answer = render.lock(call.service.leases.inspect(call.key(segment), call.clock))
    return Answer(answer, outcome=answer.status)


def _asked(call: Call, key: str, body: wire.Acquire) -> verbs.Acquire:
    _refuse_sessions(body)
    principal = call.principal
    return verbs.Acquire(
        key=key,
        new_lease_id=lambda: str(uuid4()),
        request_key=uuid4().hex,
        idempotency_key=body.idempotency_key,
        body_hash=_hash(body),
        principal=principal.id,
        owner=body.owner or principal.label,
        metadata_json=_metadata_json(body.metadata),
        ttl_ms=_ttl_ms(call, body.ttl_seconds),
        lock_delay_ms=(body.lock_delay_seconds or 0) * 1000,
        held_in=names.shard_of(key, call.service.settings.held_shards),
    )


def _refuse_sessions(body: wire.Acquire) -> None:
    """No session exists yet, so none can be named: a lease that silently outlived its session would be a trap."""
    if body.session_id is not None:
        raise NotFound("There are no sessions on this service yet. Leave session_id out.", field="session_id")
    if body.ephemeral:
        raise InvalidInput("ephemeral: needs a session_id to end with.", field="ephemeral")


def _ttl_ms(call: Call, ttl_seconds: int | None) -> int:
    ttl_seconds = wire.DEFAULT_LOCK_TTL_SECONDS if ttl_seconds is None else ttl_seconds
    ceiling = call.service.settings.max_ttl_seconds
    if ttl_seconds > ceiling:
        raise InvalidTtl(
            f"ttl_seconds: at most {ceiling}. Take a shorter one and renew it: whoever disappears then blocks "
            "others no longer than that.",
            field="ttl_seconds",
            max_ttl_seconds=ceiling,
        )
    return ttl_seconds * 1000


def _metadata_json(metadata: str | dict[str, object] | None) -> str:
    text = msgspec.json.encode(metadata).decode()
    if isinstance(metadata, dict) and len(text) > wire.LONGEST_METADATA:
        raise InvalidInput(
            f"metadata: {len(text)} characters as JSON, and {wire.LONGEST_METADATA} are allowed. "
            "Keep it elsewhere, and put a pointer here.",
            field="metadata",
        )
    return text


def _hash(body: wire.Acquire) -> str:
    """Tells a repeated request from another one under the same key. By meaning: spaces and order don't count."""
    return hashlib.sha256(msgspec.json.encode(body, order="deterministic")).hexdigest()[:16]


def list_held(call: Call) -> Answer:
    query = call.request.query
    asked = names.checked_prefix(query["prefix"]) if "prefix" in query else None
    limit = parse.page_size(query)
    after = names.name_in_cursor(query["cursor"]) if "cursor" in query else None
    prefix = _within(asked or "", call.principal.prefix)
    if prefix is None:
        return Answer(wire.LockPage([], 0, asked, None))
    page = call.service.leases.list(*names.key_range(call.principal.namespace, prefix, after), limit, call.clock)
    for key in page.unreadable:
        call.note(f"unreadable row left out of a list: {key}")
    locks = [render.lock(held) for held in page.held]
    return Answer(wire.LockPage(locks, len(locks), asked, page.next_cursor))


def _within(asked: str, allowed: str) -> str | None:
    """The narrower of what was asked for and what the token may see; None where they have nothing in common."""
    if asked.startswith(allowed):
        return asked
    return allowed if allowed.startswith(asked) else None
