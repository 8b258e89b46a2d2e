from chalicelib.outcomes import Held
from tests.engine.contest import CONTENDERS, rounds, winners
from tests.world import World

ROUNDS = 1_000


def test_one_of_sixteen_wins_in_every_one_of_a_thousand_rounds(world: World) -> None:
    for outcomes in rounds(world, ROUNDS):
        (winner,) = winners(outcomes)
        refused = [outcome for outcome in outcomes if isinstance(outcome, Held)]
        assert len(refused) == CONTENDERS - 1
        assert {held.row.lease_id for held in refused} == {winner.row.lease_id}


def test_takeovers_of_a_dead_owner_have_one_winner_too(world: World) -> None:
    fence = world.claimed(owner="first to die").fence
    world.time.advance(seconds=600)
    for outcomes in rounds(world, 20, name="job"):
        (winner,) = winners(outcomes)
        assert sum(isinstance(outcome, Held) for outcome in outcomes) == CONTENDERS - 1
        assert winner.row.fence > fence
        fence = winner.row.fence
        world.time.advance(seconds=600)
