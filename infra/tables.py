"""The tables on a store that has no CloudFormation: a laptop's, or a test's."""

from typing import Any

from botocore.exceptions import ClientError
from pynamodb.models import Model

from chalicelib.event_log import LoggedEvent
from chalicelib.row import Lease
from chalicelib.sessions import Session
from chalicelib.settings import Settings
from chalicelib.tokens import Token

TTL_ATTRIBUTE = "ttl"
_EVERY_CHANGE = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
# Between two looks at a table that is not active yet; 60 s in all.
POLL_SECONDS, POLLS = 1, 60


def names(prefix: str) -> dict[str, str]:
    """What the settings call the tables of a stage."""
    return {f"{table.upper()}_TABLE": f"{prefix}-{table}" for table in ("leases", "tokens", "sessions", "events")}


def create_missing(client: Any, chosen: Settings) -> None:
    _create_if_missing(client, Lease, chosen.leases_table, StreamSpecification=_EVERY_CHANGE)
    _create_if_missing(client, Token, chosen.tokens_table)
    _create_if_missing(client, Session, chosen.sessions_table)
    _create_if_missing(client, LoggedEvent, chosen.events_table)


def _create_if_missing(client: Any, model: type[Model], table: str, **options: Any) -> None:
    try:
        client.create_table(TableName=table, BillingMode="PAY_PER_REQUEST", **_schema(model), **options)
    except ClientError as error:
        if _code(error) != "ResourceInUseException":
            raise
    waiter = client.get_waiter("table_exists")
    waiter.wait(TableName=table, WaiterConfig={"Delay": POLL_SECONDS, "MaxAttempts": POLLS})
    _enable_ttl(client, table)


def _schema(model: type[Model]) -> dict[str, Any]:
    schema: Any = model._get_schema()
    indexes = [
        {
            "IndexName": index["index_name"],
            # PynamoDB has them in the order of the alphabet, and DynamoDB wants the hash key first.
            "KeySchema": sorted(index["key_schema"], key=lambda part: str(part["KeyType"])),
            "Projection": index["projection"],
        }
        for index in schema["global_secondary_indexes"]
    ]
    return {
        "AttributeDefinitions": schema["attribute_definitions"],
        "KeySchema": schema["key_schema"],
        **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
    }


def _enable_ttl(client: Any, table: str) -> None:
    """TTL only cleans up and never decides, so a store that knows none, or has it already, is as good."""
    specification = {"Enabled": True, "AttributeName": TTL_ATTRIBUTE}
    try:
        client.update_time_to_live(TableName=table, TimeToLiveSpecification=specification)
    except ClientError as error:
        if _code(error) not in {"ValidationException", "UnknownOperationException"}:
            raise


def _code(error: ClientError) -> str:
    return str(error.response["Error"]["Code"])
