"""Every way in which a request can end without an outcome. Each leaf has one wire code and one status.

    ServiceError
    ├── CallerError                 the caller can mend it
    │   ├── AuthenticationRequired  401 authentication_required
    │   ├── AuthenticationFailed    401 authentication_failed
    │   ├── Forbidden               403 forbidden
    │   ├── InvalidInput            400 invalid_input
    │   │   ├── InvalidTtl          400 invalid_ttl
    │   │   └── InvalidName         400 invalid_lock_name
    │   ├── NotFound                404 not_found
    │   ├── MethodNotAllowed        405 method_not_allowed
    │   ├── LeaseNotCurrent         409 lease_not_current
    │   ├── Conflict                409 conflict
    │   ├── SessionExpired          410 session_expired
    │   ├── PayloadTooLarge         413 payload_too_large
    │   ├── UnsupportedMediaType    415 unsupported_media_type
    │   ├── IdempotencyKeyReused    422 idempotency_key_reused
    │   └── RateLimited             429 rate_limited
    └── Fault                       the service or what it stands on failed
        ├── ClockUnreliable         503 clock_unreliable
        ├── UpstreamUnavailable     503 upstream_unavailable
        └── InternalError           500 internal_error

Held, done and delayed are answers, not errors: see `outcomes`.
"""

from typing import Any, ClassVar


class ServiceError(Exception):
    code: ClassVar[str]
    status: ClassVar[int]
    # For operators only: what a caller can do nothing about, or should not learn.
    logged: str | None = None

    def __init__(
        self, message: str, *, retry_after_ms: int | None = None, headers: dict[str, str] | None = None, **details: Any
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details = details or None
        self.retry_after_ms = retry_after_ms
        self.headers = headers or {}


class CallerError(ServiceError):
    """The request is at fault, and the message says how to mend it."""


class AuthenticationRequired(CallerError):
    code, status = "authentication_required", 401

    def __init__(self) -> None:
        super().__init__(
            "No token: send the header 'Authorization: Bearer olt_…'.", headers={"WWW-Authenticate": "Bearer"}
        )


class AuthenticationFailed(CallerError):
    code, status = "authentication_failed", 401

    def __init__(self) -> None:
        # One sentence for unknown, revoked and expired: what is wrong with a token is not a stranger's to learn.
        super().__init__(
            "This token is not valid: it may be mistyped, revoked or expired. Ask an admin for a new one.",
            headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
        )


class Forbidden(CallerError):
    code, status = "forbidden", 403


class InvalidInput(CallerError):
    code, status = "invalid_input", 400

    def __init__(self, message: str, *, field: str | None = None, **details: Any) -> None:
        if field is not None:
            details["field"] = field
        super().__init__(message, **details)


class InvalidTtl(InvalidInput):
    code = "invalid_ttl"


class InvalidName(InvalidInput):
    code = "invalid_lock_name"


class NotFound(CallerError):
    code, status = "not_found", 404


class MethodNotAllowed(CallerError):
    code, status = "method_not_allowed", 405


class LeaseNotCurrent(CallerError):
    code, status = "lease_not_current", 409


class Conflict(CallerError):
    code, status = "conflict", 409


class SessionExpired(CallerError):
    code, status = "session_expired", 410


class PayloadTooLarge(CallerError):
    code, status = "payload_too_large", 413


class UnsupportedMediaType(CallerError):
    code, status = "unsupported_media_type", 415


class IdempotencyKeyReused(CallerError):
    code, status = "idempotency_key_reused", 422


class RateLimited(CallerError):
    code, status = "rate_limited", 429

    def __init__(self, message: str, *, logged: str, retry_after_ms: int) -> None:
        super().__init__(message, retry_after_ms=retry_after_ms)
        self.logged = logged


class Fault(ServiceError):
    """The request may be right; nothing was promised to the caller."""

    def __init__(self, message: str, *, logged: str, retry_after_ms: int | None = None) -> None:
        super().__init__(message, retry_after_ms=retry_after_ms)
        self.logged = logged


class ClockUnreliable(Fault):
    code, status = "clock_unreliable", 503

    def __init__(self, ahead_ms: int) -> None:
        super().__init__(
            "The clock of the machine that answered cannot be trusted, so nothing was changed. Try again.",
            logged=f"clock is {ahead_ms} ms ahead of the gateway's stamp",
            retry_after_ms=1000,
        )


class UpstreamUnavailable(Fault):
    code, status = "upstream_unavailable", 503


class InternalError(Fault):
    code, status = "internal_error", 500

    def __init__(self, *, logged: str) -> None:
        super().__init__(
            "Something failed inside the service; whether the change was made is not known. "
            "Look at the name's state, then try again.",
            logged=logged,
            retry_after_ms=1000,
        )
