"""The only place that speaks to DynamoDB. Applies writes, reads rows, and names what can go wrong.

Retries live here and nowhere else. botocore would repeat the same bytes with the old clock, so it gets one
attempt; `apply` makes a second one with a fresh reading. An attempt whose answer was lost may have been applied:
the second is then refused by its own condition, and the row that comes back carries the caller's key.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError

from chalicelib.clock import Clock, Now
from chalicelib.errors import RateLimited, UpstreamUnavailable
from chalicelib.forms import Write
from chalicelib.row import RawRow

Answer = TypeVar("Answer")

THROTTLED = frozenset({"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"})
TRANSIENT = frozenset({"InternalServerError", "InternalFailure", "ServiceUnavailable"})
# BatchGetItem takes at most 100 keys, and a page has at most as many.
LARGEST_BATCH = 100


class DynamoDB(Protocol):
    """What is used of boto3's client."""

    def update_item(self, **request: Any) -> dict[str, Any]: ...
    def get_item(self, **request: Any) -> dict[str, Any]: ...
    def query(self, **request: Any) -> dict[str, Any]: ...
    def batch_get_item(self, **request: Any) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Applied:
    """The write was made. `old` is the row before it, where the form asks for it."""

    write: Write
    old: RawRow | None
    now: Now


@dataclass(frozen=True, slots=True)
class Refused:
    """The condition said no. `row` is the row that made it say so, as of that very moment."""

    row: RawRow | None
    now: Now


class Store:
    """One table."""

    def __init__(self, client: DynamoDB, table: str) -> None:
        self._client = client
        self._table = table

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

    def get(self, key: dict[str, Any], clock: Clock) -> RawRow | None:
        def attempt() -> RawRow | None:
            item: RawRow | None = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True).get("Item")
            return item

        return self._twice(attempt, clock)

    def query(self, clock: Clock, **request: Any) -> list[RawRow]:
        """One page of at most `Limit` rows: what is asked for here is far below the 1 MB of a DynamoDB page."""

        def attempt() -> list[RawRow]:
            items: list[RawRow] = _complete(self._client.query(TableName=self._table, **request), "Items")["Items"]
            return items

        return self._twice(attempt, clock)

    def get_many(self, keys: Sequence[dict[str, Any]], clock: Clock) -> Iterator[RawRow]:
        """In no order. DynamoDB may leave some for later; they are asked for again until the budget is used up."""
        left = list(keys)[:LARGEST_BATCH]
        while left:
            answer = self._twice(lambda asked=tuple(left): self._batch(asked), clock)  # type: ignore[misc]
            yield from answer["Responses"].get(self._table, ())
            left = answer.get("UnprocessedKeys", {}).get(self._table, {}).get("Keys", [])
            if left and not clock.allows_another_attempt():
                raise _throttled("BatchGetItem left keys unprocessed")

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
            return _throttled(code)
        return UpstreamUnavailable(
            "The store behind the service cannot be used at the moment, so nothing is promised. "
            "Try again; a repeated request with the same idempotency_key or lease_id is safe.",
            logged=f"DynamoDB, table {self._table}: {code}: {error}",
            retry_after_ms=1000,
        )


def _complete(answer: dict[str, Any], needed: str) -> dict[str, Any]:
    """A reply without what every such reply has was cut short on its way, and is as good as lost."""
    if needed not in answer:
        raise HTTPClientError(error="the reply was cut short")
    return answer


def _code(error: Exception) -> str:
    return str(error.response["Error"]["Code"]) if isinstance(error, ClientError) else type(error).__name__


def _may_pass(error: Exception) -> bool:
    """Connection trouble and DynamoDB's own faults. A throttled row is left alone: a repeat would heat it more."""
    if isinstance(error, ClientError):
        return _code(error) in TRANSIENT
    return isinstance(error, HTTPClientError | ConnectionError)


def _throttled(code: str) -> RateLimited:
    return RateLimited(
        "Too many requests for this name or table at once. Wait as long as retry_after_ms says, then try again.",
        retry_after_ms=1000,
        cause=code,
    )
