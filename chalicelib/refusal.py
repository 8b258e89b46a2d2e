"""An error as it goes over HTTP. The edge and the gateway before it answer alike, because both take it from here."""

from dataclasses import dataclass

import msgspec

from chalicelib.errors import ServiceError
from chalicelib.wire.service import Error

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    headers: dict[str, str]
    body: bytes


def of(error: ServiceError, request_id: str) -> Refusal:
    body = Error(
        error=error.message,
        code=error.code,
        details=error.details,
        request_id=request_id,
        retry_after_ms=error.retry_after_ms or msgspec.UNSET,
    )
    headers = {**usual_headers(request_id), **_retry_after(error.retry_after_ms), **error.headers}
    return Refusal(error.status, headers, _encode(body))


def usual_headers(request_id: str) -> dict[str, str]:
    """Of every answer that is JSON, error or not."""
    return {"Content-Type": "application/json", "Cache-Control": "no-store", "X-Request-Id": request_id}


def _retry_after(ms: int | None) -> dict[str, str]:
    """HTTP counts it in whole seconds: rounded up, because too early is of no use."""
    return {"Retry-After": str(-(-ms // 1000))} if ms else {}
