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
    sessions_table: str
    events_table: str
    dynamodb_endpoint: str | None = None
    event_bus: str | None = None
    dead_letters: str | None = None
    skew_margin_ms: int = 500
    max_ttl_seconds: int = 3600
    held_shards: int = 4
    feed_shards: int = 4
    feed_lag_ms: int = 4000
    event_retention_days: int = 90
    log_heartbeats: bool = False


def load(environ: Mapping[str, str]) -> Settings:
    return Settings(
        leases_table=_required(environ, "LEASES_TABLE"),
        tokens_table=_required(environ, "TOKENS_TABLE"),
        sessions_table=_required(environ, "SESSIONS_TABLE"),
        events_table=_required(environ, "EVENTS_TABLE"),
        dynamodb_endpoint=environ.get("DYNAMODB_ENDPOINT") or None,
        event_bus=environ.get("EVENT_BUS") or None,
        dead_letters=environ.get("DEAD_LETTERS") or None,
        skew_margin_ms=_number(environ, "SKEW_MARGIN_MS", default=500, lowest=0, highest=10_000),
        max_ttl_seconds=_number(environ, "MAX_TTL_SECONDS", default=3600, lowest=1, highest=TTL_CEILING_SECONDS),
        held_shards=_number(environ, "HELD_SHARDS", default=4, lowest=1, highest=64),
        feed_shards=_number(environ, "FEED_SHARDS", default=4, lowest=1, highest=64),
        feed_lag_ms=_number(environ, "FEED_LAG_MS", default=4000, lowest=100, highest=60_000),
        event_retention_days=_number(environ, "EVENT_RETENTION_DAYS", default=90, lowest=0, highest=3650),
        log_heartbeats=_switch(environ, "LOG_HEARTBEATS"),
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


def _switch(environ: Mapping[str, str], name: str) -> bool:
    text = environ.get(name) or "false"
    if text not in ("true", "false"):
        raise SettingError(f"{name}={text!r}: set true or false")
    return text == "true"
