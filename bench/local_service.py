"""The local service as `make run` starts it, in a process of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 30
STOP_SECONDS = 5


class NotStarted(Exception):
    """The message is one sentence that says where to look."""


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int
    token: str

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"


@contextmanager
def running() -> Iterator[Address]:
    """In a folder of its own, so that it does not publish itself over one that somebody uses."""
    with TemporaryDirectory(prefix="octolease-bench-") as scratch:
        process = _start(scratch)
        try:
            yield _address(process, Path(scratch) / ".octolease" / "local.json")
        finally:
            _end(process)


def _start(scratch: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "infra.local"],
        cwd=scratch,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOST": "127.0.0.1", "PORT": "0", "ENDPOINT": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _address(process: subprocess.Popen[bytes], published: Path) -> Address:
    deadline = time.monotonic() + START_SECONDS
    while not published.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise NotStarted("The local service did not start: look at what `make run` says.")
        time.sleep(0.05)
    told = json.loads(published.read_text())
    url = urlsplit(told["url"])
    return Address(str(url.hostname), int(url.port or 80), told["token"])


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
