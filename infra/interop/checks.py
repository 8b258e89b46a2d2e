"""What was looked at, what was found, and what it had to be."""

from collections.abc import Sequence
from dataclasses import dataclass

_COLUMNS = "{:<48} {:<26} {:<26} {}"


@dataclass(frozen=True, slots=True)
class Check:
    what: str
    found: str
    wanted: str
    # What the program itself said of it.
    said: str = ""

    @property
    def holds(self) -> bool:
        return self.found == self.wanted


def table(checks: Sequence[Check]) -> str:
    head = [_row("", "found", "must be", ""), "-" * 110]
    return "\n".join([*head, *(line for check in checks for line in _lines(check)), "", _verdict(checks)])


def _lines(check: Check) -> list[str]:
    line = _row(check.what, check.found, check.wanted, "ok" if check.holds else "NOT MET")
    return [line, f"    {check.said}"] if check.said else [line]


def _row(*cells: str) -> str:
    return _COLUMNS.format(*cells).rstrip()


def _verdict(checks: Sequence[Check]) -> str:
    missed = [check.what for check in checks if not check.holds]
    return f"Not what it must be: {'; '.join(missed)}." if missed else "Everything is what it must be."
