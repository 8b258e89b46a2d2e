"""Where a reader goes on, as a text that means nothing to it."""

from base64 import b64decode, urlsafe_b64encode

from chalicelib.errors import InvalidInput


def opaque(place: str) -> str:
    return urlsafe_b64encode(place.encode()).decode().rstrip("=")


def read(cursor: str) -> str:
    try:
        return b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
    except ValueError:
        raise foreign() from None


def foreign() -> InvalidInput:
    return InvalidInput(
        "cursor: this is not one of ours. Send next_cursor of the page before, or leave it out to start anew.",
        field="cursor",
    )
