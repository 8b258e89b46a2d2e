"""HTTP/1.1 on a byte stream: requests read strictly, answers written whole.

Whatever could be read in two ways (two lengths, a length beside chunks, a folded header) is refused: a body that two
parties cut at different places is how one request is smuggled inside another.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from io import BufferedIOBase

from infra.messages import MAX_BODY_BYTES, Headers, HttpResponse

MAX_LINE_BYTES = 64 * 1024
MAX_HEADERS = 100
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([\x21-\x7e]+) HTTP/1\.([01])")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_ABSOLUTE_TARGET = re.compile(r"https?://[^/?]*", re.IGNORECASE)
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?")
_LENGTH = re.compile(r"[0-9]{1,18}")
_STATUSES_WITHOUT_BODY = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})


class BadRequest(Exception):
    """The bytes are no request. Where the next one would begin is unknown, so the connection must end."""


class BodyTooLarge(Exception):
    """The rest of the body is still on its way, so the connection must end."""


@dataclass(frozen=True, slots=True)
class Head:
    method: str
    target: str
    minor_version: int
    headers: Headers

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name]

    def has_token(self, name: str, token: str) -> bool:
        return any(token == part.strip().lower() for value in self.values(name) for part in value.split(","))

    @property
    def keeps_connection(self) -> bool:
        if self.minor_version == 0:
            return self.has_token("connection", "keep-alive")
        return not self.has_token("connection", "close")


def read_head(stream: BufferedIOBase) -> Head | None:
    """None: the client has closed the connection between two requests, as it may."""
    line = stream.readline(MAX_LINE_BYTES)
    if line in (b"\r\n", b"\n"):  # some clients end a body with a line break that belongs to nothing
        line = stream.readline(MAX_LINE_BYTES)
    if not line:
        return None
    match = _REQUEST_LINE.fullmatch(_without_line_end(line))
    if match is None:
        raise BadRequest("The first line is no HTTP/1.1 request with a percent-encoded target. Mend the client.")
    method, target, minor_version = (part.decode("ascii") for part in match.groups())
    return Head(method, _origin_form(target), int(minor_version), _read_headers(stream))


def read_body(stream: BufferedIOBase, head: Head, send: Callable[[bytes], object]) -> bytes:
    lengths, codings = head.values("content-length"), head.values("transfer-encoding")
    if len(lengths) + len(codings) > 1:
        raise BadRequest("The body has more than one length. Send one Content-Length, or Transfer-Encoding: chunked.")
    if codings:
        _expect_chunked(codings[0])
        _continue(head, send)
        return _read_chunks(stream)
    length = _length(lengths[0]) if lengths else 0
    if length > MAX_BODY_BYTES:
        raise BodyTooLarge
    if length:
        _continue(head, send)
    return _read_exactly(stream, length)


def written(response: HttpResponse, asked: Head | None) -> bytes:
    """The answer to a request that was read whole; `None` for one that was not, which ends the connection."""
    status, body = response.status, response.body
    lines = [f"HTTP/1.1 {status} {_reason(status)}", f"Date: {formatdate(usegmt=True)}"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    if status in _STATUSES_WITHOUT_BODY:
        body = b""
    elif response.header("Content-Length") is None:
        lines.append(f"Content-Length: {len(body)}")
    keeps = asked is not None and asked.keeps_connection
    lines.append("Connection: keep-alive" if keeps else "Connection: close")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body


def _origin_form(target: str) -> str:
    """A client that takes us for a proxy sends the whole URL."""
    stripped = _ABSOLUTE_TARGET.sub("", target, count=1) if not target.startswith("/") else target
    return stripped if stripped.startswith("/") or stripped == target else "/" + stripped


def _read_headers(stream: BufferedIOBase) -> Headers:
    headers: list[tuple[str, str]] = []
    while line := _read_line(stream):
        match = _HEADER.fullmatch(line)
        if match is None:
            raise BadRequest("A header is not of the form 'Name: value' on one line. Mend the client.")
        if len(headers) == MAX_HEADERS:
            raise BadRequest(f"There are more than {MAX_HEADERS} headers. Send fewer.")
        name, value = (part.decode("latin-1") for part in match.groups())
        headers.append((name, value.rstrip(" \t")))
    return headers


def _read_chunks(stream: BufferedIOBase) -> bytes:
    body = bytearray()
    while size := _chunk_size(_read_line(stream)):
        if len(body) + size > MAX_BODY_BYTES:
            raise BodyTooLarge
        body += _read_exactly(stream, size)
        if _read_line(stream):
            raise BadRequest("A chunk of the body is longer than it says. Mend the client.")
    _read_headers(stream)  # trailers, which nobody needs
    return bytes(body)


def _chunk_size(line: bytes) -> int:
    match = _CHUNK_SIZE.fullmatch(line)
    if match is None:
        raise BadRequest("A chunk of the body does not begin with its size. Mend the client.")
    return int(match[1], 16)


def _expect_chunked(coding: str) -> None:
    if coding.lower() != "chunked":
        raise BadRequest("Only 'Transfer-Encoding: chunked' is understood. Send that, or a Content-Length.")


def _length(text: str) -> int:
    if not _LENGTH.fullmatch(text):
        raise BadRequest("Content-Length is not a whole number of bytes. Mend the client.")
    return int(text)


def _continue(head: Head, send: Callable[[bytes], object]) -> None:
    if head.minor_version and head.has_token("expect", "100-continue"):
        send(_CONTINUE)


def _read_exactly(stream: BufferedIOBase, length: int) -> bytes:
    body = stream.read(length)
    if len(body) < length:
        raise BadRequest("The connection ended before the whole body had come, so nothing was done. Send it again.")
    return body


def _read_line(stream: BufferedIOBase) -> bytes:
    return _without_line_end(stream.readline(MAX_LINE_BYTES))


def _without_line_end(line: bytes) -> bytes:
    if not line.endswith(b"\n"):
        raise BadRequest("A line is too long, or the connection ended in the middle of it. Send the request again.")
    return line[:-1].removesuffix(b"\r")


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
