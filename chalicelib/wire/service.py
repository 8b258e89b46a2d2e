"""The JSON that belongs to no face: health, and every error."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType


class Health(Struct, frozen=True):
    status: Literal["ok"]
    version: str


class Error(Struct, frozen=True):
    error: Annotated[str, Meta(description="What is wrong and what to do next.")]
    code: str
    details: dict[str, Any] | None
    request_id: Annotated[str, Meta(pattern="^req_[0-9a-f]{32}$")]
    retry_after_ms: Annotated[int, Meta(ge=1, le=300_000)] | UnsetType = UNSET
