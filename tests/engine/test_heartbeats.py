"""Heartbeats that are repeated, late, or in the wrong order."""

import pytest

from chalicelib import lease_ids
from chalicelib.errors import LeaseNotCurrent
from chalicelib.outcomes import Held
from tests.world import World


def test_a_checkpoint_is_written_although_the_end_lies_beyond(world: World) -> None:
    lease = world.claimed(ttl_ms=60_000)
    beat = world.heartbeat(lease.lease_id, ttl_ms=1_000, checkpoint_json='"here"')
    assert beat.until_ms == lease.expires_at_ms
    assert world.row().checkpoint == "here"


def test_an_older_heartbeat_replaces_no_newer_checkpoint(world: World) -> None:
    lease = world.claimed(ttl_ms=60_000)
    world.time.advance(seconds=10)
    newer = world.heartbeat(lease.lease_id, checkpoint_json='"newer"')
    older = world.heartbeat(lease.lease_id, checkpoint_json='"older"', skew_ms=-5_000)
    assert world.row().checkpoint == "newer"
    assert older.until_ms == newer.until_ms


def test_an_older_heartbeat_with_a_longer_ttl_still_moves_the_end(world: World) -> None:
    lease = world.claimed(ttl_ms=10_000)
    world.time.advance(seconds=5)
    world.heartbeat(lease.lease_id, ttl_ms=10_000, checkpoint_json='"newer"')
    world.heartbeat(lease.lease_id, ttl_ms=60_000, checkpoint_json='"older"', skew_ms=-2_000)
    assert world.row().checkpoint == "newer"
    assert world.row().expires_at_ms == world.time.ms - 2_000 + 60_000


def test_heartbeats_without_a_ttl_in_the_wrong_order_never_move_the_end_back(world: World) -> None:
    lease = world.claimed(ttl_ms=60_000)
    world.time.advance(seconds=10)
    later = world.heartbeat(lease.lease_id)
    assert world.heartbeat(lease.lease_id, skew_ms=-5_000).until_ms == later.until_ms == world.row().expires_at_ms


def test_a_heartbeat_whose_reply_was_lost_succeeds(world: World) -> None:
    lease = world.claimed(ttl_ms=60_000)
    world.time.advance(seconds=10)
    world.transport.lose_reply()
    assert world.heartbeat(lease.lease_id, checkpoint_json="1").until_ms == world.time.ms + 60_000
    assert world.row().checkpoint == 1


def test_a_heartbeat_says_late_if_the_lease_had_ended(world: World) -> None:
    lease = world.claimed(ttl_ms=1_000)
    world.time.advance(seconds=60)
    assert world.heartbeat(lease.lease_id).late
    assert isinstance(world.claim(), Held)


def test_a_heartbeat_never_resurrects_what_has_ended(world: World) -> None:
    lease = world.claimed()
    world.release(lease.lease_id)
    with pytest.raises(LeaseNotCurrent):
        world.heartbeat(lease.lease_id)


@pytest.mark.parametrize("bound", [True, False])
def test_the_form_of_a_lease_id_is_a_hint_and_decides_nothing(world: World, bound: bool) -> None:
    """An id of the other kind costs a second write, and comes to the same."""
    session = world.session(ttl_ms=60_000) if bound else None
    lease = world.claimed(session=session, ttl_ms=10_000)
    assert lease_ids.seems_bound(str(lease.lease_id)) == bound
    other = lease_ids.unbound if bound else lease_ids.bound
    disguised = other(world.drawn(77))
    world.edit(lease_id={"S": disguised})
    world.transport.forget()
    assert world.heartbeat(disguised).carried == bound
    assert world.transport.calls == ["UpdateItem", "UpdateItem"]


def test_a_heartbeat_raises_rev_only_where_heartbeats_are_logged(world: World) -> None:
    lease = world.claimed()
    world.heartbeat(lease.lease_id)
    assert world.row().rev == 1
    world.time.advance(ms=5)
    world.heartbeat(lease.lease_id, logged=True)
    assert (world.row().rev, world.row().at_ms) == (2, world.time.ms)


def test_an_older_renewal_in_between_lets_no_older_checkpoint_through(world: World) -> None:
    lease = world.claimed(ttl_ms=60_000)
    world.time.advance(seconds=10)
    world.heartbeat(lease.lease_id, checkpoint_json='"newest"')
    world.heartbeat(lease.lease_id, ttl_ms=120_000, skew_ms=-300)
    world.heartbeat(lease.lease_id, checkpoint_json='"older"', skew_ms=-200)
    assert world.row().checkpoint == "newest"
    assert world.row().expires_at_ms == world.time.ms - 300 + 120_000
