"""The only place that speaks to DynamoDB. Applies writes, reads rows, and names what can go wrong.

Retries live here and nowhere else. botocore would repeat the same bytes with the old clock, so it gets one
attempt; `apply` makes a second one with a fresh reading. An attempt whose answer was lost may have been applied:
the second is then refused by its own condition, and the row that comes back carries the caller's key.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from botocore.exceptions import BotoCoreError, ChecksumError, ClientError, ConnectionError, HTTPClientError

from chalicelib.clock import Clock, Now
from chalicelib.errors import RateLimited, UpstreamUnavailable
from chalicelib.forms import Write
from chalicelib.row import RawRow

Answer = TypeVar("Answer")

THROTTLED = frozenset({"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"})
TRANSIENT = frozenset(
    # The last: somebody's transaction is just about to change the row, which is over in a moment.
    {"InternalServerError", "InternalFailure", "ServiceUnavailable", "TransactionConflictException"}
)
# How often a transaction that others got in the way of is tried again.
MOST_CONFLICTS = 5
# BatchGetItem takes at most 100 keys, and a page has at most as many.
LARGEST_BATCH = 100
# What a batch left unread was throttled: asked for again at once, it would be throttled again.
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 0.8


class DynamoDB(Protocol):
    """What is used of boto3's client."""

    def update_item(self, **request: Any) -> dict[str, Any]: ...
    def put_item(self, **request: Any) -> dict[str, Any]: ...
    def get_item(self, **request: Any) -> dict[str, Any]: ...
    def query(self, **request: Any) -> dict[str, Any]: ...
    def transact_write_items(self, **request: Any) -> dict[str, Any]: ...
    def batch_get_item(self, **request: Any) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Applied:
    """The write was made. `row` is the row before or after it, as the form asks for."""

    write: Write
    row: RawRow | None
    now: Now


@dataclass(frozen=True, slots=True)
class Refused:
    """The condition said no. `row` is the row that made it say so, as of that very moment."""

    row: RawRow | None
    now: Now


@dataclass(frozen=True, slots=True)
class AllApplied:
    writes: Sequence[Write]
    now: Now


@dataclass(frozen=True, slots=True)
class NoneApplied:
    """A condition said no, so no write was made. For each write: whether it was refused, and by which row."""

    refused: Sequence[Refused | None]


@dataclass(frozen=True, slots=True)
class Stored:
    """There was no such row, and now there is."""

    now: Now


@dataclass(frozen=True, slots=True)
class Rows:
    """`cut`: there are more that match, past the limit or past the 1 MB of a DynamoDB page."""

    rows: list[RawRow]
    cut: bool


class _Conflict(Exception):
    """Another request was writing one of the rows at that moment. No loss: the same again will tell."""


