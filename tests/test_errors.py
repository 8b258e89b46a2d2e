"""The tree that is drawn in the docstring of `errors` is the tree of the code."""

import re
from collections.abc import Iterator

from chalicelib import errors
from chalicelib.errors import ServiceError

LINE = re.compile(r"^    (?P<branches>[ │├└─]*)(?P<name>[A-Z]\w+) *(?P<status>\d{3})? ?(?P<code>[a-z_]+)?", re.M)


def drawn() -> Iterator[tuple[str, str | None, str | None, str | None]]:
    """Each class with the one it hangs on, its status and its code."""
    path: dict[int, str] = {}
    for line in LINE.finditer(errors.__doc__ or ""):
        depth = len(line["branches"]) // 4
        path[depth] = line["name"]
        is_leaf = line["status"] is not None
        yield line["name"], path.get(depth - 1), line["status"], line["code"] if is_leaf else None


def in_code() -> Iterator[tuple[str, str | None, str | None, str | None]]:
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, ServiceError):
            base = kind.__base__.__name__ if kind is not ServiceError and kind.__base__ else None
            has_code = hasattr(kind, "code")
            yield kind.__name__, base, str(kind.status) if has_code else None, kind.code if has_code else None


def test_the_drawing_is_true() -> None:
    assert sorted(drawn(), key=str) == sorted(in_code(), key=str)


def test_a_code_has_one_status() -> None:
    codes = [code for _, _, _, code in in_code() if code]
    assert len(codes) == len(set(codes))
