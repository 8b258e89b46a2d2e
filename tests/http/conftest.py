from collections.abc import Iterator

import pytest

from tests.http import client as clients
from tests.http.client import Client
from tests.world import World


@pytest.fixture
def client(world: World) -> Iterator[Client]:
    with clients.connected(world) as connected:
        world.transport.forget()
        yield connected
