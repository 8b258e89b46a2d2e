"""The parts of the service, put together once for a process."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID, uuid4

import boto3
from botocore.config import Config

from chalicelib.auth import Authenticator
from chalicelib.bound import BoundLeases
from chalicelib.claims import Claims
from chalicelib.clock import Clock
from chalicelib.event_reader import EventReader
from chalicelib.held import HeldLeases
from chalicelib.leases import Leases
from chalicelib.recovery import Recovery
from chalicelib.recovery_marks import Marks
from chalicelib.sessions import Sessions
from chalicelib.settings import Settings
from chalicelib.store import DynamoDB, Store
from chalicelib.tokens import Tokens
from chalicelib.version import VERSION


@dataclass(frozen=True, slots=True)
class Service:
    settings: Settings
    client: DynamoDB
    leases: Leases
    claims: Claims
    held: HeldLeases
    sessions: Sessions
    bound: BoundLeases
    recovery: Recovery
    events: EventReader
    tokens: Tokens
    authenticator: Authenticator
    read_us: Callable[[], int]
    draw: Callable[[], UUID]

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
            # A reply cut short is a lost one: only this mode raises for a wrong sum when no attempt is left.
            retries={"total_max_attempts": 1, "mode": "legacy"},
            parameter_validation=False,
            max_pool_connections=50,
            tcp_keepalive=True,
            # botocore composes its own anew, twice for each call: a fifth of the handler's time.
            user_agent=f"octolease/{VERSION}",
        ),
    )
    return client


def build(
    settings: Settings,
    client: DynamoDB,
    read_us: Callable[[], int] = wall_clock_us,
    draw: Callable[[], UUID] = uuid4,
) -> Service:
    tokens, sessions = Tokens(Store(client, settings.tokens_table)), Sessions(Store(client, settings.sessions_table))
    rows = Store(client, settings.leases_table)
    leases, held = Leases(rows, sessions, draw=draw), HeldLeases(rows, sessions, shards=settings.held_shards)
    return Service(
        settings=settings,
        client=client,
        leases=leases,
        claims=Claims(rows, leases, held, draw=draw),
        held=held,
        sessions=sessions,
        bound=BoundLeases(rows, leases),
        recovery=Recovery(Marks(rows), leases, held),
        events=EventReader(
            Store(client, settings.events_table), feed_shards=settings.feed_shards, feed_lag_ms=settings.feed_lag_ms
        ),
        tokens=tokens,
        authenticator=Authenticator(tokens),
        read_us=read_us,
        draw=draw,
    )
