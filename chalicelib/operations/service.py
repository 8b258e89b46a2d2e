"""The routes of the service itself, and what each of its errors may say."""

from chalicelib.operations import Operation
from chalicelib.wire import service as wire

HEALTH = Operation(
    name="health",
    summary="Whether the service answers",
    scope=None,
    answers=((200, wire.Health),),
    examples=({"status": "ok", "version": "0.1.0"},),
    errors=(),
)
OPENAPI = Operation(
    name="openapi",
    summary="This page",
    scope=None,
    answers=((200, None),),
    examples=({"openapi": "3.1.0"},),
    errors=(),
)

# What an error of each code may say: examples for the page, not the texts themselves.
SENTENCES: dict[str, str] = {
    "authentication_required": "No token: send the header 'Authorization: Bearer olt_…'.",
    "authentication_failed": "This token is not valid: it may be mistyped, revoked or expired.",
    "forbidden": "This token lacks the scope 'admin'. Ask an admin for one that has it.",
    "invalid_input": "metadata: expected str | object, got int.",
    "invalid_ttl": "ttl_seconds: at most 3600. Take a shorter one and renew it.",
    "invalid_lock_name": "This is not a valid name: it has 300 characters, and 256 are allowed.",
    "not_found": "There is no such token. GET /tokens lists yours.",
    "lease_not_current": "This lease is not current: runner-9 holds the name. Stop what it protected.",
    "conflict": "fencing_token: the job has changed hands. Look at it again with GET.",
    "session_expired": "This session has ended, and every lease in it. Make a new one with POST /sessions.",
    "payload_too_large": "The body has 70000 bytes, and 65536 are allowed.",
    "unsupported_media_type": "Send a JSON object with the header 'Content-Type: application/json'.",
    "idempotency_key_reused": "This idempotency_key was used for this name with another body.",
    "rate_limited": "Too many requests for this name or table at once.",
    "clock_unreliable": "The clock of the machine that answered cannot be trusted. Try again.",
    "upstream_unavailable": "The store behind the service cannot be used at the moment. Try again.",
    "internal_error": "Something failed inside the service. Look at the name's state, then try again.",
}
