"""What a stage may set, read once from the environment when the service starts."""

from collections.abc import Mapping
from dataclasses import dataclass

TTL_CEILING_SECONDS = 24 * 3600


class SettingError(Exception):
    """The service cannot start: the message names the variable and says what to set."""


@dataclass(frozen=True, slots=True)
class Settings:
    leases_table: str
    tokens_table: str
    dynamodb_endpoint: str | None
    skew_margin_ms: int
    max_ttl_seconds: int
    held_shards: int


def load(environ: Mapping[str, str]) -> Settings:
    return Settings(
        leases_table=_required(environ, "LEASES_TABLE"),
        tokens_table=_required(environ, "TOKENS_TABLE"),
        dynamodb_endpoint=environ.get("DYNAMODB_ENDPOINT") or None,
        skew_margin_ms=_number(environ, "SKEW_MARGIN_MS", default=500, lowest=0, highest=10_000),
        max_ttl_seconds=_number(environ, "MAX_TTL_SECONDS", default=3600, lowest=1, highest=TTL_CEILING_SECONDS),
        held_shards=_number(environ, "HELD_SHARDS", default=4, lowest=1, highest=64),
    )


def _required(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name, "")
    if not value:
        raise SettingError(f"{name} is not set: give it the name of the DynamoDB table of this stage")
    return value


def _number(environ: Mapping[str, str], name: str, *, default: int, lowest: int, highest: int) -> int:
    text = environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and lowest <= int(text) <= highest):
        raise SettingError(f"{name}={text!r}: set a whole number from {lowest} to {highest}")
    return int(text)
