"""The JSON of the token face."""

from typing import Annotated

from msgspec import Meta, Struct

from chalicelib.wire.parts import Prefix, Scope, Time


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
