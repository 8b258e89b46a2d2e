"""What the faces have in common when they turn a request into an ask."""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec

from chalicelib import names, parse, sessions
from chalicelib.call import Call
from chalicelib.errors import InvalidInput, InvalidTtl
from chalicelib.held import Page
from chalicelib.row import Lease
from chalicelib.verbs.claim import Bound
from chalicelib.wire.parts import LONGEST_METADATA

DEEPEST = 64


def ttl_ms(call: Call, ttl_seconds: int) -> int:
    ceiling = call.service.settings.max_ttl_seconds
    if ttl_seconds > ceiling:
        raise InvalidTtl(
            f"ttl_seconds: at most {ceiling}. Take a shorter one and renew it: whoever disappears then blocks "
            "others no longer than that.",
            field="ttl_seconds",
            max_ttl_seconds=ceiling,
        )
    return ttl_seconds * 1000


def metadata_json(metadata: str | dict[str, Any] | None) -> str:
    _require_plain("metadata", metadata)
    text = msgspec.json.encode(metadata).decode()
    if isinstance(metadata, dict) and len(text) > LONGEST_METADATA:
        raise InvalidInput(
            f"metadata: {len(text)} characters as JSON, and {LONGEST_METADATA} are allowed. "
            "Keep it elsewhere, and put a pointer here.",
            field="metadata",
        )
    return text


def json_text(field: str, value: Any, *, largest_bytes: int) -> str:
    _require_plain(field, value)
    encoded = msgspec.json.encode(value)
    if len(encoded) > largest_bytes:
        raise InvalidInput(
            f"{field}: {len(encoded)} bytes as JSON, and {largest_bytes} are allowed. "
            "Keep it elsewhere, and put a pointer here.",
            field=field,
        )
    return encoded.decode()


def _require_plain(field: str, value: Any, levels: int = 0) -> None:
    """What every reader of JSON can read: what is stored here comes back to others, and goes on to the event bus."""
    if isinstance(value, dict | list):
        if levels == DEEPEST:
            raise InvalidInput(f"{field}: nested more than {DEEPEST} levels deep. Send something flatter.", field=field)
        for inner in value.values() if isinstance(value, dict) else value:
            _require_plain(field, inner, levels + 1)
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InvalidInput(f"{field}: a whole number beyond 64 bits. Send it as text.", field=field)


def body_hash(what: str, *parts: Any) -> str:
    """Tells a repeated request from another one under the same key. By meaning: a default written out doesn't count."""
    return hashlib.sha256(msgspec.json.encode([what, *parts], order="deterministic")).hexdigest()[:16]


def bound(call: Call, session_id: object | None) -> Bound | None:
    """One read: a lease in a session that is gone would be granted to nobody."""
    if session_id is None:
        return None
    session = call.service.sessions.get(str(session_id), call.principal, call.clock)
    if session.state != sessions.ALIVE or session.expires_at_ms <= call.clock.now().ms:
        raise sessions.expired()
    return Bound(session.session_id, session.expires_at_ms)


def held_page(call: Call, asked_prefix: str | None, wanted: Callable[[Lease], bool]) -> Page:
    """What is held under the asked prefix, as far as the token may see it."""
    query = call.request.query
    limit = parse.page_size(query)
    after = names.name_in_cursor(query["cursor"]) if "cursor" in query else None
    prefix = within(asked_prefix or "", call.principal.prefix)
    if prefix is None:
        return Page([], [], None)
    page = call.service.held.page(*names.key_range(call.principal.namespace, prefix, after), limit, wanted, call.clock)
    for key in page.unreadable:
        call.note(f"unreadable row left out of a list: {key}")
    return page


def prefix_asked_for(call: Call) -> str | None:
    query = call.request.query
    return names.checked_prefix(query["prefix"]) if "prefix" in query else None


def within(asked: str, allowed: str) -> str | None:
    """The narrower of what was asked for and what the token may see; None where they have nothing in common."""
    if asked.startswith(allowed):
        return asked
    return allowed if allowed.startswith(asked) else None
