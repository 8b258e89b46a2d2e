"""DynamoDB's published rules of size and price: what a row weighs, and what reading or writing it costs."""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any

RawItem = Mapping[str, Mapping[str, Any]]

WRITE_UNIT_BYTES = 1024
READ_UNIT_BYTES = 4096


def item_bytes(item: RawItem) -> int:
    """Names count as well as values."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(typed: Mapping[str, Any]) -> int:
    ((kind, value),) = typed.items()
    if kind == "S":
        return len(value.encode())
    if kind == "N":
        return _integer_bytes(value)
    if kind == "BOOL":
        return 1
    raise ValueError(f"no row of this service has a value of type {kind}")


def _integer_bytes(text: str) -> int:
    """One byte for each two significant digits, one more for the number, one more below zero."""
    digits = str(abs(int(text)))
    pairs = digits.zfill(len(digits) + len(digits) % 2)
    while pairs.endswith("00"):
        pairs = pairs[:-2]
    return 1 + len(pairs) // 2 + (int(text) < 0)


def write_units(size_bytes: int) -> float:
    return float(max(1, ceil(size_bytes / WRITE_UNIT_BYTES)))


def consistent_read_units(size_bytes: int) -> float:
    return float(max(1, ceil(size_bytes / READ_UNIT_BYTES)))


def query_units(items: Iterable[RawItem]) -> float:
    """A query that is not consistent costs half, and rounds up the sum of what it read."""
    return consistent_read_units(sum(map(item_bytes, items))) / 2
