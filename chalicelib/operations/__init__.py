"""What each route takes, answers and refuses: the part of the OpenAPI page that types alone cannot say."""

from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from chalicelib import errors

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
