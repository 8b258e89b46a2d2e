"""TTL, restores, and rows that somebody edited by hand."""

from typing import Any

import pytest

from chalicelib.errors import LeaseNotCurrent, UpstreamUnavailable
from chalicelib.outcomes import Claimed, Held
from chalicelib.verbs.clauses import DAY_MS
from chalicelib.verbs.release import Finished
from tests.world import World

SEVEN_DAYS_S = 7 * 24 * 3600


def assert_kept_for_seven_days(world: World) -> None:
    row = world.row()
    latest_s = max(row.expires_at_ms / 1000, row.fence / 1_000_000)
    assert row.ttl >= latest_s + SEVEN_DAYS_S
    assert row.ttl < latest_s + 10 * 24 * 3600, "seconds, not milliseconds"


@pytest.mark.parametrize("fence_ahead_ms", [0, 500, DAY_MS - 1, 30 * DAY_MS])
def test_ttl_is_in_seconds_and_a_week_after_end_and_fence_on_every_write(world: World, fence_ahead_ms: int) -> None:
    if fence_ahead_ms:
        world.release(world.claimed(skew_ms=fence_ahead_ms).lease_id)
        assert_kept_for_seven_days(world)
    lease = world.claimed()
    assert_kept_for_seven_days(world)
    world.time.advance(seconds=30)
    world.renew(lease.lease_id, ttl_ms=3_600_000)
    assert_kept_for_seven_days(world)
    world.release(lease.lease_id)
    assert_kept_for_seven_days(world)


def test_the_next_fence_is_above_every_earlier_one_after_ttl_removed_the_row(world: World) -> None:
    lease = world.claimed()
    world.release(lease.lease_id)
    world.time.us = int(world.row().ttl) * 1_000_000
    world.clean_up_by_ttl()
    assert world.claimed().fence > lease.fence


def test_fences_rise_after_ttl_removed_a_row_whose_fence_was_a_month_ahead(world: World) -> None:
    ahead = world.claimed(skew_ms=30 * DAY_MS)
    world.release(ahead.lease_id)
    lease = world.claimed()
    assert lease.fence == ahead.fence + 1
    world.release(lease.lease_id)
    world.time.us = int(world.row().ttl) * 1_000_000
    world.clean_up_by_ttl()
    assert world.claimed().fence > lease.fence


def test_a_row_that_ttl_removes_days_late_is_judged_by_its_end_alone(world: World) -> None:
    world.claimed(ttl_ms=1_000)
    world.time.us = (int(world.row().ttl) + SEVEN_DAYS_S) * 1_000_000
    assert isinstance(world.claim(), Claimed)


def test_a_heartbeat_never_creates_a_row_anew(world: World) -> None:
    lease = world.claimed()
    world.clean_up_by_ttl()
    with pytest.raises(LeaseNotCurrent):
        world.renew(lease.lease_id)
    with pytest.raises(LeaseNotCurrent):
        world.release(lease.lease_id)
    assert world.raw_row() is None


def test_fences_rise_over_a_table_restored_to_an_hour_ago(world: World) -> None:
    world.release(world.claimed().lease_id)
    an_hour_ago = world.raw_row()
    world.time.advance(seconds=3600)
    latest = world.claimed()
    world.edit(**(an_hour_ago or {}))
    world.time.advance(seconds=1)
    assert world.claimed().fence > latest.fence


def test_fences_rise_over_a_table_made_anew(world: World) -> None:
    latest = world.claimed()
    world.clean_up_by_ttl()
    world.time.advance(us=1)
    assert world.claimed().fence > latest.fence


def test_the_row_remembers_who_had_the_name_before_and_how_that_ended(world: World) -> None:
    world.claimed(owner="first", ttl_ms=1_000)
    world.time.advance(seconds=60)
    world.release(world.claimed(owner="second").lease_id)
    assert (world.row().previous_owner, world.row().previous_ended) == ("first", "expired")
    released_at_ms = world.time.ms
    world.time.advance(seconds=1)
    world.claimed(owner="third")
    row = world.row()
    assert (row.previous_owner, row.previous_ended, row.previous_ended_at_ms) == ("second", "released", released_at_ms)


def test_attempts_count_claims_since_the_last_good_end(world: World) -> None:
    for attempt in (1, 2, 3):
        lease = world.claimed(ttl_ms=1_000)
        assert world.row().attempt == attempt
        world.time.advance(seconds=10)
    world.release(lease.lease_id)
    world.claimed()
    assert world.row().attempt == 1


def test_rev_rises_by_one_with_each_transition_and_not_with_heartbeats(world: World) -> None:
    lease = world.claimed()
    world.renew(lease.lease_id)
    assert (world.row().rev, world.row().op) == (1, "heartbeat")
    world.release(lease.lease_id)
    assert (world.row().rev, world.row().op) == (2, "release")
    world.claimed()
    assert (world.row().rev, world.row().op) == (3, "claim")


