"""`.octolease/local.json`: where tools on this machine find the running service, readable by its owner alone."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def published(path: Path, *, url: str, token: str) -> Iterator[None]:
    """Another service may have published itself in the meantime: only what is still ours is taken back."""
    ours = json.dumps({"url": url, "token": token, "pid": os.getpid()})
    _write_privately(path, ours)
    try:
        yield
    finally:
        with suppress(OSError):
            if path.read_text() == ours:
                path.unlink()


def _write_privately(path: Path, text: str) -> None:
    """The token is never in a file that others can read, not even for a moment, and never half written."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.parent.chmod(0o700)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.unlink(missing_ok=True)
    with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    unfinished.replace(path)
