"""Whether the service answers, and which version of it does."""

from chalicelib import wire
from chalicelib.call import Answer
from chalicelib.version import VERSION


def health() -> Answer:
    return Answer(wire.Health(status="ok", version=VERSION))
