"""The service on a laptop: store, app, server, pump and first token, put together and taken down again."""

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chalicelib import log
from chalicelib.edge import Application
from chalicelib.errors import ServiceError
from chalicelib.settings import Settings
from infra import address, embedded, laptop_store, token
from infra.background import Emit, Wait, in_background
from infra.discovery import published
from infra.gateway import Gateway
from infra.options import CannotStart, Options
from infra.pump import StreamPump, is_no_heartbeat
from infra.quiet import WatchedGateway
from infra.schedule import keep_schedule
from infra.server import Server
from infra.stream_reader import StreamReader, Streams
from infra.welcome import not_published, welcome

LOCAL_FILE = Path(".octolease/local.json")
# Ctrl-C is answered within a second: what is under way has half of it.
STOP_SECONDS = 0.5

Function = Callable[[dict[str, Any], Any], Any]


@dataclass(frozen=True, slots=True)
class Functions:
    """The three that AWS would call: by its gateway, its event source and its schedule."""

    app: Application
    on_lease: Function
    recover: Function


def run(options: Options) -> None:
    with ExitStack() as stack:
        if options.endpoint is None:
            stack.enter_context(embedded.dynamodb())
        chosen = laptop_store.set_up(options.endpoint)
        functions = _load()
        gateway = WatchedGateway(functions.app)
        server = _listen(gateway, options)
        stack.callback(server.stop, within_seconds=STOP_SECONDS)
        url, admin_token = address.url(options.host, server.port), _admin_token(functions.app)
        if options.endpoint is not None:  # an embedded store is forgotten with all its tokens
            stack.callback(_revoke, functions.app, admin_token)
        other = _publish(stack, url, admin_token)
        stack.enter_context(_pumping(laptop_store.streams(options.endpoint), gateway, functions, chosen))
        notes = [not_published(LOCAL_FILE, other)] if other else []
        print(welcome(options, url, admin_token, notes), flush=True)
        server.serve_forever()


def _load() -> Functions:
    # Imported late: it reads the environment, which is only now as it should be.
    from app import app, on_lease, recover

    app.emit = _show_faults
    return Functions(app, on_lease, recover)


def _pumping(
    client: Streams, gateway: WatchedGateway, functions: Functions, chosen: Settings
) -> AbstractContextManager[None]:
    reader = StreamReader(client, chosen.leases_table)
    wanted = _everything if chosen.log_heartbeats else is_no_heartbeat

    def deliver(wait: Wait) -> None:
        quiet, emit = gateway.when_quiet(wait), _until_the_end(wait)
        StreamPump(reader, functions.on_lease, wanted=wanted, wait=quiet, emit=emit).run()

    def sweep(wait: Wait) -> None:
        keep_schedule(functions.recover, wait=wait, emit=_until_the_end(wait))

    return in_background(deliver, sweep)


def _until_the_end(wait: Wait) -> Emit:
    """What breaks because all is taken down around it is no fault."""

    def emit(line: Mapping[str, Any]) -> None:
        if not wait(0):
            _show_faults(line)

    return emit


def _everything(_record: Any) -> bool:
    return True


def _admin_token(app: Application) -> str:
    try:
        return token.mint(app.service, namespace="default", label="make-run")
    except token.Refused as error:
        raise CannotStart(str(error)) from error


def _revoke(app: Application, admin_token: str) -> None:
    """As far as the store can still be reached."""
    with suppress(ServiceError):
        token.revoke(app.service, admin_token)


def _publish(stack: ExitStack, url: str, admin_token: str) -> str | None:
    """The URL of a service that is published already and still runs."""
    try:
        return stack.enter_context(published(LOCAL_FILE, url=url, token=admin_token))
    except OSError as error:
        raise CannotStart(
            f"{error.filename or LOCAL_FILE} cannot be written ({error.strerror}): tools find the service and its "
            "token there. Make it writable, or start in a folder of your own."
        ) from error


def _show_faults(line: Mapping[str, Any]) -> None:
    """The server writes a line for people about each request, so the one for machines would only double it."""
    if line.get("level") == "ERROR":
        log.to_stdout(line)


def _listen(gateway: Gateway, options: Options) -> Server:
    try:
        return Server(gateway, host=options.host, port=options.port, log=_log)
    except (OSError, UnicodeError) as error:
        raise CannotStart(address.why_not(error, options)) from error


def _log(line: str) -> None:
    with suppress(OSError):  # a terminal that is gone must not cost anybody an answer
        sys.stderr.write(line + "\n")  # in one piece: print would let another thread's line in before its end
