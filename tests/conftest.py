from collections.abc import Iterator

import pytest

from infra import embedded
from tests import world as worlds
from tests.world import Clients, World


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with embedded.dynamodb():
        yield Clients()


@pytest.fixture
def world(clients: Clients) -> Iterator[World]:
    with worlds.running(clients) as running:
        yield running
