"""A checker that never complains proves nothing: here it is given what it must complain about."""

import pytest

from tests.model import bugs
from tests.model.dynamodb import InMemory
from tests.model.history import History
from tests.model.mix import Mix
from tests.model.rules import Broken, Rule, Watch
from tests.model.wire import CALM

CASES = [
    (bugs.DoubleGrant, Rule.ONE_HOLDER),
    (bugs.LostRelease, Rule.EVENT),
    (bugs.FenceStepsBack, Rule.FENCE),
    (bugs.Resurrected, Rule.REVIVED),
    (bugs.EventsDoubled, Rule.EVENT),
    (bugs.EventsMissing, Rule.EVENT),
    (bugs.TtlTooSoon, Rule.TTL),
]


@pytest.mark.parametrize(("store", "rule"), CASES)
def test_a_bug_of_the_store_is_noticed(store: type[InMemory], rule: Rule) -> None:
    with pytest.raises(Broken, match=rule):
        play(store, rule)


def play(store: type[InMemory], rule: Rule) -> None:
    for seed in range(30):
        History(seed, Mix(weather=CALM), Watch(rule), store).run()


def test_the_same_seed_gives_the_same_history() -> None:
    histories = [History(7, Mix()) for _ in range(2)]
    for history in histories:
        history.run()
    assert histories[0].lines == histories[1].lines
    assert len(histories[0].lines) > 100
