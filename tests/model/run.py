"""Many histories in a row. One that breaks a rule is printed line by line, under the seed that makes it again."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random

from tests.model import mix
from tests.model.history import History
from tests.model.mix import Mix
from tests.model.rules import Broken, Watch

HISTORIES = 2_000
# Another range of histories than the usual one: MODEL_FIRST_SEED=100000 pytest tests/model
FIRST_SEED = int(os.environ.get("MODEL_FIRST_SEED", "0"))

# What must have happened, at the least, in a thousand histories. Without it they would prove nothing.
AT_LEAST: Mapping[str, int] = {
    # contention
    "held": 4_000,
    "taken_over": 3_000,
    "expired": 350,
    "at once": 6_000,
    # faults on the way
    "held up": 15_000,
    "request lost": 700,
    "reply lost": 1_500,
    "astray, applied": 250,
    "astray, refused": 600,
    "throttled": 100,
    "answer lost": 2_500,
    "duplicate": 1_200,
    "repeat": 1_000,
    # time
    "late heartbeat": 800,
    "far ahead": 1_500,
    "clock set": 400,
    "ClockUnreliable": 8,
    "cleaned up": 60,
    "session cleaned up": 120,
    "index behind": 1_500,
    # sessions
    "carried": 700,
    "session dead": 500,
    "session deleted": 120,
    "keepalive refused": 80,
    # the rest of the verbs
    "heartbeat": 300,
    "handed_over": 400,
    "released": 500,
    "failed": 250,
    "done": 250,
    "evicted": 120,
    "overridden": 150,
    "cancel_requested": 200,
    "reopened": 60,
    "AllOf": 80,
    "NoneOf": 500,
    "Delayed": 80,
    "Exhausted": 60,
}
MOST_VOID = 0.03


def of_seed(seed: int) -> History:
    return History(seed, mix.drawn(Random(seed)))


def played(seeds: Iterable[int]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for seed in seeds:
        history = of_seed(seed)
        try:
            history.run()
        except Exception as error:
            raise AssertionError("\n".join([*history.lines, f"seed {seed}: {error}"])) from error
        counted += history.total()
    return counted


def too_little(counted: Mapping[str, int], histories: int) -> dict[str, str]:
    """What happened too rarely for the run to count."""
    needed = {what: least * histories // 1_000 for what, least in AT_LEAST.items()}
    missed = {what: f"{counted[what]} of {least}" for what, least in needed.items() if counted[what] < least}
    if counted["void"] > MOST_VOID * histories:
        missed["void"] = f"{counted['void']} of {histories}"
    return missed


def first_broken(mix: Mix, watch: Watch, most: int) -> tuple[int, Broken] | None:
    """After how many histories of this mix a rule was broken, and which."""
    for number in range(most):
        try:
            History(FIRST_SEED + number, mix, watch).run()
        except Broken as broken:
            return number + 1, broken
    return None
