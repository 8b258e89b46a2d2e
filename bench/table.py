"""The figures as a table for people, and as JSON for programs."""

import textwrap
from collections.abc import Sequence
from typing import Any

from bench.figures import Figure, Section

WIDTH = 127
_COLUMNS = "{:<37} {:<64} {:>6} {:>8}  {}"


def verdict(sections: Sequence[Section]) -> str:
    missed = [f"{figure.what}: {_number(figure.value)}" for section in sections for figure in section.missed]
    return f"Not what it must be: {'; '.join(missed)}." if missed else "Every figure is what it must be."


def as_text(section: Section) -> str:
    head = _row(section.title, "", section.unit, "must be", "")
    lines = [head, "-" * WIDTH, *(_figure(figure) for figure in section.figures)]
    for note in section.notes:
        lines += textwrap.wrap(note, WIDTH - 2, initial_indent="  ", subsequent_indent="  ")
    return "\n".join(lines)


def _figure(figure: Figure) -> str:
    must = figure.required.text if figure.required else ""
    mark = "" if figure.required is None else "ok" if figure.is_met else "NOT MET"
    return _row(f"  {figure.what}", figure.measured, _number(figure.value), must, mark)


def _row(*cells: str) -> str:
    return _COLUMNS.format(*cells).rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def as_json(sections: Sequence[Section]) -> dict[str, Any]:
    return {
        "met": not any(section.missed for section in sections),
        "sections": [
            {
                "title": one.title,
                "unit": one.unit,
                "notes": one.notes,
                "figures": [_plain(each) for each in one.figures],
            }
            for one in sections
        ],
    }


def _plain(figure: Figure) -> dict[str, Any]:
    return {
        "what": figure.what,
        "value": figure.value,
        "must_be": figure.required.text if figure.required else None,
        "met": figure.is_met,
        "details": dict(figure.details),
    }
