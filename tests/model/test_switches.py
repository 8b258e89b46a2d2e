"""Every rule is needed: with any one of them switched off, a history is found that shows what it was for."""

from dataclasses import replace

import pytest

from tests.model import mix, run, switches
from tests.model.mix import FAIR, RIVALS, ROUGH, STALLING, WORKERS, Mix
from tests.model.rules import Rule, Watch
from tests.model.switches import Switch

MOST_HISTORIES = 1_500

LOSING_ANSWERS = replace(RIVALS, weights=mix.only(claim=20, repeat=40), answer_lost=0.4, with_key=1, ttls_ms=(3_000,))
UNEVEN = replace(RIVALS, ttls_ms=(1_000, 20_000), weather=FAIR)
AHEAD = replace(RIVALS, far_ahead=0.4)
SHORT_SESSIONS = replace(Mix(), ttls_ms=(20_000,), session_ttls_ms=(3_000,), in_session=1, carries=0, days_pass=0)
STALLED = replace(WORKERS, weather=STALLING, requests=100)
LOST_CLAIMS = replace(Mix(), ttls_ms=(2_000,), session_ttls_ms=(20_000,), in_session=1, answer_lost=0.3)

# What is switched off, the histories that it is looked for in, and the rule that they break.
CASES = [
    (switches.key_in_the_condition, replace(RIVALS, weather=ROUGH), Rule.KEY),
    (switches.expires_in_ms, LOSING_ANSWERS, Rule.ONE_HOLDER),
    (switches.margin_of_the_contender, RIVALS, Rule.ONE_HOLDER),
    (switches.margin_of_the_sweep, RIVALS, Rule.ONE_HOLDER),
    (switches.margin_of_the_judge, WORKERS, Rule.ONE_HOLDER),
    (switches.expiry_of_a_lease_never_back, UNEVEN, Rule.ONE_HOLDER),
    (switches.expiry_of_a_session_never_back, STALLED, Rule.ONE_HOLDER),
    (switches.the_earlier_clock, AHEAD, Rule.ONE_HOLDER),
    (switches.no_answer_beyond_the_session, SHORT_SESSIONS, Rule.ONE_HOLDER),
    (switches.death_is_written, STALLED, Rule.ONE_HOLDER),
    (switches.death_is_written_however_long_the_look_took, STALLED, Rule.ONE_HOLDER),
    (switches.carried_only_after_a_heartbeat, LOST_CLAIMS, Rule.OWN_END),
]
NAMED = [pytest.param(*case, id=case[0].__name__) for case in CASES]


@pytest.mark.parametrize(("switched_off", "histories", "rule"), NAMED)
def test_a_rule_that_is_switched_off_is_missed(switched_off: Switch, histories: Mix, rule: Rule) -> None:
    with switched_off():
        found = run.first_broken(histories, Watch(rule), MOST_HISTORIES)
    assert found is not None


@pytest.mark.parametrize("histories", {id(one): one for _, one, _ in CASES}.values())
def test_the_same_histories_break_nothing_with_every_rule_in_force(histories: Mix) -> None:
    assert run.first_broken(histories, Watch(), 40) is None
