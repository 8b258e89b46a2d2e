from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from chalicelib.settings import Settings
from infra import embedded, tables
from infra.stream_reader import LARGEST_BATCH, NoStream, StreamReader

AT = datetime(2026, 11, 18, 11, 6, 40, 123_000, tzinfo=UTC)


def record(number: int) -> dict[str, Any]:
    change = {"SequenceNumber": str(number), "ApproximateCreationDateTime": AT}
    return {"eventID": f"event-{number}", "eventName": "MODIFY", "awsRegion": "us-east-1", "dynamodb": change}


class Streams:
    """A stream of several shards, each with its parent, its records and whether it has ended.

    An iterator is the shard, the number of records before it and a mark of its own: each is good for one call.
    """

    def __init__(self, **shards: tuple[str | None, list[int], bool]) -> None:
        self.shards = shards
        self.calls: list[str] = []
        self.given: set[str] = set()
        self.trimmed = False
        self.label = "1"

    def list_streams(self, **_: Any) -> dict[str, Any]:
        labels = ["0", self.label] if self.label else []  # the first one is of a table that is no more
        return {"Streams": [{"StreamArn": f"arn-{label}", "StreamLabel": label} for label in labels]}

    def describe_stream(self, StreamArn: str, ExclusiveStartShardId: str | None = None) -> dict[str, Any]:
        """One shard at a time, so that a reader has to ask for the rest."""
        assert StreamArn == f"arn-{self.label}"
        self.calls.append("describe")
        ids = list(self.shards)
        at = 0 if ExclusiveStartShardId is None else ids.index(ExclusiveStartShardId) + 1
        parent = self.shards[ids[at]][0]
        shown = {"ShardId": ids[at], **({"ParentShardId": parent} if parent else {})}
        last = {} if ids[at] == ids[-1] else {"LastEvaluatedShardId": ids[at]}
        return {"StreamDescription": {"Shards": [shown], **last}}

    def get_shard_iterator(self, ShardId: str, ShardIteratorType: str, **where: str) -> dict[str, Any]:
        numbers = self.shards[ShardId][1]
        if ShardIteratorType == "TRIM_HORIZON":
            return {"ShardIterator": self._iterator(ShardId, 0)}
        assert ShardIteratorType == "AFTER_SEQUENCE_NUMBER"
        if self.trimmed:
            raise ClientError({"Error": {"Code": "TrimmedDataAccessException"}}, "GetShardIterator")
        return {"ShardIterator": self._iterator(ShardId, numbers.index(int(where["SequenceNumber"])) + 1)}

    def get_records(self, ShardIterator: str, Limit: int) -> dict[str, Any]:
        self.given.remove(ShardIterator)
        shard, before, _ = ShardIterator.split()
        _, numbers, ended = self.shards[shard]
        records = [record(number) for number in numbers[int(before) :][:Limit]]
        after = int(before) + len(records)
        following = {} if ended and after == len(numbers) else {"NextShardIterator": self._iterator(shard, after)}
        return {"Records": records, **following}

    def _iterator(self, shard: str, before: int) -> str:
        iterator = f"{shard} {before} {len(self.calls)}"
        self.calls.append(iterator)
        self.given.add(iterator)
        return iterator


def reader_of(streams: Any) -> StreamReader:
    return StreamReader(streams, "leases")


def numbers(batch: list[dict[str, Any]]) -> list[int]:
    return [int(one["dynamodb"]["SequenceNumber"]) for one in batch]


def one_round(reader: StreamReader) -> list[list[int]]:
    return [numbers(batch) for batch in reader.batches()]


def test_a_stream_is_read_from_its_beginning_and_then_on() -> None:
    streams = Streams(a=(None, [1, 2], False))
    reader = reader_of(streams)
    assert one_round(reader) == [[1, 2]]
    assert one_round(reader) == [[]]
    streams.shards["a"][1].append(3)
    assert one_round(reader) == [[3]]
    assert streams.calls.count("describe") == 1


def test_a_batch_has_at_most_a_hundred_records() -> None:
    reader = reader_of(Streams(a=(None, list(range(250)), False)))
    assert [len(one_round(reader)[0]) for _ in range(4)] == [LARGEST_BATCH, LARGEST_BATCH, 50, 0]


def test_a_batch_that_was_not_handled_comes_again() -> None:
    streams = Streams(a=(None, [1], False))
    reader = reader_of(streams)
    one_round(reader)
    streams.shards["a"][1].extend([2, 3])
    assert numbers(next(iter(reader.batches()))) == [2, 3]
    reader.look_again()
    assert one_round(reader) == [[2, 3]]
    assert one_round(reader) == [[]]


