"""What every verb is: a value that makes one write, and reads what came of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from chalicelib.clock import Now
from chalicelib.forms import Write
from chalicelib.row import Lease
from chalicelib.sessions import Alive, Dead
from chalicelib.store import Applied

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Settled(Generic[Outcome]):
    outcome: Outcome


Answered_co = TypeVar("Answered_co", covariant=True)


@dataclass(frozen=True, slots=True)
class AskSession(Generic[Answered_co]):
    """Only the session can tell. A holder looks at it; anybody else judges it, which writes its death if it is due."""

    session_id: str
    judges: bool
    answered: Callable[[Alive | Dead, Now], Answered_co]


class Verb(Protocol[Outcome]):
    """`refused` gives the outcome, or the same verb again, wiser by what the row has shown."""

    @property
    def key(self) -> str: ...

    def write(self, now: Now, drawn: UUID) -> Write: ...

    def applied(self, applied: Applied) -> Outcome: ...

    def refused(
        self, row: Lease | None, now: Now
    ) -> "Settled[Outcome] | Verb[Outcome] | AskSession[Settled[Outcome] | Verb[Outcome]]": ...
