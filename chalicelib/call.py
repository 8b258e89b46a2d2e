"""One request, as the faces see it: who asks, by which clock, and what it says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from chalicelib import names, parse
from chalicelib.auth import Principal
from chalicelib.clock import Clock
from chalicelib.service import Service

Body = TypeVar("Body", bound=msgspec.Struct)


@dataclass(slots=True)
class Request:
    """What came over HTTP, free of the framework that brought it."""

    raw_body: bytes
    content_type: str | None
    authorization: str | None
    query: Mapping[str, str]


@dataclass(slots=True)
class Call:
    service: Service
    request: Request
    principal: Principal
    clock: Clock
    jitter: float
    # Tells operators of something that this caller cannot mend.
    note: Callable[[str], None]
    warnings: list[str] = field(default_factory=list)

    def name(self, segment: str) -> str:
        name = names.from_path(segment)
        self.principal.require_name(name)
        return name

    def key(self, segment: str) -> str:
        return names.key_of(self.principal.namespace, self.name(segment))

    def body(self, shape: type[Body]) -> Body:
        parsed, unknown = parse.body(self.request.raw_body, self.request.content_type, shape)
        self.warnings = parse.warnings(unknown)
        return parsed

    def exact_body(self, shape: type[Body]) -> Body:
        return parse.exact_body(self.request.raw_body, self.request.content_type, shape)


@dataclass(frozen=True, slots=True)
class Answer:
    body: msgspec.Struct | dict[str, Any] | None
    status: int = 200
    # What the log and the metrics call it.
    outcome: str = "ok"
