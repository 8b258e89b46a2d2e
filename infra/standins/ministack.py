"""MiniStack: AWS's APIs in one process on this machine. The bench trusts its capacity figures, moto has none.

It pins its own botocore, so it lives in a virtual environment of its own, which is made on first use and kept.
Not promised: it dies with the process that started it only if that process ends in order.
"""

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory

VERSION = "1.5.33"
REQUIREMENTS = (f"ministack=={VERSION}", "aws-sam-translator==1.115.0")
CREDENTIALS: Mapping[str, str] = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
HOST = "127.0.0.1"
HOME = Path(__file__).resolve().parents[2] / ".octolease" / "ministack"

START_SECONDS = 30
STOP_SECONDS = 5
SHOWN_CHARACTERS = 300


class MiniStackError(Exception):
    """It cannot be had here. The message is one sentence that says why."""


@contextmanager
def running(home: Path = HOME) -> Iterator[str]:
    """The URL of an empty MiniStack that lives as long as the block."""
    python = _installed(home)
    port = _free_port()
    with TemporaryDirectory(prefix="ministack-") as scratch, _process(python, port, Path(scratch)) as process:
        _wait_until_it_answers(process, port, Path(scratch))
        yield f"http://{HOST}:{port}"


def _installed(home: Path) -> Path:
    """The interpreter that has MiniStack. The marker is written last: without it an environment is half made."""
    venv = home / "venv"
    python, marker = venv / "bin" / "python", venv / "installed"
    with _alone(home):
        # The interpreter is a link, and dangles once the Python that it was made from is gone.
        if not (python.exists() and _says(marker, "\n".join(REQUIREMENTS))):
            marker.unlink(missing_ok=True)
            _install(venv, python)
            marker.write_text("\n".join(REQUIREMENTS))
    return python


def _says(marker: Path, expected: str) -> bool:
    return marker.exists() and marker.read_text() == expected


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Tests run in several processes, and only one of them may install."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install(venv: Path, python: Path) -> None:
    print(f"Installing MiniStack {VERSION}, once for this clone …", file=sys.stderr, flush=True)
    shutil.rmtree(venv, ignore_errors=True)
    _run(sys.executable, "-m", "venv", str(venv))
    _run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS)


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - no part comes from outside
    except subprocess.CalledProcessError as error:
        raise MiniStackError(
            f"MiniStack {VERSION} could not be installed: `python {' '.join(command[1:])}` said: "
            f"{_last_line(error.stderr or error.stdout)}"
        ) from error


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _process(python: Path, port: int, scratch: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (scratch / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - no part comes from outside
            [str(python), "-m", "ministack.app"], env=_environment(port, scratch), stdout=log, stderr=log, cwd=scratch
        )
        try:
            yield process
        finally:
            _end(process)


def _environment(port: int, scratch: Path) -> dict[str, str]:
    """Nothing of this machine's own settings: they may hold real credentials, or ask for state that stays."""
    return {
        **CREDENTIALS,
        "PATH": os.environ.get("PATH", os.defpath),
        "TMPDIR": str(scratch),
        "BIND_HOST": HOST,  # its default is every interface
        "GATEWAY_PORT": str(port),
        "LOG_LEVEL": "WARNING",
        # It removes containers of other MiniStacks when it starts, if it finds Docker.
        "DOCKER_HOST": f"unix://{scratch}/no-docker-here",
    }


def _wait_until_it_answers(process: subprocess.Popen[bytes], port: int, scratch: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if _answers(port):
            return
        time.sleep(0.05)
    how = f"gave no answer within {START_SECONDS} s" if process.poll() is None else f"ended with {process.returncode}"
    raise MiniStackError(
        f"MiniStack {VERSION} did not start on port {port} (remove .octolease/ministack to have it installed anew): "
        f"it {how}: {_last_line((scratch / 'log').read_text())}"
    )


def _answers(port: int) -> bool:
    """Whether MiniStack itself answers there: another process may have taken the port since it was found free."""
    connection = HTTPConnection(HOST, port, timeout=1)  # urllib would ask a proxy for this machine's own address
    try:
        connection.request("GET", "/_ministack/health")
        return "services" in json.load(connection.getresponse())
    except (OSError, HTTPException, ValueError):
        return False
    finally:
        connection.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    process.kill()
    process.wait()


def _last_line(output: str) -> str:
    lines = output.strip().splitlines() or ["it said nothing"]
    return lines[-1][:SHOWN_CHARACTERS]
