"""A figure that was measured, and what it must be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Required:
    text: str
    holds: Callable[[float], bool]


def exactly(wanted: float) -> Required:
    return Required(f"= {wanted:,g}", lambda value: value == wanted)


def at_most(limit: float) -> Required:
    return Required(f"<= {limit:,g}", lambda value: value <= limit)


def at_least(limit: float) -> Required:
    return Required(f">= {limit:,g}", lambda value: value >= limit)


def below(limit: float) -> Required:
    return Required(f"< {limit:,g}", lambda value: value < limit)


@dataclass(frozen=True, slots=True)
class Figure:
    what: str
    measured: str
    value: float
    required: Required | None = None
    # What `measured` says in words, as numbers for other programs.
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_met(self) -> bool:
        return self.required is None or self.required.holds(self.value)


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    # The heading of the figures themselves: calls, a ratio, bytes.
    unit: str
    figures: tuple[Figure, ...]
    # What a reader must know to trust the figures no further than they go.
    notes: tuple[str, ...] = ()

    @property
    def missed(self) -> tuple[Figure, ...]:
        return tuple(figure for figure in self.figures if not figure.is_met)
