"""DynamoDB's expressions, as far as the service's own forms use them, compiled once into closures.

types        a number is compared with a number and a text with a text; anything else is not equal, and not ordered
missing      an attribute that is not there equals nothing and is ordered before nothing, so only <> holds
update       every right-hand side sees the row as it was
"""

import operator
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

Typed = Mapping[str, Any]
Row = Mapping[str, Typed]
Names = tuple[tuple[str, str], ...]
Operand = Callable[[Row, Row], Typed | None]
Test = Callable[[Row, Row], bool]
Change = Callable[[Row, Row], dict[str, Typed]]

_token = re.compile(r"\s*(<>|<=|>=|[=<>(),+]|[#:]?\w+)")
_orderings: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class InvalidExpression(Exception):
    """DynamoDB would answer with a ValidationException, and write nothing."""


@cache
def condition(expression: str, names: Names) -> Test:
    parser = _Parser(expression, dict(names))
    test = parser.either()
    parser.at_end()
    return test


@cache
def update(expression: str, names: Names) -> Change:
    parser = _Parser(expression, dict(names))
    sets, removed = parser.sections()
    parser.at_end()

    def change(row: Row, values: Row) -> dict[str, Typed]:
        new = {**row, **{name: _present(value(row, values)) for name, value in sets}}
        for name in removed:
            new.pop(name, None)
        return new

    return change


class _Parser:
    def __init__(self, expression: str, names: Mapping[str, str]) -> None:
        self._tokens = _token.findall(expression)
        if "".join(self._tokens) != re.sub(r"\s", "", expression):
            raise InvalidExpression(expression)
        self._names = names
        self._at = 0

    def _next(self) -> str:
        self._at += 1
        return str(self._tokens[self._at - 1])

    def _take(self, *wanted: str) -> bool:
        """Whether one of these comes next; if so, it is taken."""
        found = self._at < len(self._tokens) and self._tokens[self._at] in wanted
        self._at += found
        return found

    def _demand(self, token: str) -> None:
        if not self._take(token):
            raise InvalidExpression(f"{token} expected: {self._tokens[self._at :]}")

    def at_end(self) -> None:
        if self._at != len(self._tokens):
            raise InvalidExpression(f"left over: {self._tokens[self._at :]}")

    def either(self) -> Test:
        test = self._both()
        while self._take("OR"):
            test = _or(test, self._both())
        return test

    def _both(self) -> Test:
        test = self._one()
        while self._take("AND"):
            test = _and(test, self._one())
        return test

    def _one(self) -> Test:
        if self._take("NOT"):
            return _not(self._one())
        if self._take("("):
            test = self.either()
            self._demand(")")
            return test
        if self._take("attribute_exists"):
            return _exists(self._path_in_brackets())
        if self._take("attribute_not_exists"):
            return _not(_exists(self._path_in_brackets()))
        if self._take("attribute_type"):
            return self._type()
        return self._comparison()

    def _path_in_brackets(self) -> str:
        self._demand("(")
        name = self._names[self._next()]
        self._demand(")")
        return name

    def _type(self) -> Test:
        self._demand("(")
        name = self._names[self._next()]
        self._demand(",")
        wanted = self._next()
        self._demand(")")
        return lambda row, values: name in row and values[wanted]["S"] in row[name]

    def _comparison(self) -> Test:
        left, sign = self._operand(), self._next()
        if sign == "IN":
            return _among(left, self._list())
        right = self._operand()
        match sign:
            case "=":
                return _equal(left, right)
            case "<>":
                return _not(_equal(left, right))
            case _:
                return _ordered(left, _orderings[sign], right)

    def _list(self) -> list[Operand]:
        self._demand("(")
        found = [self._operand()]
        while self._take(","):
            found.append(self._operand())
        self._demand(")")
        return found

    def _operand(self) -> Operand:
        if self._take("if_not_exists"):
            self._demand("(")
            name = self._names[self._next()]
            self._demand(",")
            otherwise = self._operand()
            self._demand(")")
            return lambda row, values: row[name] if name in row else otherwise(row, values)
        token = self._next()
        if token.startswith(":"):
            return lambda _row, values: values[token]
        name = self._names[token]
        return lambda row, _values: row.get(name)

    def sections(self) -> tuple[list[tuple[str, Operand]], list[str]]:
        sets, removed = [], []
        if self._take("SET"):
            sets.append(self._assignment())
            while self._take(","):
                sets.append(self._assignment())
        if self._take("REMOVE"):
            removed.append(self._names[self._next()])
            while self._take(","):
                removed.append(self._names[self._next()])
        return sets, removed

    def _assignment(self) -> tuple[str, Operand]:
        name = self._names[self._next()]
        self._demand("=")
        value = self._operand()
        return name, _sum(value, self._operand()) if self._take("+") else value


def _or(one: Test, other: Test) -> Test:
    return lambda row, values: one(row, values) or other(row, values)


def _and(one: Test, other: Test) -> Test:
    return lambda row, values: one(row, values) and other(row, values)


def _not(test: Test) -> Test:
    return lambda row, values: not test(row, values)


def _exists(name: str) -> Test:
    return lambda row, _values: name in row


def _equal(left: Operand, right: Operand) -> Test:
    def test(row: Row, values: Row) -> bool:
        one = left(row, values)
        return one is not None and one == right(row, values)

    return test


def _among(left: Operand, wanted: list[Operand]) -> Test:
    tests = [_equal(left, one) for one in wanted]
    return lambda row, values: any(test(row, values) for test in tests)


def _ordered(left: Operand, holds: Callable[[Any, Any], bool], right: Operand) -> Test:
    def test(row: Row, values: Row) -> bool:
        one, other = left(row, values), right(row, values)
        if one is None or other is None:
            return False
        if "N" in one and "N" in other:
            return holds(int(one["N"]), int(other["N"]))
        return "S" in one and "S" in other and holds(one["S"], other["S"])

    return test


def _sum(left: Operand, right: Operand) -> Operand:
    def value(row: Row, values: Row) -> Typed:
        one, other = _present(left(row, values)), _present(right(row, values))
        if "N" not in one or "N" not in other:
            raise InvalidExpression("only numbers can be added")
        return {"N": str(int(one["N"]) + int(other["N"]))}

    return value


def _present(value: Typed | None) -> Typed:
    if value is None:
        raise InvalidExpression("the right-hand side names an attribute that is not in the row")
    return value
