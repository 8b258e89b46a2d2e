"""Whether the service answers, and which version of it does."""

from chalicelib.call import Answer
from chalicelib.version import VERSION
from chalicelib.wire import service as wire


def health() -> Answer:
    return Answer(wire.Health(status="ok", version=VERSION))
