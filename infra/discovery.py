"""`.octolease/local.json`: where tools on this machine find the running service, readable by its owner alone."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

# A service of this machine answers at once, or it is not there.
HEALTH_SECONDS = 1.0


def answers(url: str) -> bool:
    """Whether a service of ours runs there. A process id would not tell: another process may have it by now."""
    try:
        with closing(HTTPConnection(urlsplit(url).netloc, timeout=HEALTH_SECONDS)) as connection:
            connection.request("GET", "/health")
            return b'"status":"ok"' in connection.getresponse().read()
    except (OSError, HTTPException, ValueError):
        return False


@contextmanager
def published(path: Path, *, url: str, token: str, is_running: Callable[[str], bool] = answers) -> Iterator[str | None]:
    """Yields the URL of another service that is published there and still runs, and leaves its file alone: tools that
    work with it go on to find it. Yields None if this one is published; only what is still ours is taken back."""
    other = _published_url(path)
    if other is not None and is_running(other):
        yield other
        return
    ours = json.dumps({"url": url, "token": token, "pid": os.getpid()})
    _write_privately(path, ours)
    try:
        yield None
    finally:
        with suppress(OSError):
            if path.read_text() == ours:
                path.unlink()


def _published_url(path: Path) -> str | None:
    try:
        url = json.loads(path.read_text())["url"]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return url if isinstance(url, str) else None


def _write_privately(path: Path, text: str) -> None:
    """The token is never in a file that others can read, not even for a moment, and never half written."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.parent.chmod(0o700)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.unlink(missing_ok=True)
    with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    unfinished.replace(path)
