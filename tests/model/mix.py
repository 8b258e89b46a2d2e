"""What a history is made of. A plain one draws its own, so that each has a character; a test may ask for one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random

from tests.model.wire import CALM, Weather

FAIR = Weather()
ROUGH = Weather(held_up=0.35, request_lost=0.04, reply_lost=0.09, astray=0.08)
STALLING = replace(CALM, held_up=0.1, others_act=0.9, pauses_ms=(1_000, 2_000, 2_800))

USUAL: Mapping[str, float] = {
    "claim": 24,
    "heartbeat": 20,
    "release": 9,
    "hand_over": 4,
    "work": 20,
    "new_session": 2,
    "keepalive": 6,
    "delete_session": 1.5,
    "cancel": 2,
    "evict": 1.5,
    "reopen": 2,
    "sweep": 4,
    "recover": 1.5,
    "claim_any": 3,
    "claim_all": 3,
    "look": 2,
    "repeat": 9,
    "duplicate": 6,
}


@dataclass(frozen=True, slots=True)
class Mix:
    requests: int = 45
    names: int = 2
    weights: Mapping[str, float] = field(default_factory=lambda: dict(USUAL))
    ttls_ms: tuple[int, ...] = (1_000, 3_000, 6_000)
    session_ttls_ms: tuple[int, ...] = (3_000, 6_000, 20_000)
    in_session: float = 0.4
    carries: float = 0.6
    with_key: float = 0.7
    locks: float = 0.4
    far_ahead: float = 0.1
    answer_lost: float = 0.1
    days_pass: float = 0.005
    log_heartbeats: bool = False
    to_an_end: float = 0.25
    weather: Weather = FAIR


def drawn(rng: Random) -> Mix:
    """Mostly anything at all; some histories are those of workers whose sessions come near their end."""
    if rng.random() < 0.2:
        return replace(WORKERS, weather=rng.choice((CALM, FAIR, STALLING)), names=rng.choice((1, 2)))
    weights = {kind: weight * rng.choice((0.3, 1, 1, 2)) for kind, weight in USUAL.items()}
    return Mix(
        requests=rng.randint(40, 55),
        names=rng.choice((1, 2, 2, 3)),
        weights=weights,
        ttls_ms=rng.choice(((1_000, 2_000), (2_000, 5_000), (3_000, 60_000))),
        session_ttls_ms=rng.choice(((2_000, 4_000), (4_000, 10_000), (8_000, 60_000))),
        in_session=rng.choice((0, 0.4, 0.7, 1)),
        carries=rng.choice((0.3, 0.8, 1)),
        locks=rng.choice((0.1, 0.4, 0.8)),
        far_ahead=rng.choice((0, 0, 0.1, 0.3)),
        answer_lost=rng.choice((0, 0.1, 0.25)),
        days_pass=rng.choice((0, 0, 0.02)),
        log_heartbeats=rng.random() < 0.2,
        weather=rng.choice((CALM, FAIR, FAIR, ROUGH)),
    )


def only(**weights: float) -> dict[str, float]:
    return {**dict.fromkeys(USUAL, 0.0), **weights}


# One name, no faults, and many who want it: what decides is the skew of the clocks alone.
RIVALS = Mix(
    names=1,
    weights=only(claim=60, heartbeat=20, sweep=15, recover=15, repeat=5, duplicate=5),
    in_session=0,
    far_ahead=0,
    answer_lost=0.05,
    days_pass=0,
    weather=CALM,
)
# Jobs that sessions carry, and some who wait for a session to die.
WORKERS = Mix(
    names=1,
    weights=only(work=60, claim=20, repeat=3, duplicate=3),
    ttls_ms=(2_000,),
    session_ttls_ms=(6_000,),
    in_session=0,
    carries=1,
    locks=0,
    far_ahead=0,
    answer_lost=0.05,
    days_pass=0,
    weather=CALM,
)
