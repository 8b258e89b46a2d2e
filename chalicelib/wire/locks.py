"""The JSON of the lock face."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from chalicelib.wire.parts import (
    FencingToken,
    IdempotencyKey,
    Metadata,
    Milliseconds,
    Owner,
    Time,
    TtlSeconds,
    Warnings,
)

DEFAULT_TTL_SECONDS = 60


class Acquire(Struct, frozen=True):
    ttl_seconds: TtlSeconds | None = None
    metadata: Metadata | None = None
    owner: Owner | None = None
    session_id: UUID | None = None
    ephemeral: bool | None = None
    lock_delay_seconds: (
        Annotated[int, Meta(ge=0, le=30, description="How long the name stays closed after this lease ends.")] | None
    ) = None
    idempotency_key: IdempotencyKey | None = None


class Renew(Struct, frozen=True):
    lease_id: UUID
    ttl_seconds: TtlSeconds | None = None


class Release(Struct, frozen=True):
    lease_id: UUID


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
