"""Times as the wire writes them: RFC 3339, UTC, milliseconds, `Z`."""

import re
from datetime import UTC, datetime

_rfc3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_EPOCH = datetime.fromtimestamp(0, UTC)


def rfc3339(ms: int) -> str:
    seconds, thousandths = divmod(ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{thousandths:03d}Z"


class NotATime(ValueError):
    """RFC 3339 knows no such time."""


def ms_of(text: str) -> int:
    """The millisecond that a time lies in; 0 for all before 1970. Stricter than Python's own reader, which takes a time
    without an offset for local time."""
    if not _rfc3339.fullmatch(text):
        raise NotATime(text)
    try:
        since_epoch = datetime.fromisoformat(text) - _EPOCH
    except ValueError:
        raise NotATime(text) from None
    return max(0, since_epoch.days * 86_400_000 + since_epoch.seconds * 1000 + since_epoch.microseconds // 1000)
