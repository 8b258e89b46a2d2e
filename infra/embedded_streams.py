"""moto's DynamoDB streams, as DynamoDB writes them and small enough for a service that runs for days.

Not promised: more than one shard, and records older than the last ten thousand.
"""

import copy
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from moto.dynamodb.models.dynamo_type import Item
from moto.dynamodb.models.table import StreamShard
from moto.dynamodbstreams.models import DynamoDBStreamsBackend

# DynamoDB keeps a record for a day; moto for ever, and each is twice the size of its row.
KEPT_RECORDS = 10_000
# They are forgotten in lots, because taking the first from a list moves all the others.
LOT = 1_000

_add, _get = StreamShard.add, StreamShard.get


@contextmanager
def as_on_aws() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(patch.object(StreamShard, "add", _add_as_on_aws))
        stack.enter_context(patch.object(StreamShard, "get", _get_what_is_kept))
        stack.enter_context(patch.object(StreamShard, "__deepcopy__", _copy_without_records, create=True))
        stack.enter_context(patch.object(DynamoDBStreamsBackend, "get_records", _get_records_once))
        yield


def _add_as_on_aws(shard: StreamShard, old: Item | None, new: Item | None) -> None:
    """An update that changes nothing is no change. An update that makes a row is one INSERT; moto writes two, the
    first of them with the key alone, and nothing comes between them."""
    if old is not None and new is not None and old == new:
        return
    if old is None and shard.items and _is_insert_of(shard.items[-1].record, new):
        shard.items.pop()
    _add(shard, old, new)
    if len(shard.items) >= KEPT_RECORDS + LOT:
        del shard.items[:LOT]
        shard.starting_sequence_number += LOT


def _is_insert_of(record: dict[str, Any], item: Any) -> bool:
    attributes = item.to_json()["Attributes"]
    keys = record["dynamodb"]["Keys"]
    return record["eventName"] == "INSERT" and all(attributes.get(name) == value for name, value in keys.items())


def _get_what_is_kept(shard: StreamShard, start: int, quantity: int) -> Any:
    return _get(shard, max(start, shard.starting_sequence_number), quantity)


def _copy_without_records(shard: StreamShard, memo: dict[int, Any]) -> StreamShard:
    """moto copies a whole table before each transaction. A record never changes, so it need not be copied too."""
    twin = copy.copy(shard)
    memo[id(shard)] = twin
    twin.table, twin.items = copy.deepcopy(shard.table, memo), list(shard.items)
    return twin


def _get_records_once(self: DynamoDBStreamsBackend, iterator_arn: str, limit: int) -> Any:
    """moto remembers every iterator that it ever gave, five a second to an idle reader. And after a transaction that
    was refused it puts a copy of the table in the table's place, which an iterator given before would never see."""
    iterator = self.shard_iterators.pop(iterator_arn)
    current = self.dynamodb.get_table(iterator.stream_shard.table.name).stream_shard
    iterator.stream_shard = current or iterator.stream_shard
    return iterator.get(limit)
