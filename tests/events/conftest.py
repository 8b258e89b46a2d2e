from collections.abc import Iterator
from itertools import count
from typing import Any

import boto3
import pytest

from chalicelib import service
from chalicelib.settings import Settings
from infra import embedded, tables
from tests.events.rig import NewRig, Rig
from tests.transport import Transport

_numbers = count(1)


class Aws:
    """Made once for a module: a boto3 client takes longer to make than most tests to run."""

    def __init__(self) -> None:
        self.of_the_service: Any = service.connect(_settings())
        self.unwatched: Any = boto3.client("dynamodb")


def _settings(**chosen: Any) -> Settings:
    number = next(_numbers)
    return Settings(
        leases_table=f"log-leases-{number}",
        tokens_table=f"log-tokens-{number}",
        sessions_table=f"log-sessions-{number}",
        events_table=f"log-events-{number}",
        **chosen,
    )


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with embedded.dynamodb():
        yield Aws()


@pytest.fixture
def transport(aws: Aws) -> Iterator[Transport]:
    watched = Transport(aws.of_the_service)
    yield watched
    watched.close()


@pytest.fixture
def new_rig(aws: Aws) -> NewRig:
    def make(**chosen: Any) -> Rig:
        settings = _settings(**chosen)
        tables.create_missing(aws.unwatched, settings)
        return Rig(aws.of_the_service, settings)

    return make


@pytest.fixture
def rig(new_rig: NewRig) -> Rig:
    return new_rig()
