"""The rules themselves, run at random: skewed clocks, lost, late and doubled messages, lagging indexes, TTL."""

import pytest

from tests.model import run

CHUNK = 250


@pytest.mark.parametrize("chunk", range(4))
def test_no_history_breaks_a_rule(chunk: int) -> None:
    first = run.FIRST_SEED + chunk * CHUNK
    counted = run.played(range(first, first + CHUNK))
    assert run.too_little(counted, CHUNK) == {}
