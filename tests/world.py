"""A whole service in which time stands still until it is told to move."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import boto3

from chalicelib import names, service, verbs
from chalicelib.clock import Clock
from chalicelib.outcomes import Acquired, Delayed, Free, Held, Released, Renewed
from chalicelib.row import Lease
from chalicelib.settings import Settings
from infra import tables
from tests.transport import Transport

NAMESPACE = "default"
START_US = 1_795_000_000_000_000
MARGIN_MS = 500

_numbers = count(1)


def settings_of_a_new_world() -> Settings:
    number = next(_numbers)
    return Settings(
        leases_table=f"leases-{number}",
        tokens_table=f"tokens-{number}",
        dynamodb_endpoint=None,
        skew_margin_ms=MARGIN_MS,
        max_ttl_seconds=3600,
        held_shards=4,
    )


class Time:
    def __init__(self) -> None:
        self.us = START_US

    def __call__(self) -> int:
        return self.us

    @property
    def ms(self) -> int:
        return self.us // 1000

    def advance(self, *, seconds: float = 0, ms: int = 0, us: int = 0) -> None:
        self.us += int(seconds * 1_000_000) + ms * 1000 + us


class World:
    """Speaks to the engine, below HTTP, by names. `skew_ms` is how far the answering Lambda's clock is off."""

    def __init__(self, clients: "Clients") -> None:
        self.settings = settings_of_a_new_world()
        self.time = Time()
        self.dynamodb = clients.unwatched
        self.transport = Transport(clients.of_the_service)
        self.service = service.build(self.settings, clients.of_the_service, read_us=self.time)
        self._numbers = count(1)
        self._leases = count(1)
        tables.create_missing(
            self.dynamodb, leases_table=self.settings.leases_table, tokens_table=self.settings.tokens_table
        )

    def clock(self, *, skew_ms: int = 0, stamp_ms: int | None = None) -> Clock:
        return Clock(lambda: self.time.us + skew_ms * 1000, stamp_ms=stamp_ms, margin_ms=MARGIN_MS)

    def ask(
        self,
        name: str = "job",
        *,
        owner: str = "agent",
        ttl_ms: int = 60_000,
        lock_delay_ms: int = 0,
        idempotency_key: str | None = None,
        principal: str = "p1",
        body_hash: str = "b",
        metadata_json: str = "null",
    ) -> verbs.Acquire:
        key = names.key_of(NAMESPACE, name)
        return verbs.Acquire(
            key=key,
            new_lease_id=lambda: f"lease-{next(self._leases)}",
            request_key=f"request-{next(self._numbers)}",
            idempotency_key=idempotency_key,
            body_hash=body_hash,
            principal=principal,
            owner=owner,
            metadata_json=metadata_json,
            ttl_ms=ttl_ms,
            lock_delay_ms=lock_delay_ms,
            held_in=names.shard_of(key, self.settings.held_shards),
        )

    def submit(self, ask: verbs.Acquire, *, skew_ms: int = 0, stamp_ms: int | None = None) -> Acquired | Held | Delayed:
        return self.service.leases.acquire(ask, self.clock(skew_ms=skew_ms, stamp_ms=stamp_ms))

    def acquire(self, name: str = "job", *, skew_ms: int = 0, **asked: Any) -> Acquired | Held | Delayed:
        return self.submit(self.ask(name, **asked), skew_ms=skew_ms)

    def acquired(self, name: str = "job", *, skew_ms: int = 0, **asked: Any) -> Acquired:
        outcome = self.acquire(name, skew_ms=skew_ms, **asked)
        assert isinstance(outcome, Acquired), outcome
        return outcome

    def renew(self, lease_id: str, name: str = "job", *, ttl_ms: int = 60_000, skew_ms: int = 0) -> Renewed:
        ask = verbs.Renew(names.key_of(NAMESPACE, name), lease_id, ttl_ms)
        return self.service.leases.renew(ask, self.clock(skew_ms=skew_ms))

    def release(self, lease_id: str, name: str = "job", *, skew_ms: int = 0) -> Released:
        ask = verbs.Release(names.key_of(NAMESPACE, name), lease_id)
        return self.service.leases.release(ask, self.clock(skew_ms=skew_ms))

    def inspect(self, name: str = "job", *, skew_ms: int = 0) -> Held | Free:
        return self.service.leases.inspect(names.key_of(NAMESPACE, name), self.clock(skew_ms=skew_ms))

    def held_names(self, prefix: str = "", limit: int = 100) -> list[str]:
        page = self.service.leases.list(*names.key_range(NAMESPACE, prefix, None), limit, self.clock())
        return [names.name_of(held.row.key) for held in page.held]

    def raw_row(self, name: str = "job") -> dict[str, Any] | None:
        item: dict[str, Any] | None = self.dynamodb.get_item(
            TableName=self.settings.leases_table, Key={"key": {"S": names.key_of(NAMESPACE, name)}}
        ).get("Item")
        return item

    def row(self, name: str = "job") -> Lease:
        raw = self.raw_row(name)
        assert raw is not None
        return Lease.from_raw_data(raw)

    def edit(self, name: str = "job", *, remove: tuple[str, ...] = (), **values: dict[str, Any]) -> None:
        """As somebody with the AWS console would, past every rule of the service."""
        item = {**(self.raw_row(name) or {"key": {"S": names.key_of(NAMESPACE, name)}}), **values}
        self.dynamodb.put_item(
            TableName=self.settings.leases_table,
            Item={attribute: item[attribute] for attribute in item if attribute not in remove},
        )

    def clean_up_by_ttl(self, name: str = "job") -> None:
        """DynamoDB removes the row, as it may once `ttl` has passed."""
        self.dynamodb.delete_item(
            TableName=self.settings.leases_table, Key={"key": {"S": names.key_of(NAMESPACE, name)}}
        )

    def mark_expired(self, name: str = "job") -> None:
        """What the sweep leaves behind."""
        row = self.row(name)
        self.edit(
            name,
            remove=("lease_id", "held_in"),
            state={"S": "expired"},
            last_lease_id={"S": str(row.lease_id)},
        )


class Clients:
    """Made once for many worlds: a boto3 client takes longer to make than most tests to run."""

    def __init__(self) -> None:
        self.of_the_service: Any = service.connect(settings_of_a_new_world())
        self.unwatched: Any = boto3.client("dynamodb")


@contextmanager
def running(clients: Clients) -> Iterator[World]:
    world = World(clients)
    yield world
    world.transport.close()
