"""Times as the wire writes them: RFC 3339, UTC, milliseconds, `Z`."""

from datetime import UTC, datetime


def rfc3339(ms: int) -> str:
    seconds, thousandths = divmod(ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{thousandths:03d}Z"
