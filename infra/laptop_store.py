"""What stands behind the service on a laptop: the tables, and with an embedded store also a bus and a queue."""

import os
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError

from chalicelib import settings
from chalicelib.settings import SettingError, Settings
from infra import embedded, tables
from infra.options import CannotStart

PREFIX = "octolease"
# A laptop has one clock and one process, so the feed need not wait for stragglers.
FEED_LAG_MS = "1000"
_CONFIG = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 1})


def set_up(endpoint: str | None) -> Settings:
    """Sets the environment that the app will read, and makes what it names."""
    _set_environment(endpoint)
    if endpoint is None:
        os.environ |= _bus_and_queue()
    chosen = _settings()
    _create_tables(endpoint, chosen)
    return chosen


def streams(endpoint: str | None) -> Any:
    return boto3.client("dynamodbstreams", endpoint_url=endpoint, config=_CONFIG)


def _set_environment(endpoint: str | None) -> None:
    os.environ |= tables.names(PREFIX)
    os.environ.setdefault("FEED_LAG_MS", FEED_LAG_MS)
    for name in ("DYNAMODB_ENDPOINT", "EVENT_BUS", "DEAD_LETTERS"):
        os.environ.pop(name, None)
    if endpoint is None:
        return
    os.environ["DYNAMODB_ENDPOINT"] = endpoint
    os.environ.setdefault("AWS_DEFAULT_REGION", embedded.REGION)
    if not {"AWS_ACCESS_KEY_ID", "AWS_PROFILE"} & os.environ.keys():
        # Letters and digits alone: DynamoDB Local takes no other.
        os.environ |= {"AWS_ACCESS_KEY_ID": "octolease", "AWS_SECRET_ACCESS_KEY": "octolease"}


def _bus_and_queue() -> dict[str, str]:
    boto3.client("events").create_event_bus(Name=PREFIX)
    queue = boto3.client("sqs").create_queue(QueueName=f"{PREFIX}-dead-letters")
    return {"EVENT_BUS": PREFIX, "DEAD_LETTERS": queue["QueueUrl"]}


def _settings() -> Settings:
    try:
        return settings.load(os.environ)
    except SettingError as error:
        raise CannotStart(str(error)) from error


def _create_tables(endpoint: str | None, chosen: Settings) -> None:
    try:
        tables.create_missing(boto3.client("dynamodb", endpoint_url=endpoint, config=_CONFIG), chosen)
    except ClientError as error:
        raise CannotStart(f"The DynamoDB at {endpoint} makes no tables: {error}") from error
    except (ConnectionError, HTTPClientError) as error:
        raise CannotStart(
            f"No DynamoDB answers at {endpoint}: start it, or leave ENDPOINT out to use the embedded one."
        ) from error
    except BotoCoreError as error:
        raise CannotStart(f"The DynamoDB at {endpoint} cannot be used: {error}") from error
