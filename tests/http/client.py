"""A caller of the HTTP face: through the gateway's stand-in, by raw paths and bytes, as anybody's client would."""

import importlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from chalicelib import tokens
from chalicelib.edge import Application
from chalicelib.tokens import NewToken
from infra import tables
from infra.gateway import Gateway, HttpRequest, HttpResponse
from tests.world import NAMESPACE, World

ENVIRONMENT = {
    **tables.names("of-the-world"),
    "AWS_DEFAULT_REGION": "us-east-1",
}


def application() -> Application:
    with patch.dict(os.environ, ENVIRONMENT):
        app: Application = importlib.import_module("app").app
    return app


class Client:
    def __init__(self, world: World, gateway: Gateway, lines: list[Mapping[str, Any]], token: str) -> None:
        self.world = world
        self.gateway = gateway
        self.lines = lines
        self.token = token

    @property
    def app(self) -> Application:
        return application()

    def with_token(self, token: str) -> "Client":
        return Client(self.world, self.gateway, self.lines, token)

    def new_token(
        self, *scopes: str, namespace: str = NAMESPACE, prefix: str = "", label: str = "somebody"
    ) -> "Client":
        return self.with_token(
            mint(self.world, scopes=scopes or ("admin",), namespace=namespace, prefix=prefix, label=label)
        )

    def send(
        self, method: str, target: str, body: bytes = b"", *, headers: Mapping[str, str] | None = None
    ) -> HttpResponse:
        """Exactly this. `headers` replace the usual ones."""
        usual = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        sent = tuple((usual if headers is None else headers).items())
        return self.gateway.handle(HttpRequest(method, target, sent, body))

    def post(self, target: str, body: Any = None) -> HttpResponse:
        return self.send("POST", target, b"" if body is None else json.dumps(body).encode())

    def get(self, target: str) -> HttpResponse:
        return self.send("GET", target)

    def delete(self, target: str) -> HttpResponse:
        return self.send("DELETE", target)

    def claim(self, segment: str = "job", owner: str = "agent", **body: Any) -> Any:
        return self.post(f"/jobs/{segment}/claim", {"owner": owner, **body}).json()

    def heartbeat(self, lease: Any, **body: Any) -> Any:
        """Of what a claim answered."""
        return self.post(f"/jobs/{lease['job']}/heartbeat", {"lease_id": lease["lease_id"], **body}).json()

    def release(self, lease: Any, **body: Any) -> Any:
        return self.post(f"/jobs/{lease['job']}/release", {"lease_id": lease["lease_id"], **body}).json()

    def session(self, ttl_seconds: int = 10) -> str:
        return str(self.post("/sessions", {"ttl_seconds": ttl_seconds}).json()["session_id"])

    def acquire(self, segment: str = "job", **body: Any) -> Any:
        return self.post(f"/locks/{segment}/acquire", body).json()


def mint(
    world: World,
    *,
    scopes: tuple[str, ...] = ("admin",),
    namespace: str = NAMESPACE,
    prefix: str = "",
    label: str = "tester",
    lifetime_ms: int | None = None,
) -> str:
    new = NewToken(tokens.new_id(), tokens.new_secret(), namespace, label, scopes, prefix, lifetime_ms)
    world.service.tokens.create(new, world.clock())
    return new.bearer


@contextmanager
def connected(world: World) -> Iterator[Client]:
    app = application()
    lines: list[Mapping[str, Any]] = []
    with patch.object(app, "service", world.service), patch.object(app, "emit", lines.append):
        yield Client(world, Gateway(app, clock_ms=lambda: world.time.ms), lines, mint(world))