class Store:
    """One table."""

    def __init__(self, client: DynamoDB, table: str, pause: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._table = table
        self._pause = pause

    def apply(self, write_at: Callable[[Now], Write], clock: Clock) -> Applied | Refused:
        def attempt() -> Applied | Refused:
            now = clock.now()
            write = write_at(now)
            try:
                answer = self._client.update_item(TableName=self._table, **write.request())
            except ClientError as error:
                if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                    raise
                return Refused(error.response.get("Item"), now)
            return Applied(write, answer.get("Attributes"), now)

        return self._twice(attempt, clock)

    def apply_all(self, writes_at: Callable[[Now], Sequence[Write]], clock: Clock) -> AllApplied | NoneApplied:
        """All or none. Without a request token: DynamoDB would answer a repeat with success, although somebody else
        may have taken a row in the meantime."""

        def attempt() -> AllApplied | NoneApplied:
            now = clock.now()
            writes = writes_at(now)
            updates = [{"Update": {"TableName": self._table, **write.in_transaction()}} for write in writes]
            try:
                self._client.transact_write_items(TransactItems=updates)
            except ClientError as error:
                return NoneApplied(_cancellation(error, now))
            return AllApplied(writes, now)

        for tries in range(1, MOST_CONFLICTS + 1):
            try:
                return self._twice(attempt, clock)
            except _Conflict:
                self._pause(_pause_seconds(tries))
        raise self._named(HTTPClientError(error=f"{MOST_CONFLICTS} conflicts with other transactions"))

    def put_new(self, hash_key: str, row_at: Callable[[Now], RawRow], clock: Clock) -> Stored | Refused:
        """Never over another row: refused by the one that is there, which may be our own first attempt's."""

        def attempt() -> Stored | Refused:
            now = clock.now()
            try:
                self._client.put_item(TableName=self._table, Item=row_at(now), **_is_new(hash_key))
            except ClientError as error:
                if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                    raise
                return Refused(error.response.get("Item"), now)
            return Stored(now)

        return self._twice(attempt, clock)

    def get(self, key: dict[str, Any], clock: Clock) -> RawRow | None:
        def attempt() -> RawRow | None:
            item: RawRow | None = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True).get("Item")
            return item

        return self._twice(attempt, clock)

    def query_page(self, clock: Clock, **request: Any) -> Rows:
        """What DynamoDB gives at once, for readers of rows that may be large."""

        def attempt() -> Rows:
            answer = _complete(self._client.query(TableName=self._table, **request), "Items")
            return Rows(answer["Items"], cut="LastEvaluatedKey" in answer)

        return self._twice(attempt, clock)

    def query(self, clock: Clock, **request: Any) -> list[RawRow]:
        """One page of at most `Limit` rows: what is asked for here is far below the 1 MB of a DynamoDB page."""

        def attempt() -> list[RawRow]:
            items: list[RawRow] = _complete(self._client.query(TableName=self._table, **request), "Items")["Items"]
            return items

        return self._twice(attempt, clock)

    def count(self, clock: Clock, **request: Any) -> int:
        """How many rows a query finds, over as many pages as it takes."""
        counted, asked = 0, {**request, "Select": "COUNT"}
        while True:
            answer = self._twice(partial(self._counted, asked), clock)
            counted += int(answer["Count"])
            if "LastEvaluatedKey" not in answer:
                return counted
            asked["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _counted(self, request: dict[str, Any]) -> dict[str, Any]:
        return _complete(self._client.query(TableName=self._table, **request), "Count")

    def get_many(self, keys: Sequence[dict[str, Any]], clock: Clock) -> Iterator[RawRow]:
        """In no order. DynamoDB may leave some for later; they are asked for again until the budget is used up."""
        left, tries = list(keys)[:LARGEST_BATCH], 0
        while left:
            if tries:
                self._pause_after(tries, clock)
            answer = self._twice(lambda asked=tuple(left): self._batch(asked), clock)  # type: ignore[misc]
            yield from answer["Responses"].get(self._table, ())
            left = answer.get("UnprocessedKeys", {}).get(self._table, {}).get("Keys", [])
            tries += 1

    def _pause_after(self, tries: int, clock: Clock) -> None:
        self._pause(_pause_seconds(tries))
        if not clock.allows_another_attempt():
            raise self._throttled(f"BatchGetItem left keys unprocessed {tries} times")

    def _batch(self, keys: Sequence[dict[str, Any]]) -> dict[str, Any]:
        asked = {self._table: {"Keys": list(keys), "ConsistentRead": True}}
        return _complete(self._client.batch_get_item(RequestItems=asked), "Responses")

    def _twice(self, attempt: Callable[[], Answer], clock: Clock) -> Answer:
        if not clock.allows_another_attempt():
            raise self._named(HTTPClientError(error="the time of the request is used up"))
        try:
            return attempt()
        except (ClientError, BotoCoreError) as error:
            if not (_may_pass(error) and clock.allows_another_attempt()):
                raise self._named(error) from error
        try:
            return attempt()
        except (ClientError, BotoCoreError) as error:
            raise self._named(error) from error

    def _named(self, error: Exception) -> RateLimited | UpstreamUnavailable:
        code = _code(error)
        if code in THROTTLED:
            return self._throttled(f"{code}: {error}")
        return UpstreamUnavailable(
            "The store behind the service cannot be used at the moment, so nothing is promised. "
            "Try again; a repeated request with the same idempotency_key or lease_id is safe.",
            logged=f"DynamoDB, table {self._table}: {code}: {error}",
            retry_after_ms=1000,
        )

    def _throttled(self, why: str) -> RateLimited:
        return RateLimited(
            "Too many requests for this name or table at once. Wait as long as retry_after_ms says, then try again.",
            logged=f"DynamoDB, table {self._table}: {why}",
            retry_after_ms=1000,
        )


def _pause_seconds(tries: int) -> float:
    longest: float = min(FIRST_PAUSE_SECONDS * 2 ** (tries - 1), LONGEST_PAUSE_SECONDS)
    return longest * random.uniform(0.5, 1)  # noqa: S311 - it spreads requests, it guards nothing


def _is_new(hash_key: str) -> dict[str, Any]:
    return {
        "ConditionExpression": "attribute_not_exists(#key)",
        "ExpressionAttributeNames": {"#key": hash_key},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def _complete(answer: dict[str, Any], needed: str) -> dict[str, Any]:
    """A reply without what every such reply has was cut short on its way, and is as good as lost."""
    if needed not in answer:
        raise HTTPClientError(error="the reply was cut short")
    return answer


def _cancellation(error: ClientError, now: Now) -> list[Refused | None]:
    reasons = error.response.get("CancellationReasons")
    if reasons is None:
        raise error
    codes = {reason.get("Code") for reason in reasons}
    if "TransactionConflict" in codes:
        raise _Conflict
    if "ConditionalCheckFailed" in codes:
        return [
            Refused(reason.get("Item"), now) if reason.get("Code") == "ConditionalCheckFailed" else None
            for reason in reasons
        ]
    raise error


def _code(error: Exception) -> str:
    return str(error.response["Error"]["Code"]) if isinstance(error, ClientError) else type(error).__name__


def _may_pass(error: Exception) -> bool:
    """Connection trouble, a reply that was damaged on its way, and DynamoDB's own faults. A throttled row is left
    alone: a repeat would heat it more."""
    if isinstance(error, ClientError):
        return _code(error) in TRANSIENT
    return isinstance(error, HTTPClientError | ConnectionError | ChecksumError)
