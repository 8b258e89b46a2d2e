"""Types that several requests and answers share, with what they mean and how large they may be."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from chalicelib import names
from chalicelib.settings import TTL_CEILING_SECONDS

LONGEST_METADATA = 1024

Time = Annotated[str, Meta(description="RFC 3339, UTC, milliseconds.", extra_json_schema={"format": "date-time"})]
Milliseconds = Annotated[int, Meta(ge=0)]
TtlSeconds = Annotated[
    int,
    Meta(
        ge=1,
        le=TTL_CEILING_SECONDS,
        description="How long the lease lives without a renewal. The ceiling is a setting, 3600 by default.",
    ),
]
Metadata = Annotated[
    Annotated[str, Meta(max_length=LONGEST_METADATA)] | dict[str, Any],
    Meta(
        description="What others are shown while you hold the name: text or an object, 1,024 characters as JSON text."
    ),
]
Owner = Annotated[
    str, Meta(min_length=1, max_length=256, description="A label that people read. Not an identity: two may share it.")
]
FencingToken = Annotated[
    int,
    Meta(
        ge=0,
        description="Rises with every grant of the name, for ever: refuse lower ones. 0: never held.",
    ),
]
Warnings = Annotated[
    list[str], Meta(description="Fields that were ignored, each with the nearest known one. Missing if there are none.")
]
Prefix = Annotated[str, Meta(max_length=names.LONGEST_NAME, pattern=r"^[A-Za-z0-9._:@/-]*$")]
IdempotencyKey = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=128,
        description="Makes a repeat of this request safe: it gets the same lease, never a second one.",
    ),
]
Scope = Literal["read", "claim", "admin"]
