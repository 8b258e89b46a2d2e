import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from infra import embedded

CONTENDERS = 8
ROUNDS = 100
ENOUGH_ROUNDS_FOR_A_DOUBLE_WINNER = 300


@pytest.fixture
def threads_that_switch_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def client_with_table() -> Any:
    client = boto3.client("dynamodb", region_name="us-east-1")
    client.create_table(
        TableName="rows",
        KeySchema=[{"AttributeName": "key", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "key", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return client


def claim(client: Any, key: str) -> str:
    try:
        client.update_item(
            TableName="rows",
            Key={"key": {"S": key}},
            UpdateExpression="SET holder = :me",
            ConditionExpression="attribute_not_exists(holder)",
            ExpressionAttributeValues={":me": {"S": "me"}},
        )
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    except RuntimeError:
        return "crashed"  # moto without the lock also iterates over rows that change under it
    return "won"


def rounds(client: Any, number_of_rounds: int) -> Iterator[Counter[str]]:
    barrier = Barrier(CONTENDERS)

    def race(key: str) -> str:
        barrier.wait()
        return claim(client, key)

    with ThreadPoolExecutor(CONTENDERS) as pool:
        for number in range(number_of_rounds):
            yield Counter(pool.map(race, [f"round-{number}"] * CONTENDERS))


@pytest.mark.usefixtures("threads_that_switch_often")
def test_racing_conditional_writes_have_exactly_one_winner() -> None:
    one_winner = {"won": 1, "ConditionalCheckFailedException": CONTENDERS - 1}
    with embedded.dynamodb():
        assert list(rounds(client_with_table(), ROUNDS)) == [one_winner] * ROUNDS


@pytest.mark.usefixtures("threads_that_switch_often")
def test_without_the_lock_a_race_has_two_winners() -> None:
    with mock_aws():
        outcomes = rounds(client_with_table(), ENOUGH_ROUNDS_FOR_A_DOUBLE_WINNER)
        assert any(outcome["won"] > 1 for outcome in outcomes)


def test_no_setting_of_this_machine_leads_past_the_embedded_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "REAL")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with embedded.dynamodb():
        assert os.environ["AWS_ACCESS_KEY_ID"] != "REAL"
        assert boto3.client("dynamodb").list_tables()["TableNames"] == []


def test_the_environment_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    before = dict(os.environ)
    with embedded.dynamodb():
        pass
    assert dict(os.environ) == before
