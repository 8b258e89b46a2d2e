"""A lean HTTP client, in a process of its own: acquire and release, over and over, on connections that stay open.

Reads `{"host","port","token","acquire","clients","cycles"}` from standard input, writes `{"requests","seconds"}`. It
speaks HTTP by hand, because it shares the machine with the service: a client library's cost would be taken for ours.
"""

import json
import socket
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class Connection:
    def __init__(self, told: Mapping[str, Any], name: str) -> None:
        self._socket = socket.create_connection((told["host"], told["port"]))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile("rb")
        self._token, self._name = told["token"], name

    def cycle(self, acquire: bytes, *, times: int) -> None:
        for _ in range(times):
            lease = json.loads(self._post("acquire", acquire))
            self._post("release", json.dumps({"lease_id": lease["lease_id"]}).encode())

    def _post(self, verb: str, body: bytes) -> bytes:
        self._socket.sendall(
            f"POST /locks/{self._name}/{verb} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        status, answer = self._read()
        if status != 200:
            raise RuntimeError(f"{verb} of {self._name} answered {status}: {answer.decode()}")
        return answer

    def _read(self) -> tuple[int, bytes]:
        status, length = int(self._answers.readline().split()[1]), 0
        while (line := self._answers.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return status, self._answers.read(length)


def drive(told: Mapping[str, Any]) -> dict[str, float]:
    """The time from the moment at which all are connected to the last answer."""
    clients = told["clients"]
    connections = [Connection(told, f"load-{number}") for number in range(clients)]
    cycles, acquire = told["cycles"] // clients, json.dumps(told["acquire"]).encode()
    started = time.perf_counter()
    with ThreadPoolExecutor(clients) as threads:
        list(threads.map(lambda connection: connection.cycle(acquire, times=cycles), connections))
    return {"requests": 2 * cycles * clients, "seconds": time.perf_counter() - started}


if __name__ == "__main__":
    json.dump(drive(json.load(sys.stdin)), sys.stdout)