def test_a_shard_is_read_after_its_parent_and_the_new_ones_are_found() -> None:
    streams = Streams(b=("a", [3], True), c=("a", [4], False), a=(None, [1, 2], True))
    reader = reader_of(streams)
    assert one_round(reader) == [[1, 2]]
    assert one_round(reader) == [[3], [4]]
    assert one_round(reader) == [[]]
    streams.shards["d"] = ("b", [5], False)
    assert one_round(reader) == [[], [5]]
    assert one_round(reader) == [[], []]


def test_a_shard_whose_parent_is_forgotten_by_the_stream_is_read() -> None:
    assert one_round(reader_of(Streams(b=("a", [3], False)))) == [[3]]


def test_records_that_are_gone_are_told_of_once_and_passed_over() -> None:
    streams = Streams(a=(None, [1], False))
    reader = reader_of(streams)
    one_round(reader)
    streams.shards["a"] = (None, [7, 8], False)
    streams.trimmed = True
    next(iter(reader.batches()))
    reader.look_again()
    with pytest.raises(ClientError, match="TrimmedDataAccess"):
        one_round(reader)
    reader.look_again()
    assert one_round(reader) == [[7, 8]]


def test_an_iterator_older_than_the_first_record_is_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """DynamoDB Local refuses it, though nothing is gone."""
    streams = Streams(a=(None, [1], False))
    reader = reader_of(streams)
    with monkeypatch.context() as patched:
        patched.setattr(streams, "get_records", refusing_as_trimmed)
        assert one_round(reader) == [[]]
    assert one_round(reader) == [[1]]


def refusing_as_trimmed(**_: Any) -> Any:
    raise ClientError({"Error": {"Code": "TrimmedDataAccessException"}}, "GetRecords")


def test_a_table_that_was_made_anew_has_a_stream_of_its_own() -> None:
    streams = Streams(a=(None, [1], False))
    reader = reader_of(streams)
    one_round(reader)
    streams.label, streams.shards = "2", {"z": (None, [1], False)}
    reader.look_again()
    assert one_round(reader) == [[1]]


def test_a_table_without_a_stream_is_told_by_its_name() -> None:
    streams = Streams()
    streams.label = ""
    with pytest.raises(NoStream, match="leases"):
        one_round(reader_of(streams))


def test_records_have_the_shape_in_which_lambda_gets_them() -> None:
    streams = Streams(a=(None, [1], False))
    ((given,),) = reader_of(streams).batches()
    assert given == {
        "eventID": "event-1",
        "eventName": "MODIFY",
        "awsRegion": "us-east-1",
        "eventSource": "aws:dynamodb",
        "eventSourceARN": "arn-1",
        "dynamodb": {"SequenceNumber": "1", "ApproximateCreationDateTime": 1_795_000_000},
    }


def test_a_deletion_by_ttl_names_dynamodb_as_lambda_does(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = Streams(a=(None, [1], False))
    deletion = {**record(1), "userIdentity": {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}}
    monkeypatch.setattr(streams, "get_records", lambda **_: {"Records": [deletion]})
    ((given,),) = reader_of(streams).batches()
    assert given["userIdentity"] == {"principalId": "dynamodb.amazonaws.com", "type": "Service"}


@pytest.fixture
def dynamodb() -> Iterator[Any]:
    with embedded.dynamodb():
        client = boto3.client("dynamodb")
        tables.create_missing(client, Settings("leases", "tokens", "sessions", "events"))
        yield client


def test_the_embedded_store_is_read_likewise(dynamodb: Any) -> None:
    reader = StreamReader(boto3.client("dynamodbstreams"), "leases")
    dynamodb.put_item(TableName="leases", Item={"key": {"S": "default/a"}, "op": {"S": "claim"}})
    ((made,),) = reader.batches()
    assert (made["eventName"], made["dynamodb"]["NewImage"]) == (
        "INSERT",
        {"key": {"S": "default/a"}, "op": {"S": "claim"}},
    )
    assert made["eventSourceARN"].startswith("arn:aws:dynamodb:us-east-1:")
    dynamodb.delete_item(TableName="leases", Key={"key": {"S": "default/a"}})
    next(iter(reader.batches()))
    reader.look_again()
    ((removed,),) = reader.batches()
    assert (removed["eventName"], "NewImage" in removed["dynamodb"]) == ("REMOVE", False)
    assert one_round(reader) == [[]]
