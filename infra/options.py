"""What a person may set on the command line of `make run`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

_PORT = re.compile("[0-9]{1,5}")
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ENDPOINT = re.compile(rf"https?://(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{{1,5}})?/?")


class CannotStart(Exception):
    """The message is for the person at the keyboard, and says what to do."""


@dataclass(frozen=True, slots=True)
class Options:
    host: str
    port: int
    endpoint: str | None


def read_options(environ: Mapping[str, str]) -> Options:
    return Options(
        host=environ.get("HOST") or "127.0.0.1",
        port=_port(environ.get("PORT") or "8080"),
        endpoint=read_endpoint(environ),
    )


def _port(text: str) -> int:
    if not _PORT.fullmatch(text) or int(text) > 65535:
        raise CannotStart(f"PORT={text!r} is no port: give a number from 0 (any free one) to 65535, as in PORT=8080.")
    return int(text)


def read_endpoint(environ: Mapping[str, str]) -> str | None:
    text = environ.get("ENDPOINT") or None
    if text is not None and not _is_endpoint(text):
        raise CannotStart(f"ENDPOINT={text!r} is no URL of a DynamoDB: give one such as http://127.0.0.1:8000.")
    return text


def _is_endpoint(text: str) -> bool:
    """What passes here is a URL to boto3 too, which would answer any other with a traceback."""
    try:
        return _ENDPOINT.fullmatch(text) is not None and urlsplit(text).port != 0
    except ValueError:
        return False
