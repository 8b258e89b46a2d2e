"""DynamoDB inside this process, for laptops and tests: moto, made atomic and as strict about types as DynamoDB.

Not promised: capacity figures, TTL deletions, index lag and throttling. moto has none of them.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from threading import RLock
from typing import Any
from unittest.mock import patch

from moto import mock_aws
from moto.dynamodb import comparisons
from moto.dynamodb.parsing import validators
from moto.dynamodb.parsing.expressions import UpdateExpressionParser  # type: ignore[attr-defined] # it has no types
from moto.dynamodb.responses import DynamoHandler
from moto.dynamodbstreams.responses import DynamoDBStreamsHandler

from infra import embedded_streams

REGION = "us-east-1"

# moto puts dummy keys into the environment, but answers only calls to AWS's own addresses: an endpoint, a profile or a
# session set on this machine would lead past it, to a real account.
_SEALED_ENVIRONMENT: Mapping[str, str | None] = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
    "AWS_SESSION_TOKEN": None,
    "AWS_PROFILE": None,
    "AWS_DEFAULT_PROFILE": None,
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true",
}

_ORDERED_TYPES = frozenset({"S", "N", "B"})
_SIZED_TYPES = frozenset({"S", "B", "SS", "NS", "BS", "L", "M"})
_ALL_TYPES = _ORDERED_TYPES | _SIZED_TYPES | {"BOOL", "NULL"}
_ORDERINGS = (
    comparisons.OpLessThan,
    comparisons.OpLessThanOrEqual,
    comparisons.OpGreaterThan,
    comparisons.OpGreaterThanOrEqual,
)


@contextmanager
def dynamodb() -> Iterator[None]:
    """Until it ends, every boto3 client made in this process speaks to an empty DynamoDB in memory."""
    with ExitStack() as stack:
        stack.enter_context(_environment(_SEALED_ENVIRONMENT))
        stack.enter_context(mock_aws())
        stack.enter_context(one_action_at_a_time())
        stack.enter_context(_typed_comparisons())
        stack.enter_context(_expressions_read_once())
        stack.enter_context(embedded_streams.as_on_aws())
        yield


@contextmanager
def one_action_at_a_time() -> Iterator[None]:
    """moto reads a row, checks the condition and writes without a lock:

        A  condition holds
        B                   condition holds
        A                                    writes, wins
        B                                                  writes, wins too

    The whole action is locked and not the write alone, because the answer is rendered from the live row. A reader of
    the stream waits likewise, or it would see a write that is then taken back.
    """
    lock = RLock()
    with ExitStack() as stack:
        for handler in (DynamoHandler, DynamoDBStreamsHandler):
            stack.enter_context(patch.object(handler, "call_action", _locked(lock, handler.call_action)))
        yield


def _locked(lock: RLock, call_action: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(self: Any) -> Any:
        with lock:
            return call_action(self)

    return call


@contextmanager
def _typed_comparisons() -> Iterator[None]:
    """On DynamoDB values of two types are never equal and never in order. moto compares them as Python does: it
    raises for "1" < 1, and calls true and 1, or a missing attribute and a null, the same."""
    with ExitStack() as stack:
        for operator in _ORDERINGS:
            stack.enter_context(patch.object(operator, "expr", _within_types(_ORDERED_TYPES, operator.expr)))
        equal = _within_types(_ALL_TYPES, comparisons.OpEqual.expr)
        stack.enter_context(patch.object(comparisons.OpEqual, "expr", equal))
        stack.enter_context(patch.object(comparisons.OpNotEqual, "expr", _is_not_equal))
        stack.enter_context(patch.object(comparisons.FuncBetween, "expr", _is_between))
        stack.enter_context(patch.object(comparisons.FuncIn, "expr", _is_one_of))
        yield


@contextmanager
def _expressions_read_once() -> Iterator[None]:
    """moto parses an update twice, and makes two checks of the whole again at each of its nodes: of the 21 ms that an
    acquire with its 30 clauses took, 9 went there. The parsed tree can be kept, because moto works on a copy."""
    parse = staticmethod(lru_cache(maxsize=256)(UpdateExpressionParser.make))
    with patch.object(UpdateExpressionParser, "make", parse), ExitStack() as stack:
        for check in (validators.ActionCountValidator, validators.OverlappingPathsValidator):
            stack.enter_context(patch.object(check, "traverse", check.process))
        yield


def _within_types(types: frozenset[str], compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def typed(self: Any, item: Any) -> bool:
        kind = _type_of(self.lhs, item)
        return kind in types and kind == _type_of(self.rhs, item) and compare(self, item)

    return typed


def _is_not_equal(self: Any, item: Any) -> bool:
    return not comparisons.OpEqual(self.lhs, self.rhs).expr(item)


def _is_between(self: Any, item: Any) -> bool:
    at_least = comparisons.OpGreaterThanOrEqual(self.attr, self.start).expr(item)
    return at_least and comparisons.OpLessThanOrEqual(self.attr, self.end).expr(item)


def _is_one_of(self: Any, item: Any) -> bool:
    return any(comparisons.OpEqual(self.attr, value).expr(item) for value in self.possible_values)


def _type_of(operand: Any, item: Any) -> str | None:
    if isinstance(operand, comparisons.FuncSize):
        return "N" if operand.attr.get_type(item) in _SIZED_TYPES else None
    kind: str | None = operand.get_type(item)
    return kind


@contextmanager
def _environment(values: Mapping[str, str | None]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    _set(values)
    try:
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
