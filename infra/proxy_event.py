"""A request as the event that API Gateway's REST proxy sends to Lambda, and Lambda's answer as a response."""

import time
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl
from uuid import UUID

from infra.messages import HttpRequest, HttpResponse
from infra.routes import Match

STAGE = "local"
LAMBDA_LIMIT_MS = 10_000
_FORBIDDEN_IN_A_HEADER = frozenset("\r\n\0")


@dataclass(frozen=True, slots=True)
class LambdaContext:
    aws_request_id: str
    function_name: str = "octolease-local"
    function_version: str = "$LATEST"
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:octolease-local"
    memory_limit_in_mb: int = 256
    started_ns: int = field(default_factory=time.monotonic_ns)

    def get_remaining_time_in_millis(self) -> int:
        return max(0, LAMBDA_LIMIT_MS - (time.monotonic_ns() - self.started_ns) // 1_000_000)


@dataclass(frozen=True, slots=True)
class Arrival:
    """What the gateway adds to a request."""

    request_id: UUID
    at_ms: int
    method: str
    match: Match


def event_of(request: HttpRequest, arrival: Arrival) -> dict[str, Any]:
    headers = _grouped(request.headers)
    query = _grouped(parse_qsl(request.query, keep_blank_values=True))
    body, is_base64 = _body_as_text(request.body)
    return {
        "resource": arrival.match.route.resource,
        "path": request.path,
        "httpMethod": arrival.method,
        "headers": _last_of_each(headers),
        "multiValueHeaders": headers,
        "queryStringParameters": _last_of_each(query) or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": dict(arrival.match.parameters) or None,
        "stageVariables": None,
        "requestContext": _request_context(request, arrival),
        "body": body,
        "isBase64Encoded": is_base64,
    }


def _request_context(request: HttpRequest, arrival: Arrival) -> dict[str, Any]:
    at = datetime.fromtimestamp(arrival.at_ms / 1000, UTC)
    return {
        "resourcePath": arrival.match.route.resource,
        "httpMethod": arrival.method,
        "path": request.path,
        "protocol": "HTTP/1.1",
        "stage": STAGE,
        "requestId": str(arrival.request_id),
        "requestTime": at.strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "requestTimeEpoch": arrival.at_ms,
        "identity": {"sourceIp": request.client_ip},
    }


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(value)
    return grouped


def _last_of_each(grouped: Mapping[str, list[str]]) -> dict[str, str]:
    return {name: values[-1] for name, values in grouped.items()}


def _body_as_text(body: bytes) -> tuple[str | None, bool]:
    if not body:
        return None, False
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        return b64encode(body).decode(), True


def response_of(answer: Mapping[str, Any]) -> HttpResponse:
    """Raises where API Gateway would call the answer malformed."""
    text = answer.get("body") or ""
    body = b64decode(text) if answer.get("isBase64Encoded") else text.encode()
    return HttpResponse(int(answer["statusCode"]), tuple(_headers_of(answer)), body)


def _headers_of(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    many = answer.get("multiValueHeaders") or {}
    single = {name: value for name, value in (answer.get("headers") or {}).items() if name not in many}
    pairs = [(name, str(value)) for name, value in single.items()]
    pairs += [(name, str(value)) for name, values in many.items() for value in values]
    if not all(_FORBIDDEN_IN_A_HEADER.isdisjoint(name + value) for name, value in pairs):
        raise ValueError("a header of the answer has a line break in it")
    return pairs
