from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from chalicelib.settings import Settings
from infra import embedded, tables


@pytest.fixture
def client() -> Iterator[Any]:
    with embedded.dynamodb():
        yield boto3.client("dynamodb")


def create(client: Any) -> None:
    tables.create_missing(client, Settings("leases", "tokens", "sessions", "events"))


def described(client: Any, table: str) -> dict[str, Any]:
    facts: dict[str, Any] = client.describe_table(TableName=table)["Table"]
    return facts


def indexes_of(table: dict[str, Any]) -> list[tuple[str, list[str], str]]:
    """The hash key is told first: DynamoDB refuses any other order, though moto takes it."""
    return sorted(
        (
            index["IndexName"],
            [part["AttributeName"] for part in index["KeySchema"]],
            index["Projection"]["ProjectionType"],
        )
        for index in table["GlobalSecondaryIndexes"]
    )


def test_the_leases_table_has_its_key_its_index_and_a_stream(client: Any) -> None:
    create(client)
    table = described(client, "leases")
    assert table["KeySchema"] == [{"AttributeName": "key", "KeyType": "HASH"}]
    assert indexes_of(table) == [
        ("bound", ["session_id", "key"], "KEYS_ONLY"),
        ("held", ["held_in", "key"], "KEYS_ONLY"),
    ]
    assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def test_the_tokens_table_has_its_key_and_index_and_no_stream(client: Any) -> None:
    create(client)
    table = described(client, "tokens")
    assert table["KeySchema"] == [{"AttributeName": "token_id", "KeyType": "HASH"}]
    assert indexes_of(table) == [("by_namespace", ["namespace", "token_id"], "ALL")]
    assert "StreamSpecification" not in table


@pytest.mark.parametrize("table", ["leases", "tokens", "sessions", "events"])
def test_tables_are_paid_by_request_and_cleaned_by_ttl(client: Any, table: str) -> None:
    create(client)
    assert described(client, table)["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    ttl = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    assert ttl == {"AttributeName": "ttl", "TimeToLiveStatus": "ENABLED"}


def test_tables_that_exist_keep_their_rows(client: Any) -> None:
    create(client)
    client.put_item(TableName="leases", Item={"key": {"S": "default/deploy"}})
    create(client)
    assert client.scan(TableName="leases")["Count"] == 1


def test_processes_that_start_together_make_the_tables_once(client: Any) -> None:
    barrier = Barrier(4)

    def start_together(_: int) -> None:
        barrier.wait()
        create(client)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(start_together, range(4)))
    assert sorted(client.list_tables()["TableNames"]) == ["events", "leases", "sessions", "tokens"]


def answering_with(code: str) -> Callable[..., None]:
    def refuse(**_: Any) -> None:
        raise ClientError({"Error": {"Code": code}}, "UpdateTimeToLive")

    return refuse


def test_a_store_without_ttl_is_used_without_it(client: Any) -> None:
    client.update_time_to_live = answering_with("UnknownOperationException")
    create(client)
    assert sorted(client.list_tables()["TableNames"]) == ["events", "leases", "sessions", "tokens"]


def test_any_other_refusal_is_not_hidden(client: Any) -> None:
    client.update_time_to_live = answering_with("AccessDeniedException")
    with pytest.raises(ClientError, match="AccessDenied"):
        create(client)
