from collections.abc import Iterator

import pytest

from tests.infra.running import Running, running
from tests.infra.tiny_app import RecordingApp, tiny_app


@pytest.fixture
def app() -> RecordingApp:
    return tiny_app()


@pytest.fixture
def service(app: RecordingApp) -> Iterator[Running]:
    with running(app) as started:
        yield started
