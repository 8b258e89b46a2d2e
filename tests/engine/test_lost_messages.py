"""Lost, late and repeated messages. A lost reply is a real one: DynamoDB has applied the write."""

import pytest

from chalicelib.errors import IdempotencyKeyReused, LeaseNotCurrent, UpstreamUnavailable
from chalicelib.outcomes import Acquired, Delayed, Held, Released
from tests.world import MARGIN_MS, World


def test_a_claim_whose_reply_was_lost_is_answered_with_its_own_lease(world: World) -> None:
    world.transport.lose_reply()
    outcome = world.acquired()
    assert outcome.lease_id == world.row().lease_id
    assert outcome.fence == world.row().fence
    assert world.row().rev == 1
    assert world.transport.calls == ["UpdateItem", "UpdateItem"]


def test_a_client_that_repeats_its_key_gets_the_same_lease_and_fence(world: World) -> None:
    first = world.acquired(idempotency_key="k")
    world.time.advance(seconds=20)
    again = world.acquired(idempotency_key="k")
    assert (again.lease_id, again.fence) == (first.lease_id, first.fence)
    assert world.row().rev == 1


def test_a_repeated_claim_is_told_what_is_left_and_never_a_whole_ttl(world: World) -> None:
    world.acquired(idempotency_key="k", ttl_ms=60_000)
    world.time.advance(seconds=59)
    again = world.acquired(idempotency_key="k", ttl_ms=60_000)
    assert again.expires_at_ms - again.now_ms == 1_000


def test_a_claim_whose_client_gave_up_stays_held_until_its_end(world: World) -> None:
    world.transport.lose_reply(times=2)
    with pytest.raises(UpstreamUnavailable):
        world.acquire(owner="gone", ttl_ms=10_000)
    held = world.acquire(owner="next")
    assert isinstance(held, Held)
    assert (held.row.owner, held.free_in_ms) == ("gone", 10_000 + MARGIN_MS)
    world.time.advance(ms=held.free_in_ms)
    assert isinstance(world.acquire(owner="next"), Acquired)


def test_a_claim_that_lands_late_neither_shortens_nor_steals_a_later_lease(world: World) -> None:
    late = world.ask(ttl_ms=5_000)
    sent_ms = world.time.ms
    world.time.advance(seconds=20)
    current = world.acquired(owner="current")
    outcome = world.submit(late, skew_ms=sent_ms - world.time.ms)
    assert isinstance(outcome, Held)
    assert (world.row().lease_id, world.row().expires_at_ms) == (current.lease_id, current.expires_at_ms)


def test_a_claim_that_is_over_when_it_lands_is_taken_over_with_a_higher_fence(world: World) -> None:
    born_expired = world.acquired(ttl_ms=1_000, skew_ms=-20_000)
    assert world.row().expires_at_ms < world.time.ms
    assert world.acquired(owner="next").fence > born_expired.fence


@pytest.mark.parametrize("end", ["released", "lapsed", "swept"])
def test_a_duplicate_of_a_claim_that_has_ended_gets_no_fresh_grant(world: World, end: str) -> None:
    first = world.acquired(idempotency_key="k", ttl_ms=10_000)
    if end == "released":
        world.release(first.lease_id)
    else:
        world.time.advance(seconds=20)
    if end == "swept":
        world.mark_expired()
    before = world.raw_row()
    with pytest.raises(LeaseNotCurrent):
        world.acquire(idempotency_key="k", ttl_ms=10_000)
    assert world.raw_row() == before


def test_the_same_key_with_another_body_is_refused(world: World) -> None:
    world.acquired(idempotency_key="k", body_hash="one")
    with pytest.raises(IdempotencyKeyReused):
        world.acquire(idempotency_key="k", body_hash="two")


def test_a_key_that_has_ended_with_another_body_is_told_of_the_body(world: World) -> None:
    world.release(world.acquired(idempotency_key="k", body_hash="one").lease_id)
    with pytest.raises(IdempotencyKeyReused):
        world.acquire(idempotency_key="k", body_hash="two")


def test_the_same_key_of_another_principal_is_a_contender(world: World) -> None:
    world.acquired(idempotency_key="k", principal="p1")
    assert isinstance(world.acquire(idempotency_key="k", principal="p2"), Held)


def test_two_claims_by_one_token_and_one_owner_are_two_contenders(world: World) -> None:
    world.acquired(owner="same", principal="same")
    assert isinstance(world.acquire(owner="same", principal="same"), Held)


def test_a_lease_that_ended_before_our_own_retry_saw_it_is_granted_to_nobody(world: World) -> None:
    """Without a key of the caller's, 409 would mean a lock delay; so this is an outage, told as one."""
    world.transport.lose_reply(meanwhile=lambda: world.time.advance(seconds=2))
    with pytest.raises(UpstreamUnavailable):
        world.acquire(ttl_ms=1_000)


