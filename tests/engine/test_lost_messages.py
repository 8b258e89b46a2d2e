"""Lost, late and repeated messages. A lost reply is a real one: DynamoDB has applied the write."""

from uuid import UUID

import pytest

from chalicelib import lease_ids
from chalicelib.errors import IdempotencyKeyReused, LeaseNotCurrent, UpstreamUnavailable
from chalicelib.outcomes import Claimed, Delayed, Free, Held, Released
from chalicelib.verbs.release import Finished
from tests.world import MARGIN_MS, World

FIRST_LEASE_ID = lease_ids.unbound(UUID(int=1))


def test_a_claim_whose_reply_was_lost_is_answered_with_its_own_lease(world: World) -> None:
    world.transport.lose_reply()
    outcome = world.claimed()
    assert outcome.lease_id == world.row().lease_id
    assert outcome.fence == world.row().fence
    assert world.row().rev == 1
    assert world.transport.calls == ["UpdateItem", "UpdateItem"]


def test_a_client_that_repeats_its_key_gets_the_same_lease_and_fence(world: World) -> None:
    first = world.claimed(idempotency_key="k")
    world.time.advance(seconds=20)
    again = world.claimed(idempotency_key="k")
    assert (again.lease_id, again.fence) == (first.lease_id, first.fence)
    assert world.row().rev == 1


def test_a_repeated_claim_is_told_what_is_left_and_never_a_whole_ttl(world: World) -> None:
    world.claimed(idempotency_key="k", ttl_ms=60_000)
    world.time.advance(seconds=59)
    again = world.claim(idempotency_key="k", ttl_ms=60_000)
    assert isinstance(again, Claimed)
    assert again.until_ms - again.now.ms == 1_000


def test_a_claim_whose_client_gave_up_stays_held_until_its_end(world: World) -> None:
    world.transport.lose_reply(times=2)
    with pytest.raises(UpstreamUnavailable):
        world.claim(owner="gone", ttl_ms=10_000)
    held = world.claim(owner="next")
    assert isinstance(held, Held)
    assert (held.row.owner, held.free_in_ms) == ("gone", 10_000 + MARGIN_MS)
    world.time.advance(ms=held.free_in_ms)
    assert isinstance(world.claim(owner="next"), Claimed)


def test_a_claim_that_lands_late_neither_shortens_nor_steals_a_later_lease(world: World) -> None:
    late = world.ask(ttl_ms=5_000)
    sent_ms = world.time.ms
    world.time.advance(seconds=20)
    current = world.claimed(owner="current")
    outcome = world.submit(late, skew_ms=sent_ms - world.time.ms)
    assert isinstance(outcome, Held)
    assert (world.row().lease_id, world.row().expires_at_ms) == (current.lease_id, current.expires_at_ms)


def test_a_claim_that_is_over_when_it_lands_is_taken_over_with_a_higher_fence(world: World) -> None:
    born_expired = world.claimed(ttl_ms=1_000, skew_ms=-20_000)
    assert world.row().expires_at_ms < world.time.ms
    assert world.claimed(owner="next").fence > born_expired.fence


@pytest.mark.parametrize("end", ["released", "lapsed", "swept"])
def test_a_duplicate_of_a_claim_that_has_ended_gets_no_fresh_grant(world: World, end: str) -> None:
    first = world.claimed(idempotency_key="k", ttl_ms=10_000)
    if end == "released":
        world.release(first.lease_id)
    else:
        world.time.advance(seconds=20)
    if end == "swept":
        world.sweep()
    before = world.raw_row()
    with pytest.raises(LeaseNotCurrent):
        world.claim(idempotency_key="k", ttl_ms=10_000)
    assert world.raw_row() == before


def test_the_same_key_with_another_body_is_refused(world: World) -> None:
    world.claimed(idempotency_key="k", body_hash="one")
    with pytest.raises(IdempotencyKeyReused):
        world.claim(idempotency_key="k", body_hash="two")


def test_a_key_that_has_ended_with_another_body_is_told_of_the_body(world: World) -> None:
    world.release(world.claimed(idempotency_key="k", body_hash="one").lease_id)
    with pytest.raises(IdempotencyKeyReused):
        world.claim(idempotency_key="k", body_hash="two")


def test_the_same_key_of_another_principal_is_a_contender(world: World) -> None:
    world.claimed(idempotency_key="k", principal="p1")
    assert isinstance(world.claim(idempotency_key="k", principal="p2"), Held)


def test_two_claims_by_one_token_and_one_owner_are_two_contenders(world: World) -> None:
    world.claimed(owner="same", principal="same")
    assert isinstance(world.claim(owner="same", principal="same"), Held)


def test_a_lease_that_ended_before_our_own_retry_saw_it_is_granted_to_nobody(world: World) -> None:
    """Without a key of the caller's, 409 would mean a lock delay; so this is an outage, told as one."""
    world.transport.lose_reply(meanwhile=lambda: world.time.advance(seconds=2))
    with pytest.raises(UpstreamUnavailable):
        world.claim(ttl_ms=1_000)


