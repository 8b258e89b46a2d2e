"""The service on a laptop: a store, the app, a server and the first token, put together and taken down again."""

import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib import log
from chalicelib.edge import Application
from chalicelib.settings import SettingError
from infra import address, embedded, tables, token
from infra.discovery import published
from infra.gateway import Gateway
from infra.options import CannotStart, Options
from infra.server import Server

LEASES_TABLE, TOKENS_TABLE = "octolease-leases", "octolease-tokens"
LOCAL_FILE = Path(".octolease/local.json")
# Ctrl-C is answered within a second: what is under way has half of it.
STOP_SECONDS = 0.5
EXAMPLE_BODY = '{"ttl_seconds":60,"metadata":"host=runner-7 build=1842"}'


def run(options: Options) -> None:
    with ExitStack() as stack:
        if options.endpoint is None:
            stack.enter_context(embedded.dynamodb())
        _set_environment(options.endpoint)
        _create_tables(options.endpoint)
        app = _load_app()
        server = _listen(Gateway(app), options)
        stack.callback(server.stop, within_seconds=STOP_SECONDS)
        url, admin_token = address.url(options.host, server.port), _admin_token(app)
        stack.enter_context(published(LOCAL_FILE, url=url, token=admin_token))
        print(welcome(options, url, admin_token), flush=True)
        server.serve_forever()


def _admin_token(app: Application) -> str:
    try:
        return token.mint(app.service, namespace="default", label="make-run")
    except token.Refused as error:
        raise CannotStart(str(error)) from error


def _set_environment(endpoint: str | None) -> None:
    os.environ |= {"LEASES_TABLE": LEASES_TABLE, "TOKENS_TABLE": TOKENS_TABLE}
    if endpoint is None:
        os.environ.pop("DYNAMODB_ENDPOINT", None)
        return
    os.environ["DYNAMODB_ENDPOINT"] = endpoint
    os.environ.setdefault("AWS_DEFAULT_REGION", embedded.REGION)
    if not {"AWS_ACCESS_KEY_ID", "AWS_PROFILE"} & os.environ.keys():
        # Letters and digits alone: DynamoDB Local takes no other.
        os.environ |= {"AWS_ACCESS_KEY_ID": "octolease", "AWS_SECRET_ACCESS_KEY": "octolease"}


def _create_tables(endpoint: str | None) -> None:
    config = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 1})
    try:
        client = boto3.client("dynamodb", endpoint_url=endpoint, config=config)
        tables.create_missing(client, leases_table=LEASES_TABLE, tokens_table=TOKENS_TABLE)
    except ClientError as error:
        raise CannotStart(f"The DynamoDB at {endpoint} makes no tables: {error}") from error
    except BotoCoreError as error:
        raise CannotStart(
            f"No DynamoDB answers at {endpoint}: start it, or leave ENDPOINT out to use the embedded one."
        ) from error


def _load_app() -> Application:
    try:
        # Imported late: it reads the environment, which is only now as it should be.
        from app import app
    except SettingError as error:
        raise CannotStart(str(error)) from error
    app.emit = _show_faults
    return app


def _show_faults(line: Mapping[str, Any]) -> None:
    """The server writes a line for people about each request, so the one for machines would only double it."""
    if line.get("level") == "ERROR":
        log.to_stdout(line)


def _listen(gateway: Gateway, options: Options) -> Server:
    try:
        return Server(gateway, host=options.host, port=options.port, log=_log)
    except OSError as error:
        raise CannotStart(address.why_not(error, options)) from error


def _log(line: str) -> None:
    sys.stderr.write(line + "\n")  # in one piece: print would let another thread's line in before its end


def welcome(options: Options, url: str, token: str) -> str:
    store = options.endpoint or "embedded DynamoDB, forgotten at the end"
    return f"""\
Octolease runs at {url} ({store}). Ctrl-C ends it.
{_warning(options.host)}
Admin token: {token}

Try it:
curl -sS -w '\\n' -X POST {url}/locks/deploy-main/acquire -H 'Authorization: Bearer {token}' \
-H 'Content-Type: application/json' -d '{EXAMPLE_BODY}'
"""


def _warning(host: str) -> str:
    if address.is_loopback(host):
        return ""
    return f"Warning: {host} can be reached from other machines, and tokens travel there in clear text.\n"
