"""What the callers of one history know, and what they draw from when they choose what to do next."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any, Literal, TypeVar

from chalicelib import names
from chalicelib.auth import Principal
from chalicelib.clock import Clock
from chalicelib.service import Service
from tests.model.answers import Answers, Sent
from tests.model.ledger import Ledger
from tests.model.mix import Mix

NAMESPACE = "default"
RECENT = 5
PRINCIPALS = tuple(Principal(id, NAMESPACE, "label", frozenset({"admin"}), "", 0) for id in ("p1", "p2"))

NewClock = Callable[[], Clock]
Thing = TypeVar("Thing")


def _nothing(_now_us: int) -> None: ...


def _ignored(_outcome: Any, _sent: Sent) -> None: ...


@dataclass(frozen=True, slots=True)
class Request:
    """It can be sent again, by its caller or by the network."""

    text: str
    act: Callable[[NewClock], Any]
    heard: Callable[[Any, Sent], None] = _ignored
    # What its caller does at the moment of sending: whoever gives a lease up has stopped to work.
    sending: Callable[[int], None] = _nothing
    is_waited_for: bool = True
    times: Literal["first", "repeat", "duplicate"] = "first"


@dataclass(frozen=True, slots=True)
class Grant:
    """What somebody was told once, and may try to use at any time later."""

    name: str
    lease_id: str
    fence: int

    @property
    def key(self) -> str:
        return names.key_of(NAMESPACE, self.name)

    def __str__(self) -> str:
        return f"{self.lease_id[-6:]} of {self.name}"


@dataclass(frozen=True, slots=True)
class KnownSession:
    session_id: str
    principal: Principal

    def __str__(self) -> str:
        return self.session_id[-6:]


class Scene:
    def __init__(self, service: Service, answers: Answers, ledger: Ledger, rng: Random, mix: Mix) -> None:
        self.service, self.answers, self.ledger, self.rng, self.mix = service, answers, ledger, rng, mix
        self.names = [f"job{number}" for number in range(mix.names)]
        self.grants: list[Grant] = []
        self.sessions: list[KnownSession] = []
        self._keys: list[str] = []
        self._numbers = count(1)

    def number(self) -> int:
        return next(self._numbers)

    def idempotency_key(self, *, is_reused: bool) -> str:
        """A caller's mistake is to use one for something else as well."""
        if not is_reused or not self._keys:
            self._keys.append(f"k{self.number()}")
        return self.recent(self._keys) if is_reused else self._keys[-1]

    def request_key(self) -> str:
        """The service draws a new one each time that a request comes in."""
        return f"r{self.number()}"

    def chance(self, likely: float) -> bool:
        return self.rng.random() < likely

    def recent(self, some: Sequence[Thing]) -> Thing:
        return self.rng.choice(some[-RECENT:] if self.chance(0.85) else some)

    def grant(self) -> Grant | None:
        """Mostly one that is in use still, sometimes one that has ended."""
        return self._mostly([one for one in self.grants if self.is_current(one)], self.grants)

    def is_current(self, grant: Grant) -> bool:
        life = self.ledger.holders.lives.get(grant.lease_id)
        return life is not None and life.ended_step is None

    def session(self) -> KnownSession | None:
        sessions, now_us = self.ledger.holders.sessions, self.service.read_us()
        current = [one for one in self.sessions if sessions[one.session_id].believed_until_us > now_us]
        return self._mostly(current, self.sessions)

    def held_in(self, session: KnownSession) -> list[Grant]:
        lives = self.ledger.holders.session(session.session_id).leases
        ids = {life.lease_id for life in lives if life.ended_step is None}
        return [one for one in self.grants if one.lease_id in ids]

    def _mostly(self, current: Sequence[Thing], all_of_them: Sequence[Thing]) -> Thing | None:
        some = current if self.chance(0.85) else all_of_them
        return self.recent(some) if some else None
