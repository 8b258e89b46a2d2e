"""HTTP messages as plain values, and the service's own way to refuse one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import msgspec

from chalicelib import refusal as refusals
from chalicelib.errors import ServiceError

# What API Gateway takes at the most.
MAX_BODY_BYTES = 10 * 1024 * 1024
TOO_LARGE = "The body is over 10 MB, more than any request of this API needs. Send a smaller one."

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    target: str
    headers: Headers = ()
    body: bytes = b""
    client_ip: str = "127.0.0.1"

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    headers: Headers = ()
    body: bytes = b""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    def without_body(self) -> "HttpResponse":
        """The answer to HEAD: it still tells the length that GET would have sent."""
        return replace(self, headers=(*self.headers, ("Content-Length", str(len(self.body)))), body=b"")


def refusal(error: ServiceError, request_id: UUID) -> HttpResponse:
    answer = refusals.of(error, f"req_{request_id.hex}")
    return HttpResponse(answer.status, tuple(answer.headers.items()), answer.body)
