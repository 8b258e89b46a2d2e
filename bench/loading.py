"""Many rows at once, straight into the table."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bench import handler
from bench.stand import Stand, key_of

# DynamoDB takes 25 rows in a batch.
BATCH = 25
LOADERS = 4


def copies(stand: Stand, row: Mapping[str, Any], names: Sequence[str]) -> None:
    """Of a row that the service itself wrote; a held one stands in the shard of its own key."""
    with ThreadPoolExecutor(LOADERS) as loaders:
        requests = (
            {handler.LEASES: [{"PutRequest": {"Item": _copy(stand, row, key_of(name))}} for name in batch]}
            for batch in _batches(names)
        )
        list(loaders.map(lambda request: stand.client.batch_write_item(RequestItems=request), requests))


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, len(names), BATCH):
        yield names[first : first + BATCH]


def _copy(stand: Stand, row: Mapping[str, Any], key: str) -> dict[str, Any]:
    shard = {"held_in": {"S": stand.app.service.held.shard_of(key)}} if "held_in" in row else {}
    return {**row, "key": {"S": key}, **shard}
