from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from infra import embedded

EDITED_ROW = {
    "key": {"S": "edited"},
    "a_text": {"S": "1"},
    "a_number": {"N": "1"},
    "a_truth": {"BOOL": True},
    "a_map": {"M": {"x": {"N": "1"}}},
}
ONE, TEXT_ONE, TRUE, NULL = {"N": "1"}, {"S": "1"}, {"BOOL": True}, {"NULL": True}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with embedded.dynamodb():
        client = boto3.client("dynamodb")
        client.create_table(
            TableName="rows",
            KeySchema=[{"AttributeName": "key", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "key", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        yield client


def update_edited_row(client: Any, value: dict[str, Any], **expressions: str) -> None:
    client.update_item(
        TableName="rows",
        Key={"key": EDITED_ROW["key"]},
        ExpressionAttributeValues={":value": value},
        **expressions,
    )


# Each line was seen on Amazon's own engine (DynamoDB Local 3.1.0).
@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        ("a_text < :value", ONE, False),
        ("a_text <= :value", ONE, False),
        ("a_text > :value", ONE, False),
        ("a_text >= :value", ONE, False),
        ("a_number <= :value", TEXT_ONE, False),
        ("a_number <= :value", ONE, True),
        ("a_text BETWEEN :value AND :value", ONE, False),
        ("a_text BETWEEN :value AND :value", TEXT_ONE, True),
        ("a_text = :value", ONE, False),
        ("a_text <> :value", ONE, True),
        ("a_text IN (:value)", ONE, False),
        ("a_number IN (:value)", ONE, True),
        ("a_number = :value", TRUE, False),
        ("a_truth = :value", ONE, False),
        ("a_missing = :value", NULL, False),
        ("a_missing <> :value", ONE, True),
        ("a_missing < :value", ONE, False),
        ("size(a_map) = :value", ONE, True),
        ("size(a_number) = :value", ONE, False),
        ("size(a_missing) = :value", ONE, False),
        ("attribute_not_exists(a_text) OR a_text <= :value", ONE, False),
    ],
)
def test_values_of_two_types_are_never_equal_and_never_in_order(
    client: Any, condition: str, value: dict[str, Any], expected: bool
) -> None:
    client.put_item(TableName="rows", Item=EDITED_ROW)
    try:
        update_edited_row(client, value, UpdateExpression="SET touched = :value", ConditionExpression=condition)
        held = True
    except client.exceptions.ConditionalCheckFailedException:
        held = False
    assert held is expected


@pytest.mark.parametrize("attribute", ["a_text", "a_truth", "a_map"])
def test_adding_to_what_is_not_a_number_is_refused_and_writes_nothing(client: Any, attribute: str) -> None:
    client.put_item(TableName="rows", Item=EDITED_ROW)
    with pytest.raises(ClientError, match="ValidationException"):
        update_edited_row(client, ONE, UpdateExpression=f"SET touched = :value, {attribute} = {attribute} + :value")
    assert client.get_item(TableName="rows", Key={"key": EDITED_ROW["key"]})["Item"] == EDITED_ROW


@pytest.mark.parametrize("expression", ["SET a = :value, a = :value", "SET a = :value SET b = :value"])
def test_an_update_that_contradicts_itself_is_refused_each_time(client: Any, expression: str) -> None:
    client.put_item(TableName="rows", Item=EDITED_ROW)
    for _ in range(2):
        with pytest.raises(ClientError, match="ValidationException"):
            update_edited_row(client, ONE, UpdateExpression=expression)


def test_the_same_update_with_other_values_writes_those(client: Any) -> None:
    for value in (ONE, TEXT_ONE, TRUE):
        update_edited_row(client, value, UpdateExpression="SET touched = if_not_exists(absent, :value)")
        row = client.get_item(TableName="rows", Key={"key": EDITED_ROW["key"]})["Item"]
        assert row["touched"] == value
