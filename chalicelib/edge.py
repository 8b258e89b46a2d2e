"""The edge: Chalice on one side, calls and answers on the other. Clock, randomness and log lines start here."""

import random
import time
import traceback
from base64 import b64decode
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from secrets import token_hex
from typing import Any

import msgspec
from chalice.app import Chalice, Response

from chalicelib import auth, errors, log, refusal
from chalicelib.call import Answer, Call, Request
from chalicelib.operations import Operation
from chalicelib.service import Service

View = Callable[..., Answer]
Emit = Callable[[Mapping[str, Any]], None]

# Enough for the names of people; what a stranger sends may be far longer.
LOGGED_NAME = 300

_encode = msgspec.json.Encoder().encode
# What Chalice says by itself, in its own shape, before a view is reached.
_CHALICES_OWN: dict[int, Callable[[], errors.ServiceError]] = {
    404: lambda: errors.NotFound("There is no such route. GET /openapi.json lists them all."),
    405: lambda: errors.MethodNotAllowed("This route has no such method. GET /openapi.json lists them all."),
}
_exchange: ContextVar["Exchange"] = ContextVar("exchange")


class Application(Chalice):
    def __init__(self, service: Service, emit: Emit = log.to_stdout) -> None:
        super().__init__(app_name="octolease", configure_logs=False)
        self.service = service
        self.emit = emit
        self.operations: dict[tuple[str, str], Operation] = {}

    def serves(self, method: str, path: str, operation: Operation) -> Callable[[View], View]:
        """Registers a view. It is given a `Call` and the path's parameters; or, if public, the parameters alone."""

        def register(view: View) -> View:
            @wraps(view)
            def answered(**parameters: str) -> Response:
                return _exchange.get().answer(operation, view, parameters)

            self.operations[method, path] = operation
            # No content types: Chalice's own check answers in its own shape, and lets a missing type pass.
            self.route(path, methods=[method], content_types=[])(answered)
            return view

        return register

    def __call__(self, event: dict[str, Any], context: Any) -> Any:
        exchange = Exchange(self, event)
        # Not `current_request`: Chalice keeps that on the app, where threads of a local server overwrite it.
        _exchange.set(exchange)
        return exchange.finished(super().__call__(event, context))


class Exchange:
    """One event of API Gateway, from its arrival to its line in the log."""

    def __init__(self, app: Application, event: dict[str, Any]) -> None:
        self._app = app
        self._event = event
        self._started_ns = time.perf_counter_ns()
        self._request_id = f"req_{token_hex(16)}"
        self._entry: dict[str, Any] = {"op": "unrouted"}

    def answer(self, operation: Operation, view: View, parameters: dict[str, str]) -> Response:
        self._entry["op"] = operation.name
        try:
            answer = self._answered(operation, view, parameters)
            body = "" if answer.status == 204 else _encode(answer.body).decode()
        except errors.ServiceError as error:
            return self._refusal(error)
        except Exception:
            return self._refusal(errors.InternalError(logged=traceback.format_exc()))
        self._entry["outcome"] = answer.outcome
        return self._response(answer.status, body)

    def _answered(self, operation: Operation, view: View, parameters: dict[str, str]) -> Answer:
        if operation.scope is None:
            return view(**parameters)
        call = self._call(operation.scope)
        self._entry |= {"ns": call.principal.namespace, "by": call.principal.id, **_named(parameters)}
        return view(call, **parameters)

    def _call(self, scope: str) -> Call:
        request = _request(self._event)
        clock = self._app.service.clock(_stamp_ms(self._event))
        principal = self._app.service.authenticator.authenticate(request.authorization, clock)
        principal.require(scope)
        jitter = random.random()  # noqa: S311 - it spreads retries, it guards nothing
        return Call(self._app.service, request, principal, clock, jitter, self._note)

    def _note(self, what: str) -> None:
        self._app.emit(log.fault(self._request_id, "noted", what))

    def _refusal(self, error: errors.ServiceError) -> Response:
        is_fault = isinstance(error, errors.Fault)
        self._entry |= {"outcome": "fault" if is_fault else "refused", "code": error.code}
        if error.logged is not None:
            self._app.emit(log.fault(self._request_id, error.code, error.logged))
        answer = refusal.of(error, self._request_id)
        return Response(body=answer.body.decode(), status_code=answer.status, headers={**answer.headers})

    def _response(self, status: int, body: str) -> Response:
        return Response(body=body, status_code=status, headers={**refusal.usual_headers(self._request_id)})

    def finished(self, response: dict[str, Any]) -> dict[str, Any]:
        if "X-Request-Id" not in response["headers"]:
            response = self._in_our_shape(response)
        self._entry |= {
            "status": response["statusCode"],
            "ms": (time.perf_counter_ns() - self._started_ns) // 10_000 / 100,
            "id": self._request_id,
        }
        self._app.emit(log.request(self._entry, at_ms=self._app.service.read_us() // 1000))
        return response

    def _in_our_shape(self, chalices: dict[str, Any]) -> dict[str, Any]:
        make = _CHALICES_OWN.get(chalices["statusCode"])
        error = make() if make else errors.InternalError(logged=f"Chalice answered {chalices['body']}")
        allow = chalices["headers"].get("Allow")
        if allow:
            error.headers["Allow"] = allow
        ours: dict[str, Any] = self._refusal(error).to_dict()
        return ours


def _request(event: Mapping[str, Any]) -> Request:
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    body = event.get("body") or ""
    return Request(
        # Whatever cannot be UTF-8 becomes bytes that the parser refuses with a sentence.
        raw_body=b64decode(body) if event.get("isBase64Encoded") else body.encode("utf-8", "surrogatepass"),
        content_type=headers.get("content-type"),
        authorization=headers.get("authorization"),
        query=event.get("queryStringParameters") or {},
    )


def _named(parameters: Mapping[str, str]) -> dict[str, str]:
    """Of the path, the log has the name alone: another parameter may be a secret, or be called like a field of ours."""
    return {"name": auth.masked(parameters["name"][:LOGGED_NAME])} if "name" in parameters else {}


def _stamp_ms(event: Mapping[str, Any]) -> int | None:
    stamp = event["requestContext"].get("requestTimeEpoch")
    return stamp if isinstance(stamp, int) else None
