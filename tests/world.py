"""A whole service in which time stands still until it is told to move."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any
from uuid import UUID

import boto3

from chalicelib import names, service
from chalicelib.auth import Principal
from chalicelib.clock import Clock
from chalicelib.outcomes import Claimed, Delayed, Done, Free, Held, Kept, Released
from chalicelib.row import Lease
from chalicelib.sessions import NewSession, Session
from chalicelib.settings import Settings
from chalicelib.verbs import claim, handover, heartbeat, steering
from chalicelib.verbs.release import Failed, Finished, Freely, Release
from chalicelib.verbs.steering import Steered
from infra import tables
from tests.transport import Transport

NAMESPACE = "default"
START_US = 1_795_000_000_000_000
MARGIN_MS = 500

ME = Principal("p1", NAMESPACE, "label", frozenset({"admin"}), "", 0)
Outcome = Freely | Failed | Finished
FREELY = Freely()

_numbers = count(1)


def key_of(name: str) -> str:
    return names.key_of(NAMESPACE, name)


def settings_of_a_new_world() -> Settings:
    number = next(_numbers)
    return Settings(
        leases_table=f"leases-{number}",
        tokens_table=f"tokens-{number}",
        sessions_table=f"sessions-{number}",
        events_table=f"events-{number}",
        skew_margin_ms=MARGIN_MS,
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
        self.me = ME
        self._numbers = count(1)
        self._drawn = count(1)
        self.service = service.build(self.settings, clients.of_the_service, read_us=self.time, draw=self._draw)
        tables.create_missing(self.dynamodb, self.settings)

    def _draw(self) -> UUID:
        return UUID(int=next(self._drawn))

    def drawn(self, number: int) -> UUID:
        return UUID(int=number)

    def clock(self, *, skew_ms: int = 0, stamp_ms: int | None = None) -> Clock:
        return Clock(lambda: self.time.us + skew_ms * 1000, stamp_ms=stamp_ms, margin_ms=MARGIN_MS)

    def ask(
        self,
        name: str = "job",
        *,
        owner: str = "agent",
        ttl_ms: int = 60_000,
        idempotency_key: str | None = None,
        principal: str = ME.id,
        body_hash: str = "b",
        metadata_json: str = "null",
        session: Session | None = None,
        **more: Any,
    ) -> claim.Ask:
        key = key_of(name)
        return claim.Ask(
            key=key,
            held_in=self.service.held.shard_of(key),
            request_key=f"request-{next(self._numbers)}",
            idempotency_key=idempotency_key,
            body_hash=body_hash,
            principal=principal,
            owner=owner,
            metadata_json=metadata_json,
            ttl_ms=ttl_ms,
            session=claim.Bound(session.session_id, session.expires_at_ms) if session else None,
            **more,
        )

    def submit(self, ask: claim.Ask, *, skew_ms: int = 0, stamp_ms: int | None = None) -> claim.Outcome:
        return self.service.leases.claim(ask, self.clock(skew_ms=skew_ms, stamp_ms=stamp_ms))

    def claim(self, name: str = "job", *, skew_ms: int = 0, **asked: Any) -> claim.Outcome:
        return self.submit(self.ask(name, **asked), skew_ms=skew_ms)

    def claimed(self, name: str = "job", *, skew_ms: int = 0, **asked: Any) -> Lease:
        outcome = self.claim(name, skew_ms=skew_ms, **asked)
        assert isinstance(outcome, Claimed), outcome
        return outcome.row

    def renew(self, lease_id: str | None, name: str = "job", *, ttl_ms: int = 60_000, skew_ms: int = 0) -> Kept:
        """As the lock face does."""
        return self.heartbeat(lease_id, name, ttl_ms=ttl_ms, skew_ms=skew_ms, carries=False)

    def heartbeat(
        self, lease_id: str | None, name: str = "job", *, ttl_ms: int | None = None, skew_ms: int = 0, **more: Any
    ) -> Kept:
        ask = heartbeat.Ask(key_of(name), str(lease_id), ttl_ms, **more)
        return self.service.leases.heartbeat(ask, self.clock(skew_ms=skew_ms))

    def release(
        self, lease_id: str | None, name: str = "job", outcome: Outcome = FREELY, *, skew_ms: int = 0
    ) -> Released:
        return self.service.leases.release(Release(key_of(name), str(lease_id), outcome), self.clock(skew_ms=skew_ms))

    def hand_over(self, lease_id: str | None, name: str = "job", *, skew_ms: int = 0, **asked: Any) -> Claimed:
        ask = handover.Ask(
            key=key_of(name),
            lease_id=str(lease_id),
            to_owner=asked.pop("to_owner", "heir"),
            principal=asked.pop("principal", ME.id),
            request_key=f"request-{next(self._numbers)}",
            idempotency_key=asked.pop("idempotency_key", None),
            body_hash=asked.pop("body_hash", "h"),
            ttl_ms=asked.pop("ttl_ms", None),
            checkpoint_json=asked.pop("checkpoint_json", None),
        )
        assert not asked
        return self.service.leases.hand_over(ask, self.clock(skew_ms=skew_ms))

    def _steering(self, name: str, reason: str, fence: int | None) -> steering.Ask:
        return steering.Ask(key_of(name), reason, fence, ME.id, f"request-{next(self._numbers)}")

    def cancel(self, name: str = "job", *, reason: str = "stop", fence: int | None = None) -> Steered:
        return self.service.leases.steer(steering.cancel(self._steering(name, reason, fence)), self.clock())

    def evict(self, name: str = "job", *, reason: str = "out", fence: int | None = None) -> Steered:
        return self.service.leases.steer(steering.evict(self._steering(name, reason, fence)), self.clock())

    def reopen(self, name: str = "job", *, reason: str = "again", fence: int | None = None) -> Steered:
        return self.service.leases.reopen(self._steering(name, reason, fence), self.clock())

    def session(self, *, ttl_ms: int = 10_000, skew_ms: int = 0) -> Session:
        new = NewSession(str(self._draw()), "worker", "null", ttl_ms)
        return self.service.sessions.create(new, ME, self.clock(skew_ms=skew_ms))

    def keepalive(self, session: Session, *, skew_ms: int = 0) -> Session:
        return self.service.sessions.keepalive(session.session_id, ME, self.clock(skew_ms=skew_ms))

    def sweep(self, *, skew_ms: int = 0) -> list[str]:
        """The names of what was recovered."""
        swept = self.service.recovery.sweep_all(lambda: self.clock(skew_ms=skew_ms))
        return sorted(names.name_of(row.key) for row in swept.recovered)

    def inspect(self, name: str = "job", *, skew_ms: int = 0) -> Held | Delayed | Done | Free:
        return self.service.leases.inspect(key_of(name), self.clock(skew_ms=skew_ms))

    def held_names(self, prefix: str = "", limit: int = 100) -> list[str]:
        page = self.service.held.page(*names.key_range(NAMESPACE, prefix, None), limit, lambda _row: True, self.clock())
        return [names.name_of(held.row.key) for held in page.held]

    def raw_row(self, name: str = "job") -> dict[str, Any] | None:
        item: dict[str, Any] | None = self.dynamodb.get_item(
            TableName=self.settings.leases_table, Key={"key": {"S": key_of(name)}}
        ).get("Item")
        return item

    def row(self, name: str = "job") -> Lease:
        raw = self.raw_row(name)
        assert raw is not None
        return Lease.from_raw_data(raw)

    def edit(self, name: str = "job", *, remove: tuple[str, ...] = (), **values: dict[str, Any]) -> None:
        """As somebody with the AWS console would, past every rule of the service."""
        item = {**(self.raw_row(name) or {"key": {"S": key_of(name)}}), **values}
        self.dynamodb.put_item(
            TableName=self.settings.leases_table,
            Item={attribute: item[attribute] for attribute in item if attribute not in remove},
        )

    def clean_up_by_ttl(self, name: str = "job") -> None:
        """DynamoDB removes the row, as it may once `ttl` has passed."""
        self.dynamodb.delete_item(TableName=self.settings.leases_table, Key={"key": {"S": key_of(name)}})


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