def test_a_renewal_whose_reply_was_lost_succeeds(world: World) -> None:
    lease = world.claimed()
    world.time.advance(seconds=10)
    world.transport.lose_reply()
    assert world.renew(lease.lease_id).until_ms == world.row().expires_at_ms


def test_renewals_in_the_wrong_order_never_move_the_end_back(world: World) -> None:
    lease = world.claimed(ttl_ms=10_000)
    later = world.renew(lease.lease_id, ttl_ms=60_000)
    earlier = world.renew(lease.lease_id, ttl_ms=10_000, skew_ms=-5_000)
    assert earlier.until_ms == later.until_ms == world.row().expires_at_ms


def test_a_release_whose_reply_was_lost_succeeds(world: World) -> None:
    lease = world.claimed()
    world.transport.lose_reply()
    assert isinstance(world.release(lease.lease_id), Released)
    assert world.row().rev == 2


def test_a_repeated_release_succeeds_and_changes_nothing(world: World) -> None:
    lease = world.claimed()
    world.release(lease.lease_id)
    before = world.raw_row()
    world.time.advance(seconds=5)
    assert isinstance(world.release(lease.lease_id), Released)
    assert world.raw_row() == before


def test_a_release_after_the_sweep_is_refused_and_the_name_stays_free(world: World) -> None:
    lease = world.claimed(ttl_ms=1_000)
    world.time.advance(seconds=10)
    world.sweep()
    with pytest.raises(LeaseNotCurrent):
        world.release(lease.lease_id)
    assert world.row().state == "expired"


def test_a_late_release_cannot_free_the_next_owner(world: World) -> None:
    lease = world.claimed(ttl_ms=1_000)
    world.time.advance(seconds=10)
    taken = world.claimed(owner="next")
    with pytest.raises(LeaseNotCurrent):
        world.release(lease.lease_id)
    assert world.row().lease_id == taken.lease_id


def test_a_release_that_comes_after_the_same_owner_claimed_again_is_refused(world: World) -> None:
    first = world.claimed(owner="same")
    world.release(first.lease_id)
    second = world.claimed(owner="same")
    with pytest.raises(LeaseNotCurrent):
        world.release(first.lease_id)
    assert world.row().lease_id == second.lease_id


def test_a_heartbeat_in_flight_never_resurrects_a_released_lease(world: World) -> None:
    lease = world.claimed()
    world.release(lease.lease_id)
    with pytest.raises(LeaseNotCurrent):
        world.renew(lease.lease_id)
    assert world.row().state == "released"


def test_a_lost_request_is_sent_once_more_with_a_fresh_clock(world: World) -> None:
    started_ms = world.time.ms
    world.transport.lose_request(meanwhile=lambda: world.time.advance(seconds=1))
    assert world.claimed(ttl_ms=60_000).expires_at_ms == started_ms + 61_000


def test_nothing_is_written_when_no_request_arrives(world: World) -> None:
    world.transport.lose_request(times=2)
    with pytest.raises(UpstreamUnavailable) as caught:
        world.claim()
    assert caught.value.retry_after_ms
    assert world.raw_row() is None
    assert world.transport.writes() == ["UpdateItem", "UpdateItem"]


def test_a_store_that_used_up_the_budget_is_not_asked_again(world: World) -> None:
    world.transport.lose_request(meanwhile=lambda: world.time.advance(seconds=6))
    with pytest.raises(UpstreamUnavailable):
        world.claim()
    assert world.transport.calls == ["UpdateItem"]


def test_a_lock_delay_holds_after_a_release_too(world: World) -> None:
    lease = world.claimed(lock_delay_ms=5_000)
    world.release(lease.lease_id)
    delayed = world.claim()
    assert isinstance(delayed, Delayed)
    assert delayed.available_at_ms == world.time.ms + 5_000
    world.time.advance(seconds=5)
    assert isinstance(world.claim(), Claimed)


def test_a_second_attempt_never_brings_back_a_lease_id_that_was_told_and_ended(world: World) -> None:
    """The first attempt was applied and its reply lost; the client's own repeat was told of that lease and ended it."""

    def the_lease_comes_to_an_end() -> None:
        world.release(world.claimed(idempotency_key="k").lease_id)
        world.time.advance(seconds=1)
        world.release(world.claimed(owner="other").lease_id)
        world.time.advance(seconds=1)

    world.transport.lose_reply(meanwhile=the_lease_comes_to_an_end)
    straggler = world.claimed(idempotency_key="k")
    with pytest.raises(LeaseNotCurrent):
        world.renew(FIRST_LEASE_ID)
    assert straggler.lease_id == world.row().lease_id != FIRST_LEASE_ID


def test_a_release_as_done_after_the_sweep_is_refused_and_the_job_stays_free(world: World) -> None:
    lease = world.claimed(ttl_ms=1_000)
    world.time.advance(seconds=10)
    world.sweep()
    for _ in range(2):
        with pytest.raises(LeaseNotCurrent):
            world.release(lease.lease_id, outcome=Finished("null", 60_000))
        assert isinstance(world.inspect(), Free | Held)
        world.claim(owner="next")
    assert (world.row().state, world.row().owner) == ("held", "next")
