"""The second half of the histories: pytest-xdist gives a file to one core."""

import pytest

from tests.model import run
from tests.model.test_histories import CHUNK


@pytest.mark.parametrize("chunk", range(4, 8))
def test_no_further_history_breaks_a_rule(chunk: int) -> None:
    first = run.FIRST_SEED + chunk * CHUNK
    counted = run.played(range(first, first + CHUNK))
    assert run.too_little(counted, CHUNK) == {}


def test_the_two_halves_are_all_of_them() -> None:
    assert 8 * CHUNK == run.HISTORIES
