from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from infra import embedded, embedded_streams

ROW = {"TableName": "rows", "Key": {"key": {"S": "a"}}}


@pytest.fixture
def dynamodb() -> Iterator[Any]:
    with embedded.dynamodb():
        client = boto3.client("dynamodb")
        client.create_table(
            TableName="rows",
            KeySchema=[{"AttributeName": "key", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "key", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
        yield client


class Reader:
    """Goes on where it last was."""

    def __init__(self) -> None:
        self._client = boto3.client("dynamodbstreams")
        (stream,) = self._client.list_streams(TableName="rows")["Streams"]
        self.arn = stream["StreamArn"]
        self.iterator = self.begin(ShardIteratorType="TRIM_HORIZON")

    def begin(self, **where: str) -> str:
        (shard,) = self._client.describe_stream(StreamArn=self.arn)["StreamDescription"]["Shards"]
        given = self._client.get_shard_iterator(StreamArn=self.arn, ShardId=shard["ShardId"], **where)
        return str(given["ShardIterator"])

    def read(self) -> list[Any]:
        answer = self._client.get_records(ShardIterator=self.iterator)
        self.iterator = answer["NextShardIterator"]
        return list(answer["Records"])

    def values(self) -> list[tuple[str, str | None, str | None]]:
        """What happened, and the value before and after it."""
        return [(record["eventName"], *map(_value, _images(record))) for record in self.read()]


def _images(record: Any) -> tuple[Any, Any]:
    return record["dynamodb"].get("OldImage"), record["dynamodb"].get("NewImage")


def _value(image: Any) -> str | None:
    return None if image is None else str(image["value"]["S"])


def update(client: Any, value: str, key: str = "a") -> None:
    client.update_item(
        TableName="rows",
        Key={"key": {"S": key}},
        UpdateExpression="SET #value = :value",
        ExpressionAttributeNames={"#value": "value"},
        ExpressionAttributeValues={":value": {"S": value}},
    )


def test_an_update_that_makes_a_row_is_one_insert(dynamodb: Any) -> None:
    update(dynamodb, "1")
    update(dynamodb, "1", key="b")
    assert Reader().values() == [("INSERT", None, "1"), ("INSERT", None, "1")]


def test_an_update_that_changes_nothing_is_no_change(dynamodb: Any) -> None:
    update(dynamodb, "1")
    update(dynamodb, "1")
    dynamodb.put_item(TableName="rows", Item={"key": {"S": "a"}, "value": {"S": "1"}})
    update(dynamodb, "2")
    assert Reader().values() == [("INSERT", None, "1"), ("MODIFY", "1", "2")]


def test_a_row_that_was_deleted_and_made_again_is_told_in_full(dynamodb: Any) -> None:
    update(dynamodb, "1")
    dynamodb.delete_item(**ROW)
    update(dynamodb, "2")
    assert Reader().values() == [("INSERT", None, "1"), ("REMOVE", "1", None), ("INSERT", None, "2")]


def test_records_are_numbered_without_a_gap(dynamodb: Any) -> None:
    for value in "123":
        update(dynamodb, value)
        update(dynamodb, value, key="b")
    numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in Reader().read()]
    assert numbers == list(range(numbers[0], numbers[0] + 6))


def test_a_reader_sees_nothing_of_a_transaction_that_was_refused_and_all_that_comes_after(dynamodb: Any) -> None:
    update(dynamodb, "1")
    reader = Reader()
    reader.read()
    with pytest.raises(ClientError, match="TransactionCanceled"):
        dynamodb.transact_write_items(TransactItems=[_write("b", "taken back"), _write("a", "refused")])
    update(dynamodb, "2")
    dynamodb.transact_write_items(TransactItems=[_write("c", "3"), _write("d", "4")])
    assert reader.values() == [("MODIFY", "1", "2"), ("INSERT", None, "3"), ("INSERT", None, "4")]


def _write(key: str, value: str) -> Any:
    return {
        "Update": {
            "TableName": "rows",
            "Key": {"key": {"S": key}},
            "UpdateExpression": "SET #value = :value",
            "ConditionExpression": "attribute_not_exists(#value)",
            "ExpressionAttributeNames": {"#value": "value"},
            "ExpressionAttributeValues": {":value": {"S": value}},
        }
    }


def test_old_records_are_forgotten_and_a_reader_that_was_away_goes_on_with_what_is_kept(
    dynamodb: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_streams, "KEPT_RECORDS", 10)
    monkeypatch.setattr(embedded_streams, "LOT", 5)
    reader = Reader()
    for number in range(33):
        update(dynamodb, str(number))
    for late in (reader, Reader()):
        assert [new for _, _, new in late.values()] == [str(number) for number in range(20, 33)]
    update(dynamodb, "33")
    assert reader.values() == [("MODIFY", "32", "33")]


def test_an_idle_reader_fills_no_memory(dynamodb: Any) -> None:
    from moto.dynamodbstreams.models import dynamodbstreams_backends

    reader = Reader()
    for _ in range(20):
        reader.read()
    known = [backend.shard_iterators for account in dynamodbstreams_backends.values() for backend in account.values()]
    assert sum(map(len, known)) == 1
    update(dynamodb, "1")
    assert reader.values() == [("INSERT", None, "1")]
