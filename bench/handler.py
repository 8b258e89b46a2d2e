"""The service's own app.py in this process, over a DynamoDB of the bench's choice."""

import os
import runpy
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3

from chalicelib import service, settings, tokens
from chalicelib.edge import Application
from chalicelib.tokens import NewToken
from infra import tables

NAMESPACE = "default"

_TABLES = tables.names("bench")
LEASES = _TABLES["LEASES_TABLE"]
_APP = Path(__file__).resolve().parents[1] / "app.py"
_SEALED = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}

Attach = Callable[[Any], None]


@contextmanager
def sealed() -> Iterator[None]:
    """Whatever this machine has set for AWS stays outside: no profile is read, and no account can be reached. This
    machine itself is asked without a proxy. The service's log lines go nowhere, but they are written."""
    direct = ",".join(filter(None, (os.environ.get("NO_PROXY") or os.environ.get("no_proxy"), "127.0.0.1")))
    others = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    with (
        patch.dict(os.environ, {**others, **_SEALED, "NO_PROXY": direct, "no_proxy": direct}, clear=True),
        open(os.devnull, "w") as nowhere,
        redirect_stdout(nowhere),
    ):
        yield


def chosen() -> settings.Settings:
    return settings.load(_TABLES)


def start(
    *,
    endpoint: str | None = None,
    attach: Attach = lambda _events: None,
    read_us: Callable[[], int] = service.wall_clock_us,
    **chosen: str,
) -> Application:
    """Runs app.py anew. Its client comes from boto3's default session, so `attach` sees that client's events."""
    boto3.setup_default_session()
    attach(boto3.DEFAULT_SESSION.events)
    with patch.dict(os.environ, {**_TABLES, "DYNAMODB_ENDPOINT": endpoint or "", **chosen}):
        app: Application = runpy.run_path(str(_APP))["app"]
    app.service = replace(app.service, read_us=read_us)
    return app


def plain_client(endpoint: str | None = None) -> Any:
    """boto3's client as a stranger makes it, apart from the service's own."""
    return boto3.session.Session().client("dynamodb", endpoint_url=endpoint)


def service_client() -> Any:
    """A client with the service's own settings, that nobody listens to."""
    boto3.setup_default_session()
    return service.connect(settings.load(_TABLES))


def new_token(app: Application) -> NewToken:
    new = a_token()
    app.service.tokens.create(new, app.service.clock(None))
    return new


def a_token() -> NewToken:
    return NewToken(
        token_id=tokens.new_id(),
        secret=tokens.new_secret(),
        namespace=NAMESPACE,
        label="bench",
        scopes=("admin",),
        prefix="",
        lifetime_ms=None,
    )
