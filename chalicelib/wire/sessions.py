"""The JSON of sessions, as OctoStore's clients know it."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from chalicelib.wire.parts import Metadata, Milliseconds, Owner, Time, Warnings

DEFAULT_TTL_SECONDS = 60

SessionTtlSeconds = Annotated[int, Meta(ge=1, le=3600, description="How long the session lives without a keepalive.")]


class CreateSession(Struct, frozen=True):
    ttl_seconds: SessionTtlSeconds | None = None
    owner: Owner | None = None
    metadata: Metadata | None = None


class SessionCreated(Struct, frozen=True):
    session_id: str
    expires_at: Time
    expires_in_ms: Milliseconds
    keepalive_interval_secs: Annotated[int, Meta(ge=1, description="At most half of the TTL, and at least 1.")]
    warnings: Warnings | UnsetType = UNSET


class SessionKept(Struct, frozen=True):
    session_id: str
    expires_at: Time
    expires_in_ms: Milliseconds


class SessionFacts(Struct, frozen=True):
    session_id: str
    user_id: Annotated[str, Meta(description="A stable pseudonym of the token that made it.")]
    owner: str
    metadata: Any
    expires_at: Time
    expires_in_ms: Milliseconds
    lock_count: Annotated[int, Meta(description="Leases that are bound to it.")]
    active: bool
