"""The parts of the service, put together once for a process."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import boto3
from botocore.config import Config

from chalicelib.auth import Authenticator
from chalicelib.clock import Clock
from chalicelib.leases import Leases
from chalicelib.settings import Settings
from chalicelib.store import DynamoDB, Store
from chalicelib.tokens import Tokens
from chalicelib.version import VERSION


@dataclass(frozen=True, slots=True)
class Service:
    settings: Settings
    leases: Leases
    tokens: Tokens
    authenticator: Authenticator
    read_us: Callable[[], int]

    def clock(self, stamp_ms: int | None) -> Clock:
        return Clock(self.read_us, stamp_ms=stamp_ms, margin_ms=self.settings.skew_margin_ms)


def wall_clock_us() -> int:
    return time.time_ns() // 1000


def connect(settings: Settings) -> DynamoDB:
    """One attempt of at most 3 s a call: the store repeats it, with a fresh clock. The requests are compiled
    forms, so botocore need not check their shape again each time."""
    client: DynamoDB = boto3.client(
        "dynamodb",
        endpoint_url=settings.dynamodb_endpoint,
        config=Config(
            connect_timeout=1,
            read_timeout=2,
            retries={"total_max_attempts": 1},
            parameter_validation=False,
            max_pool_connections=50,
            tcp_keepalive=True,
            # botocore composes its own anew, twice for each call: a fifth of the handler's time.
            user_agent=f"octolease/{VERSION}",
        ),
    )
    return client


def build(settings: Settings, client: DynamoDB, read_us: Callable[[], int] = wall_clock_us) -> Service:
    tokens = Tokens(Store(client, settings.tokens_table))
    return Service(
        settings=settings,
        leases=Leases(Store(client, settings.leases_table), shards=settings.held_shards),
        tokens=tokens,
        authenticator=Authenticator(tokens),
        read_us=read_us,
    )
