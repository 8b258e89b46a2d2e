"""The JSON of every request and answer, as types. They parse, they render, and they are the OpenAPI page."""

from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from chalicelib import names
from chalicelib.settings import TTL_CEILING_SECONDS

LONGEST_METADATA = 1024
DEFAULT_LOCK_TTL_SECONDS = 60

Time = Annotated[str, Meta(description="RFC 3339, UTC, milliseconds.", extra_json_schema={"format": "date-time"})]
Milliseconds = Annotated[int, Meta(ge=0)]
TtlSeconds = Annotated[
    int,
    Meta(
        ge=1,
        le=TTL_CEILING_SECONDS,
        description="How long the lease lives without a renewal. The ceiling is a setting, 3600 by default.",
    ),
]
Metadata = Annotated[
    Annotated[str, Meta(max_length=LONGEST_METADATA)] | dict[str, Any],
    Meta(
        description="What others are shown while you hold the name: text or an object, 1,024 characters as JSON text."
    ),
]
Owner = Annotated[
    str, Meta(min_length=1, max_length=256, description="A label that people read. Not an identity: two may share it.")
]
FencingToken = Annotated[
    int,
    Meta(
        ge=0,
        description="Rises with every grant of the name, for ever: refuse lower ones. 0: never held.",
    ),
]
Warnings = Annotated[
    list[str], Meta(description="Fields that were ignored, each with the nearest known one. Missing if there are none.")
]
Prefix = Annotated[str, Meta(max_length=names.LONGEST_NAME, pattern=r"^[A-Za-z0-9._:@/-]*$")]
Scope = Literal["read", "claim", "admin"]


class Acquire(Struct, frozen=True):
    ttl_seconds: TtlSeconds | None = None
    metadata: Metadata | None = None
    owner: Owner | None = None
    session_id: UUID | None = None
    ephemeral: bool | None = None
    lock_delay_seconds: (
        Annotated[int, Meta(ge=0, le=30, description="How long the name stays closed after this lease ends.")] | None
    ) = None
    idempotency_key: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=128,
                description="Makes a repeat of this request safe: it gets the same lease, never a second one.",
            ),
        ]
        | None
    ) = None


class Renew(Struct, frozen=True):
    lease_id: UUID
    ttl_seconds: TtlSeconds | None = None


class Release(Struct, frozen=True):
    lease_id: UUID


class CreateToken(Struct, frozen=True):
    scopes: (
        Annotated[
            list[Scope], Meta(min_length=1, max_length=3, description="admin includes claim, claim includes read.")
        ]
        | None
    ) = None
    label: (
        Annotated[
            str, Meta(min_length=1, max_length=64, description="The owner that is shown where a caller names none.")
        ]
        | None
    ) = None
    prefix: Annotated[Prefix, Meta(description="Restricts the token to names that start with it.")] | None = None
    expires_in_seconds: Annotated[int, Meta(ge=60, le=366 * 24 * 3600)] | None = None


class Acquired(Struct, frozen=True):
    status: Literal["acquired"]
    lease_id: str
    fencing_token: FencingToken
    expires_at: Time
    expires_in_ms: Annotated[
        Milliseconds, Meta(description="Your authority ends this long after the moment before you sent the request.")
    ]
    renew_after_ms: Annotated[Milliseconds, Meta(description="Half of what is left.")]
    metadata: str | None
    warnings: Warnings | UnsetType = UNSET


class Held(Struct, frozen=True):
    status: Literal["held"]
    holder_id: Annotated[str, Meta(description="A stable pseudonym of the token that holds it.")]
    owner: str
    metadata: str | None
    expires_at: Time
    expires_in_ms: Milliseconds
    retry_after_ms: Annotated[
        Milliseconds,
        Meta(description="When a new try is sure to make sense, jittered: the end of the lease and the skew margin."),
    ]
    warnings: Warnings | UnsetType = UNSET


class Delayed(Struct, frozen=True):
    status: Literal["delayed"]
    available_at: Time
    lock_delay_seconds: int
    retry_after_ms: Milliseconds
    warnings: Warnings | UnsetType = UNSET


class Renewed(Struct, frozen=True):
    lease_id: str
    expires_at: Time
    expires_in_ms: Milliseconds
    renew_after_ms: Milliseconds
    late: Annotated[bool, Meta(description="The lease had ended already, and nobody had taken over.")]
    warnings: Warnings | UnsetType = UNSET


class Lock(Struct, frozen=True):
    name: str
    status: Literal["free", "held"]
    holder_id: str | None
    owner: str | None
    fencing_token: FencingToken
    expires_at: Time | None
    expires_in_ms: Milliseconds | None
    metadata: str | None


class LockPage(Struct, frozen=True):
    locks: list[Lock]
    total: Annotated[int, Meta(description="How many this page has.")]
    prefix: str | None
    next_cursor: str | None


class TokenFacts(Struct, frozen=True):
    id: str
    namespace: str
    label: str
    scopes: list[Scope]
    prefix: str | None
    created_at: Time
    expires_at: Time | None
    revoked_at: Time | None


class NewToken(TokenFacts, frozen=True):
    token: Annotated[str, Meta(description="The secret. It is shown this once and stored only as a digest.")]


class TokenPage(Struct, frozen=True):
    tokens: list[TokenFacts]
    next_cursor: str | None


class Health(Struct, frozen=True):
    status: Literal["ok"]
    version: str


class Error(Struct, frozen=True):
    error: Annotated[str, Meta(description="What is wrong and what to do next.")]
    code: str
    details: dict[str, Any] | None
    request_id: Annotated[str, Meta(pattern="^req_[0-9a-f]{32}$")]
    retry_after_ms: Annotated[int, Meta(ge=1, le=300_000)] | UnsetType = UNSET
