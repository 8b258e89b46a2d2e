"""Clocks that differ, stop, step and lie."""

import pytest

from chalicelib.clock import GATEWAY_LIMIT_MS
from chalicelib.errors import ClockUnreliable, LeaseNotCurrent
from chalicelib.outcomes import Claimed, Delayed, Held
from tests.world import MARGIN_MS, World

TTL_MS = 10_000


def test_a_heartbeat_after_the_end_succeeds_and_says_late_if_nobody_took_over(world: World) -> None:
    lease = world.claimed(ttl_ms=TTL_MS)
    world.time.advance(seconds=60)
    renewed = world.renew(lease.lease_id)
    assert renewed.late
    assert isinstance(world.claim(), Held)


def test_a_heartbeat_in_time_is_not_late(world: World) -> None:
    lease = world.claimed(ttl_ms=TTL_MS)
    world.time.advance(ms=TTL_MS - 1)
    assert not world.renew(lease.lease_id).late


def test_a_heartbeat_after_a_takeover_names_the_new_owner(world: World) -> None:
    lease = world.claimed(owner="first", ttl_ms=TTL_MS)
    world.time.advance(seconds=60)
    taken = world.claimed(owner="second")
    with pytest.raises(LeaseNotCurrent, match="second") as caught:
        world.renew(lease.lease_id)
    assert caught.value.details is not None
    assert caught.value.details["owner"] == "second"
    assert caught.value.details["fencing_token"] == taken.fence
    assert taken.lease_id not in str(caught.value.details)


@pytest.mark.parametrize("heartbeat_first", [True, False])
def test_a_heartbeat_and_a_takeover_in_the_same_millisecond_have_one_winner(
    world: World, heartbeat_first: bool
) -> None:
    lease = world.claimed(ttl_ms=TTL_MS)
    world.time.advance(ms=TTL_MS + MARGIN_MS)
    if heartbeat_first:
        assert world.renew(lease.lease_id).late
        assert isinstance(world.claim(), Held)
    else:
        assert isinstance(world.claim(), Claimed)
        with pytest.raises(LeaseNotCurrent):
            world.renew(lease.lease_id)


@pytest.mark.parametrize("skew_ms", [MARGIN_MS, MARGIN_MS - 1, 1, 0, -1, -MARGIN_MS])
def test_no_live_lease_is_stolen_by_a_clock_that_differs_by_up_to_the_margin(world: World, skew_ms: int) -> None:
    world.claimed(ttl_ms=TTL_MS)
    world.time.advance(ms=TTL_MS - 1)
    assert isinstance(world.claim(skew_ms=skew_ms), Held)


def test_a_clock_ahead_by_less_than_the_gateways_limit_steals_nothing(world: World) -> None:
    world.claimed(ttl_ms=TTL_MS)
    stamp_ms = world.time.ms + TTL_MS - 1
    world.time.advance(ms=TTL_MS - 1)
    outcome = world.submit(world.ask(), skew_ms=GATEWAY_LIMIT_MS, stamp_ms=stamp_ms)
    assert isinstance(outcome, Held)


@pytest.mark.parametrize("skew_ms", [GATEWAY_LIMIT_MS + 1, -MARGIN_MS - 1, 10**9, -(10**9)])
def test_a_clock_far_off_writes_nothing(world: World, skew_ms: int) -> None:
    with pytest.raises(ClockUnreliable):
        world.submit(world.ask(), skew_ms=skew_ms, stamp_ms=world.time.ms)
    assert world.transport.calls == []


@pytest.mark.parametrize("skew_ms", [GATEWAY_LIMIT_MS, 0, -MARGIN_MS])
def test_a_clock_that_an_honest_request_can_explain_is_used(world: World, skew_ms: int) -> None:
    assert isinstance(world.submit(world.ask(), skew_ms=skew_ms, stamp_ms=world.time.ms), Claimed)


def test_fences_rise_although_the_clock_steps_back(world: World) -> None:
    fences = []
    for skew_ms in (0, -1, -3_600_000, 5, -10_000):
        lease = world.claimed(skew_ms=skew_ms)
        fences.append(lease.fence)
        world.release(lease.lease_id, skew_ms=skew_ms)
    assert fences == sorted(set(fences))


def test_fences_rise_within_one_microsecond(world: World) -> None:
    first = world.claimed()
    world.release(first.lease_id)
    world.transport.forget()
    assert world.claimed().fence == first.fence + 1
    assert world.transport.calls == ["UpdateItem", "UpdateItem"]


def test_the_fence_is_the_clock_when_it_can_be(world: World) -> None:
    assert world.claimed().fence == world.time.us
    assert world.time.us < 2**53


def test_the_end_holds_although_the_clock_steps_back_in_a_warm_lambda(world: World) -> None:
    world.claimed(ttl_ms=TTL_MS)
    assert isinstance(world.claim(skew_ms=-3_600_000), Held)


def test_a_fence_that_others_moved_meanwhile_is_chased(world: World) -> None:
    """Our clock is behind, and between our two writes somebody else takes and gives back the name."""
    world.release(world.claimed(owner="ahead", skew_ms=5_000).lease_id, skew_ms=5_000)

    def somebody_else() -> None:
        world.release(world.claimed(owner="else", skew_ms=6_000).lease_id, skew_ms=6_000)

    world.transport.before_next(lambda: None)
    world.transport.before_next(somebody_else)
    fence_before = world.row().fence
    assert world.claimed(owner="behind").fence > fence_before + 1


def test_a_name_in_its_lock_delay_is_delayed_for_others(world: World) -> None:
    world.claimed(ttl_ms=TTL_MS, lock_delay_ms=5_000)
    world.time.advance(ms=TTL_MS + MARGIN_MS)
    assert isinstance(world.claim(), Delayed)
    assert isinstance(world.inspect(), Delayed)
    world.time.advance(ms=5_000 - MARGIN_MS)
    assert isinstance(world.claim(), Claimed)


def test_a_release_by_a_clock_ahead_does_not_delay_the_next_owner(world: World) -> None:
    lease = world.claimed()
    world.release(lease.lease_id, skew_ms=MARGIN_MS)
    assert isinstance(world.claim(), Claimed)


def test_a_refused_caller_is_told_when_a_new_try_is_sure_to_make_sense(world: World) -> None:
    world.claimed(ttl_ms=TTL_MS)
    held = world.claim()
    assert isinstance(held, Held)
    world.time.advance(ms=held.free_in_ms - 1)
    assert isinstance(world.claim(), Held)
    world.time.advance(ms=1)
    assert isinstance(world.claim(), Claimed)


def test_the_one_who_paused_is_told_apart_by_its_fence(world: World) -> None:
    """The resource remembers the highest fence it has seen, and refuses a lower one."""
    highest = 0

    def resource_accepts(fence: int) -> bool:
        nonlocal highest
        accepted, highest = fence >= highest, max(fence, highest)
        return accepted

    paused = world.claimed(owner="paused", ttl_ms=TTL_MS)
    world.time.advance(seconds=600)
    successor = world.claimed(owner="successor")
    assert resource_accepts(successor.fence)
    assert not resource_accepts(paused.fence)
