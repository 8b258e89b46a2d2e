"""API Gateway's REST stand-in, without a socket: a request goes in, the app's answer comes out.

Not promised: authorizers, API keys, throttling, CORS preflights and binary media types. The service uses none.
"""

import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from uuid import UUID, uuid4

from chalicelib import errors
from infra.messages import MAX_BODY_BYTES, TOO_LARGE, HttpRequest, HttpResponse, refusal
from infra.proxy_event import Arrival, LambdaContext, event_of, response_of
from infra.routes import Match, Route, RouteTable

__all__ = ["App", "Gateway", "HttpRequest", "HttpResponse"]

SHOWN_PATH_CHARACTERS = 200


class App(Protocol):
    """As much of a Chalice app as a gateway sees."""

    @property
    def routes(self) -> Mapping[str, Mapping[str, Any]]: ...

    def __call__(self, event: dict[str, Any], context: Any) -> Any: ...


def wall_clock_ms() -> int:
    return time.time_ns() // 1_000_000


class Gateway:
    def __init__(self, app: App, *, clock_ms: Callable[[], int] = wall_clock_ms) -> None:
        self._app = app
        self._clock_ms = clock_ms
        self._routes = RouteTable(app.routes)

    def handle(self, request: HttpRequest) -> HttpResponse:
        request_id = uuid4()
        try:
            response = self._answer(request, request_id)
        except errors.CallerError as error:
            response = refusal(error, request_id)
        except Exception:
            traceback.print_exc()
            response = refusal(errors.InternalError(logged="see the traceback"), request_id)
        return response.without_body() if request.method == "HEAD" else response

    def _answer(self, request: HttpRequest, request_id: UUID) -> HttpResponse:
        if len(request.body) > MAX_BODY_BYTES:
            raise errors.PayloadTooLarge(TOO_LARGE)
        match = self._match(request.path)
        method = match.route.method_for(request.method)
        if method is None:
            raise _method_not_allowed(request.method, match.route)
        arrival = Arrival(request_id, self._clock_ms(), method, match)
        return response_of(self._app(event_of(request, arrival), LambdaContext(str(request_id))))

    def _match(self, path: str) -> Match:
        match = self._routes.match(path)
        if match is None:
            raise errors.NotFound(
                "There is no such route. GET /openapi.json lists them all; a name is one segment of the path, never "
                "empty, and a slash in it is written %2F.",
                path=path[:SHOWN_PATH_CHARACTERS],
            )
        return match


def _method_not_allowed(method: str, route: Route) -> errors.MethodNotAllowed:
    allowed = ", ".join(route.allowed_methods)
    return errors.MethodNotAllowed(
        f"{route.resource} has no method {method}. Use {allowed}.",
        headers={"Allow": allowed},
        allowed=route.allowed_methods,
    )
