"""The model's own DynamoDB is no better than its likeness to others: here moto answers every call as well."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import boto3
import pytest

from chalicelib import service
from infra import embedded, tables
from tests.model import mix
from tests.model.beside import Beside
from tests.model.history import SETTINGS, History
from tests.model.rules import Watch

# moto takes 10 ms for a write, a hundred times as long as the stand-in.
HISTORIES, REQUESTS = 100, 8


@pytest.fixture(scope="module")
def moto() -> Iterator[Any]:
    with embedded.dynamodb():
        tables.create_missing(boto3.client("dynamodb"), SETTINGS)
        yield service.connect(SETTINGS)


def test_the_stand_in_and_moto_answer_alike(moto: Any) -> None:
    compared = sum(calls_compared(seed, moto) for seed in range(HISTORIES))
    assert compared > HISTORIES * REQUESTS


def calls_compared(seed: int, moto: Any) -> int:
    beside = Beside(moto)
    History(seed, replace(mix.drawn(Random(seed)), requests=REQUESTS), Watch(), lambda _rng: beside).run()
    assert beside.rows_differ() == [], f"seed {seed}"
    beside.empty()
    return beside.compared