def test_a_renewal_whose_reply_was_lost_succeeds(world: World) -> None:
    lease = world.acquired()
    world.time.advance(seconds=10)
    world.transport.lose_reply()
    assert world.renew(lease.lease_id).expires_at_ms == world.row().expires_at_ms


def test_renewals_in_the_wrong_order_never_move_the_end_back(world: World) -> None:
    lease = world.acquired(ttl_ms=10_000)
    later = world.renew(lease.lease_id, ttl_ms=60_000)
    earlier = world.renew(lease.lease_id, ttl_ms=10_000, skew_ms=-5_000)
    assert earlier.expires_at_ms == later.expires_at_ms == world.row().expires_at_ms


def test_a_release_whose_reply_was_lost_succeeds(world: World) -> None:
    lease = world.acquired()
    world.transport.lose_reply()
    assert world.release(lease.lease_id) == Released()
    assert world.row().rev == 2


def test_a_repeated_release_succeeds_and_changes_nothing(world: World) -> None:
    lease = world.acquired()
    world.release(lease.lease_id)
    before = world.raw_row()
    world.time.advance(seconds=5)
    assert world.release(lease.lease_id) == Released()
    assert world.raw_row() == before


def test_a_release_after_the_sweep_is_refused_and_the_name_stays_free(world: World) -> None:
    lease = world.acquired(ttl_ms=1_000)
    world.time.advance(seconds=10)
    world.mark_expired()
    with pytest.raises(LeaseNotCurrent):
        world.release(lease.lease_id)
    assert world.row().state == "expired"


def test_a_late_release_cannot_free_the_next_owner(world: World) -> None:
    lease = world.acquired(ttl_ms=1_000)
    world.time.advance(seconds=10)
    taken = world.acquired(owner="next")
    with pytest.raises(LeaseNotCurrent):
        world.release(lease.lease_id)
    assert world.row().lease_id == taken.lease_id


def test_a_release_that_comes_after_the_same_owner_claimed_again_is_refused(world: World) -> None:
    first = world.acquired(owner="same")
    world.release(first.lease_id)
    second = world.acquired(owner="same")
    with pytest.raises(LeaseNotCurrent):
        world.release(first.lease_id)
    assert world.row().lease_id == second.lease_id


def test_a_heartbeat_in_flight_never_resurrects_a_released_lease(world: World) -> None:
    lease = world.acquired()
    world.release(lease.lease_id)
    with pytest.raises(LeaseNotCurrent):
        world.renew(lease.lease_id)
    assert world.row().state == "released"


def test_a_lost_request_is_sent_once_more_with_a_fresh_clock(world: World) -> None:
    started_ms = world.time.ms
    world.transport.lose_request(meanwhile=lambda: world.time.advance(seconds=1))
    assert world.acquired(ttl_ms=60_000).expires_at_ms == started_ms + 61_000


def test_nothing_is_written_when_no_request_arrives(world: World) -> None:
    world.transport.lose_request(times=2)
    with pytest.raises(UpstreamUnavailable) as caught:
        world.acquire()
    assert caught.value.retry_after_ms
    assert world.raw_row() is None
    assert world.transport.writes() == ["UpdateItem", "UpdateItem"]


def test_a_store_that_used_up_the_budget_is_not_asked_again(world: World) -> None:
    world.transport.lose_request(meanwhile=lambda: world.time.advance(seconds=6))
    with pytest.raises(UpstreamUnavailable):
        world.acquire()
    assert world.transport.calls == ["UpdateItem"]


def test_a_lock_delay_holds_after_a_release_too(world: World) -> None:
    lease = world.acquired(lock_delay_ms=5_000)
    world.release(lease.lease_id)
    delayed = world.acquire()
    assert isinstance(delayed, Delayed)
    assert delayed.available_at_ms == world.time.ms + 5_000
    world.time.advance(seconds=5)
    assert isinstance(world.acquire(), Acquired)


def test_a_second_attempt_never_brings_back_a_lease_id_that_was_told_and_ended(world: World) -> None:
    """The first attempt was applied and its reply lost; the client's own repeat was told of that lease and ended it."""

    def the_lease_comes_to_an_end() -> None:
        world.release(world.acquired(idempotency_key="k").lease_id)
        world.time.advance(seconds=1)
        world.release(world.acquired(owner="other").lease_id)
        world.time.advance(seconds=1)

    world.transport.lose_reply(meanwhile=the_lease_comes_to_an_end)
    straggler = world.acquired(idempotency_key="k")
    with pytest.raises(LeaseNotCurrent):
        world.renew("lease-1")
    assert straggler.lease_id == world.row().lease_id != "lease-1"
