"""A server on a free port of this machine, and clients that send it bytes."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from typing import Any

from infra.gateway import App, Gateway
from infra.server import Server


class Running:
    def __init__(self, app: App, idle_seconds: float) -> None:
        self.lines: list[str] = []
        self.server = Server(Gateway(app), host="127.0.0.1", port=0, log=self.lines.append, idle_seconds=idle_seconds)
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=10)

    def client(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.server.port, timeout=10)

    def stop(self) -> None:
        self.server.shutdown()
        self._thread.join()
        self.server.stop(within_seconds=5)


@contextmanager
def running(app: App, idle_seconds: float = 10) -> Iterator[Running]:
    started = Running(app, idle_seconds)
    try:
        yield started
    finally:
        started.stop()


def answer_on(connection: socket.socket) -> tuple[HTTPResponse, Any]:
    response = HTTPResponse(connection)
    response.begin()
    body = response.read()
    return response, json.loads(body) if body else None


def answer_to(service: Running, sent: bytes, *, then_cut: bool = False) -> tuple[HTTPResponse, Any]:
    with service.connect() as connection:
        connection.sendall(sent)
        if then_cut:
            connection.shutdown(socket.SHUT_WR)
        return answer_on(connection)