WRONG: list[dict[str, Any]] = [
    {"remove": ("state",)},
    {"remove": ("fence",)},
    {"remove": ("expires_at_ms",)},
    {"remove": ("lease_id",)},
    {"remove": ("owner",)},
    {"state": {"S": "asleep"}},
    {"state": {"N": "1"}},
    {"expires_at_ms": {"S": "soon"}},
    {"fence": {"S": "high"}},
    {"metadata": {"S": "{not json"}},
    {"lock_delay_ms": {"S": "0"}},
    {"rev": {"BOOL": True}},
    {"expires_at_ms": {"N": "1e17"}},
    {"acquired_at_ms": {"N": "-1"}},
    {"fence": {"N": "9007199254740992"}},
    {"metadata": {"S": '"\\ud800"'}},
    {"metadata": {"S": "[" * 5000 + "]" * 5000}},
]


@pytest.mark.parametrize("edit", WRONG, ids=lambda edit: str(edit)[:60])
def test_a_live_row_edited_by_hand_is_granted_to_nobody(world: World, edit: dict[str, Any]) -> None:
    world.claimed("broken")
    world.claimed("whole")
    world.edit("broken", **edit)
    before = world.raw_row("broken")
    with pytest.raises(UpstreamUnavailable, match="operator"):
        world.claim("broken")
    with pytest.raises(UpstreamUnavailable, match="operator"):
        world.inspect("broken")
    assert world.raw_row("broken") == before
    assert isinstance(world.claim("whole"), Held)


FREE_BUT_WRONG: list[dict[str, Any]] = [
    {"remove": ("state",)},
    {"remove": ("fence",)},
    {"remove": ("rev",)},
    {"remove": ("expires_at_ms",)},
    {"remove": ("owner",)},
    {"remove": ("lock_delay_ms",)},
    {"state": {"N": "1"}},
    {"fence": {"S": "high"}},
    {"rev": {"S": "one"}},
    {"attempt": {"S": "one"}},
    {"owner": {"N": "7"}},
    {"ended": {"N": "7"}},
    {"expires_at_ms": {"S": "soon"}},
    {"remove": ("principal",)},
    {"remove": ("idempotency_key",)},
    {"remove": ("body_hash",)},
    {"remove": ("available_at_ms",)},
    {"reason": {"N": "1"}},
    {"checkpoint": {"N": "1"}},
    {"last_lease_id": {"N": "1"}},
]


@pytest.mark.parametrize("edit", FREE_BUT_WRONG, ids=str)
def test_a_free_row_edited_by_hand_is_granted_to_nobody(world: World, edit: dict[str, Any]) -> None:
    world.release(world.claimed("broken").lease_id, "broken")
    world.edit("broken", **edit)
    before = world.raw_row("broken")
    world.time.advance(seconds=1)
    with pytest.raises(UpstreamUnavailable, match="operator"):
        world.claim("broken")
    assert world.raw_row("broken") == before


def test_a_broken_row_is_left_out_of_a_list_and_named(world: World) -> None:
    world.claimed("broken")
    world.claimed("whole")
    world.edit("broken", fence={"S": "high"})
    page = world.service.held.page("default/", "default/~", 10, lambda _row: True, world.clock())
    assert [held.row.key for held in page.held] == ["default/whole"]
    assert page.unreadable == ["default/broken"]


@pytest.mark.parametrize(
    "edit",
    [
        {"metadata": {"N": "1"}},
        {"attempt": {"S": "one"}},
        {"previous_reason": {"N": "1"}},
        {"lease_ttl_ms": {"N": "253402300799999"}},
        {"checkpoint": {"S": "{bad"}},
    ],
    ids=str,
)
def test_the_holder_of_a_row_edited_by_hand_is_told_of_an_outage_and_no_crash(
    world: World, edit: dict[str, Any]
) -> None:
    lease = world.claimed()
    world.edit(**edit)
    with pytest.raises(UpstreamUnavailable):
        world.heartbeat(lease.lease_id)
    with pytest.raises(UpstreamUnavailable):
        world.cancel()
    with pytest.raises(UpstreamUnavailable):
        world.renew(lease.lease_id)


def test_a_checkpoint_that_is_no_json_is_an_outage_of_its_name_and_no_crash(world: World) -> None:
    world.release(world.claimed().lease_id)
    world.time.advance(ms=1)
    world.edit(checkpoint={"S": "{bad"})
    with pytest.raises(UpstreamUnavailable):
        world.claim()


def test_a_finished_job_is_kept_for_as_long_as_it_is_retained_and_a_week_more(world: World) -> None:
    ninety_days_ms = 90 * DAY_MS
    world.release(world.claimed().lease_id, outcome=Finished("null", ninety_days_ms))
    row = world.row()
    assert row.done_until_ms == world.time.ms + ninety_days_ms
    assert SEVEN_DAYS_S <= (row.ttl or 0) - row.done_until_ms / 1000 < 10 * 24 * 3600
