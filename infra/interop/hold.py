"""`octostore lock hold`: holds a name past its TTL, keeps a second one out, and gives it back on Ctrl-C."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from infra.interop.checks import Check
from infra.interop.octostore import environment

NAME = "repo/octostore/issue-1842"
TTL_SECONDS = 6
# By then a lease that was not renewed is over, margin included.
LOOK_AFTER_SECONDS = 9
ACQUIRE_TIMEOUT_SECONDS = 3
# For what takes a moment; a program that does not do it by then is stuck.
PATIENCE_SECONDS = 10

# As its --help and its source tell.
NOT_IN_TIME, INTERRUPTED = 11, 130


class Cli:
    def __init__(self, program: Path, url: str, token: str, scratch: Path) -> None:
        self._program = program
        self._scratch = scratch
        token_file = scratch / "token"
        with open(os.open(token_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(token)
        self._environment = environment(OCTOSTORE_URL=url, OCTOSTORE_TOKEN_FILE=str(token_file))

    def status(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._run("status", NAME, "--json").stdout)
        return told

    def code_of_a_second_hold(self) -> int:
        waits = ("--acquire-timeout", f"{ACQUIRE_TIMEOUT_SECONDS}s")
        return self._run("hold", NAME, "--ttl", str(TTL_SECONDS), *waits, "--json").returncode

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - no part comes from outside
            [self._program, "lock", *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=ACQUIRE_TIMEOUT_SECONDS + PATIENCE_SECONDS,
        )

    @contextmanager
    def holding(self) -> Iterator["Holder"]:
        events = self._scratch / "events"
        with events.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - no part comes from outside
                [self._program, "lock", "hold", NAME, "--ttl", str(TTL_SECONDS), "--json"],
                env=self._environment,
                stdout=output,
            )
        try:
            yield Holder(process, events)
        finally:
            process.kill()
            process.wait()


class Holder:
    def __init__(self, process: subprocess.Popen[bytes], events: Path) -> None:
        self._process = process
        self._events = events

    def events(self) -> list[dict[str, Any]]:
        lines = self._events.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def first_event(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (events := self.events()) and self._process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        return events[0] if events else {}

    def code_after_ctrl_c(self) -> int | None:
        self._process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE_SECONDS)
        return self._process.returncode


def checks(program: Path, *, url: str, token: str) -> Iterator[Check]:
    with TemporaryDirectory(prefix="octolease-interop-") as scratch:
        cli = Cli(program, url, token, Path(scratch))
        with cli.holding() as holder:
            acquired = holder.first_event()
            yield _check("a free name", acquired.get("event"), "acquired")
            time.sleep(LOOK_AFTER_SECONDS)
            yield from _still_held(cli, acquired, f"{LOOK_AFTER_SECONDS} s later, TTL {TTL_SECONDS} s")
            yield _check("a second one, exit code", cli.code_of_a_second_hold(), NOT_IN_TIME)
            yield from _still_held(cli, acquired, "after the second one gave up")
            yield _check("Ctrl-C, exit code", holder.code_after_ctrl_c(), INTERRUPTED)
            yield _check("what it said on the way", _told(holder), "acquired renewed released")
        yield _check("afterwards", cli.status()["status"], "free")


def _still_held(cli: Cli, acquired: dict[str, Any], when: str) -> Iterator[Check]:
    """By the same lease: a fence that rose in between would have been a loss and a new claim."""
    status = cli.status()
    yield _check(when, status["status"], "held")
    yield _check(f"{when}, fence", "the same" if status["fencing_token"] == acquired.get("term") else "new", "the same")


def _told(holder: Holder) -> str:
    """Each kind of event once, in the order in which it first came: how often it renews depends on its jitter."""
    return " ".join(dict.fromkeys(str(event["event"]) for event in holder.events()))


def _check(what: str, found: object, wanted: object) -> Check:
    return Check(f"lock hold, {what}", str(found), str(wanted))
