"""The gateway behind a port: one thread for each connection, kept alive between requests."""

import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import uuid4

from chalicelib import auth, errors
from infra import http1
from infra.gateway import Gateway
from infra.messages import TOO_LARGE, HttpRequest, HttpResponse, refusal

Log = Callable[[str], None]

# A client that sends nothing for this long is gone; its thread is freed.
IDLE_SECONDS = 75.0
# How long a refused client may go on sending before the connection is cut.
LINGER_SECONDS = 2.0


class Server(socketserver.ThreadingTCPServer):
    """Listens as soon as it is made. `port=0` picks a free port, told by `port`."""

    allow_reuse_address = True
    daemon_threads = True
    # socketserver's own 5 resets connections when a handful of clients come at once.
    request_queue_size = 256

    def __init__(self, gateway: Gateway, *, host: str, port: int, log: Log, idle_seconds: float = IDLE_SECONDS) -> None:
        self.gateway = gateway
        self.log = log
        self.idle_seconds = idle_seconds
        self.stopping = False
        self._connections: set[socket.socket] = set()
        self._changed = threading.Condition()
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        super().__init__((host, port), Connection)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def stop(self, *, within_seconds: float) -> None:
        """Takes no more requests; those under way are still answered, if they are quick."""
        self.stopping = True
        self.server_close()
        with self._changed:
            for connection in self._connections:
                _stop_reading(connection)
            self._changed.wait_for(lambda: not self._connections, within_seconds)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._changed:
            self._connections.discard(request)
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that goes away in the middle is its own affair.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Connection(socketserver.StreamRequestHandler):
    # An answer is one write; Nagle's algorithm would hold it back for 40 ms until the last one is acknowledged.
    disable_nagle_algorithm = True
    server: Server

    def setup(self) -> None:
        super().setup()
        self.connection.settimeout(self.server.idle_seconds)

    def handle(self) -> None:
        while self._serve_one():
            pass

    def _serve_one(self) -> bool:
        """Whether the connection goes on. A request reaches the gateway whole or not at all."""
        head = None
        try:
            head = http1.read_head(self.rfile)
            if head is None:
                return False
            body = http1.read_body(self.rfile, head, self.wfile.write)
        except (http1.BadRequest, http1.BodyTooLarge, TimeoutError) as error:
            self._refuse(error, head)
            return False
        self._answer(head, body)
        return head.keeps_connection and not self.server.stopping

    def _answer(self, head: http1.Head, body: bytes) -> None:
        started_ns = time.perf_counter_ns()
        request = HttpRequest(head.method, head.target, head.headers, body, self.client_address[0])
        response = self.server.gateway.handle(request)
        took_ms = (time.perf_counter_ns() - started_ns) / 1_000_000
        self.server.log(log_line(datetime.now(), request, response, took_ms))
        self.wfile.write(http1.written(response, head))

    def _refuse(self, error: Exception, head: http1.Head | None) -> None:
        if head is None and isinstance(error, TimeoutError):
            return  # an idle connection: there is no request to answer
        response = refusal(_as_callers_error(error), uuid4())
        request = HttpRequest(head.method, head.target) if head else HttpRequest("-", "-")
        self.server.log(log_line(datetime.now(), request, response, 0))
        self.wfile.write(http1.written(response, None))
        self._linger()

    def _linger(self) -> None:
        """Closing with unread bytes resets the connection, and the client would lose the answer just sent."""
        self.connection.shutdown(socket.SHUT_WR)
        deadline = time.monotonic() + LINGER_SECONDS
        while (left_seconds := deadline - time.monotonic()) > 0:
            self.connection.settimeout(left_seconds)
            if not self.connection.recv(64 * 1024):
                return


def log_line(at: datetime, request: HttpRequest, response: HttpResponse, took_ms: float) -> str:
    """Neither headers, bodies nor the query are in it: they may hold secrets. Nor has the path that of a token, if
    somebody put it there. A target has no control characters."""
    time_of_day = at.strftime("%H:%M:%S.%f")[:-3]
    request_id = response.header("X-Request-Id") or "-"
    path = auth.masked(request.path)
    return f"{time_of_day} {request.method} {path} {response.status} {took_ms:.1f} ms {request_id}"


def _as_callers_error(error: Exception) -> errors.CallerError:
    if isinstance(error, http1.BodyTooLarge):
        return errors.PayloadTooLarge(TOO_LARGE)
    if isinstance(error, TimeoutError):
        return errors.InvalidInput("The body did not come in time, so nothing was done. Send the request again.")
    return errors.InvalidInput(str(error))


def _stop_reading(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RD)
