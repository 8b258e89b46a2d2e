"""What each route takes, answers and refuses: the part of the OpenAPI page that types alone cannot say."""

from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from chalicelib import errors, wire

Errors = tuple[type[errors.ServiceError], ...]

# What any route with a token may answer.
ALWAYS: Errors = (
    errors.AuthenticationRequired,
    errors.AuthenticationFailed,
    errors.Forbidden,
    errors.RateLimited,
    errors.InternalError,
    errors.ClockUnreliable,
    errors.UpstreamUnavailable,
)
WITH_BODY: Errors = (errors.InvalidInput, errors.PayloadTooLarge, errors.UnsupportedMediaType)
WITH_NAME: Errors = (errors.InvalidName,)

LEASE_ID = "5b0c7a3e-8f5d-4a57-9d0e-2f4b1c9a6e11"
HOLDER_ID = "0f7c1d52-6c2b-5e0e-9a53-3c9a1be8d6f4"
SOON = "2026-11-18T12:01:00.000Z"


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    summary: str
    scope: str | None
    answers: tuple[tuple[int, type[Struct] | None], ...]
    examples: tuple[Any, ...]  # one for each answer
    errors: Errors
    body: type[Struct] | None = None
    body_example: Any = None
    query: tuple[str, ...] = ()


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
ACQUIRE = Operation(
    name="acquireLock",
    summary="Take a name, if it is free",
    scope="claim",
    body=wire.Acquire,
    body_example={"ttl_seconds": 60, "metadata": "host=runner-7 build=1842"},
    answers=((200, wire.Acquired), (200, wire.Held), (409, wire.Delayed)),
    examples=(
        {
            "status": "acquired",
            "lease_id": LEASE_ID,
            "fencing_token": 1795003200000000,
            "expires_at": SOON,
            "expires_in_ms": 60000,
            "renew_after_ms": 30000,
            "metadata": "host=runner-7 build=1842",
        },
        {
            "status": "held",
            "holder_id": HOLDER_ID,
            "owner": "runner-7",
            "metadata": "host=runner-7 build=1842",
            "expires_at": SOON,
            "expires_in_ms": 41000,
            "retry_after_ms": 41730,
        },
        {"status": "delayed", "available_at": SOON, "lock_delay_seconds": 15, "retry_after_ms": 9120},
    ),
    errors=(
        *ALWAYS,
        *WITH_BODY,
        *WITH_NAME,
        errors.InvalidTtl,
        errors.NotFound,
        errors.LeaseNotCurrent,
        errors.IdempotencyKeyReused,
    ),
)
RENEW = Operation(
    name="renewLock",
    summary="Move the end of a lease; it never moves back",
    scope="claim",
    body=wire.Renew,
    body_example={"lease_id": LEASE_ID, "ttl_seconds": 60},
    answers=((200, wire.Renewed),),
    examples=(
        {"lease_id": LEASE_ID, "expires_at": SOON, "expires_in_ms": 60000, "renew_after_ms": 30000, "late": False},
    ),
    errors=(*ALWAYS, *WITH_BODY, *WITH_NAME, errors.InvalidTtl, errors.LeaseNotCurrent),
)
RELEASE = Operation(
    name="releaseLock",
    summary="End a lease; a repeat of the same release succeeds too",
    scope="claim",
    body=wire.Release,
    body_example={"lease_id": LEASE_ID},
    answers=((200, None),),
    examples=(None,),
    errors=(*ALWAYS, *WITH_BODY, *WITH_NAME, errors.LeaseNotCurrent),
)
LOCK_EXAMPLE = {
    "name": "deploy-main",
    "status": "held",
    "holder_id": HOLDER_ID,
    "owner": "runner-7",
    "fencing_token": 1795003200000000,
    "expires_at": SOON,
    "expires_in_ms": 41000,
    "metadata": None,
}
INSPECT = Operation(
    name="inspectLock",
    summary="Who holds a name",
    scope="read",
    answers=((200, wire.Lock),),
    examples=(LOCK_EXAMPLE,),
    errors=(*ALWAYS, *WITH_NAME),
)
LIST = Operation(
    name="listLocks",
    summary="What is held now, in the order of names",
    scope="read",
    query=("prefix", "limit", "cursor"),
    answers=((200, wire.LockPage),),
    examples=({"locks": [LOCK_EXAMPLE], "total": 1, "prefix": "deploy", "next_cursor": None},),
    errors=(*ALWAYS, errors.InvalidInput),
)
TOKEN_EXAMPLE = {
    "id": "9f86d081884c7d65",
    "namespace": "default",
    "label": "ci",
    "scopes": ["claim"],
    "prefix": "ci/",
    "created_at": SOON,
    "expires_at": None,
    "revoked_at": None,
}
NEW_TOKEN_EXAMPLE = {**TOKEN_EXAMPLE, "token": "olt_9f86d081884c7d65_<64 hex digits>"}
CREATE_TOKEN = Operation(
    name="createToken",
    summary="Make a token in the caller's namespace, no wider than the caller's own",
    scope="admin",
    body=wire.CreateToken,
    body_example={"label": "ci", "scopes": ["claim"], "prefix": "ci/"},
    answers=((201, wire.NewToken),),
    examples=(NEW_TOKEN_EXAMPLE,),
    errors=(*ALWAYS, *WITH_BODY),
)
LIST_TOKENS = Operation(
    name="listTokens",
    summary="The tokens of the caller's namespace, without their secrets",
    scope="admin",
    query=("limit", "cursor"),
    answers=((200, wire.TokenPage),),
    examples=({"tokens": [TOKEN_EXAMPLE], "next_cursor": None},),
    errors=(*ALWAYS, errors.InvalidInput),
)
REVOKE_TOKEN = Operation(
    name="revokeToken",
    summary="End a token; refused everywhere within 30 seconds",
    scope="admin",
    answers=((204, None),),
    examples=(None,),
    errors=(*ALWAYS, errors.NotFound),
)
ROTATE_TOKEN = Operation(
    name="rotateToken",
    summary="Give the caller's own token a new secret; the old one ends within 30 seconds",
    scope="read",
    answers=((200, wire.NewToken),),
    examples=(NEW_TOKEN_EXAMPLE,),
    errors=ALWAYS,
)

# What an error of each code may say: examples for the page, not the texts themselves.
SENTENCES = {
    "authentication_required": "No token: send the header 'Authorization: Bearer olt_…'.",
    "authentication_failed": "This token is not valid: it may be mistyped, revoked or expired.",
    "forbidden": "This token lacks the scope 'admin'. Ask an admin for one that has it.",
    "invalid_input": "metadata: expected str | object, got int.",
    "invalid_ttl": "ttl_seconds: at most 3600. Take a shorter one and renew it.",
    "invalid_lock_name": "This is not a valid name: it has 300 characters, and 256 are allowed.",
    "not_found": "There is no such token. GET /tokens lists yours.",
    "lease_not_current": "This lease is not current: runner-9 holds the name. Stop what it protected.",
    "payload_too_large": "The body has 70000 bytes, and 65536 are allowed.",
    "unsupported_media_type": "Send a JSON object with the header 'Content-Type: application/json'.",
    "idempotency_key_reused": "This idempotency_key was used for this name with another body.",
    "rate_limited": "Too many requests for this name or table at once.",
    "clock_unreliable": "The clock of the machine that answered cannot be trusted. Try again.",
    "upstream_unavailable": "The store behind the service cannot be used at the moment. Try again.",
    "internal_error": "Something failed inside the service. Look at the name's state, then try again.",
}
