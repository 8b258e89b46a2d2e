"""The sweep: only what it saw is marked, and a mass death starves nobody."""

from typing import Any

import pytest

from chalicelib.clock import Clock
from chalicelib.outcomes import Held
from chalicelib.recovery import ROWS_OF_A_PAGE
from chalicelib.verbs.ending import Expire
from tests.world import MARGIN_MS, World, key_of

TTL_MS = 10_000


def test_a_lease_that_is_over_is_marked_with_its_true_end(world: World) -> None:
    lease = world.claimed(ttl_ms=TTL_MS)
    world.time.advance(seconds=60)
    assert world.sweep() == ["job"]
    row = world.row()
    assert (row.state, row.ended, row.expires_at_ms, row.at_ms) == (
        "expired",
        "expired",
        lease.expires_at_ms,
        world.time.ms,
    )
    assert (row.rev, row.attempt, row.last_lease_id) == (2, 1, lease.lease_id)
    assert not {"lease_id", "held_in"} & set(world.raw_row() or {})


@pytest.mark.parametrize("skew_ms", [0, MARGIN_MS - 1])
def test_a_sweep_whose_clock_is_ahead_by_less_than_the_margin_frees_nothing_live(world: World, skew_ms: int) -> None:
    world.claimed(ttl_ms=TTL_MS)
    world.time.advance(ms=TTL_MS - 1)
    assert world.sweep(skew_ms=skew_ms) == []
    assert isinstance(world.claim(), Held)


def test_a_lease_that_was_renewed_after_the_sweep_saw_it_is_left_alone(world: World) -> None:
    lease = world.claimed(ttl_ms=TTL_MS)
    world.time.advance(seconds=60)
    seen = world.row()
    world.renew(lease.lease_id)
    assert world.service.leases.settle(Expire(seen, session_is_dead=False), world.clock()) is False
    assert world.row().state == "held"


def test_a_lease_that_was_taken_over_after_the_sweep_saw_it_is_left_alone(world: World) -> None:
    world.claimed(ttl_ms=TTL_MS)
    world.time.advance(seconds=60)
    seen = world.row()
    taken = world.claimed(owner="next")
    assert world.service.leases.settle(Expire(seen, session_is_dead=False), world.clock()) is False
    assert world.row().lease_id == taken.lease_id


def test_a_mark_whose_reply_was_lost_counts_as_made(world: World) -> None:
    world.claimed(ttl_ms=TTL_MS)
    world.time.advance(seconds=60)
    seen = world.row()
    world.transport.lose_reply()
    assert world.service.leases.expire_if_over(seen, world.clock()) is True
    assert world.row().rev == 2


def dead_rows(world: World, number: int) -> None:
    """As many leases as that, all of which ended at once."""
    world.claim("pattern", ttl_ms=TTL_MS)
    pattern = world.raw_row("pattern") or {}
    items = [
        {**pattern, "key": {"S": key}, "held_in": {"S": world.service.held.shard_of(key)}}
        for key in (key_of(f"dead-{one:05}") for one in range(number))
    ]
    for start in range(0, number, 25):
        puts = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
        world.dynamodb.batch_write_item(RequestItems={world.settings.leases_table: puts})


def test_a_mass_death_is_worked_off_in_bounded_runs_and_the_tail_does_not_starve(world: World) -> None:
    dead_rows(world, 1_000)
    world.time.advance(seconds=60)
    recovered: list[str] = []
    runs = 0
    while True:
        runs += 1
        # Each call costs 10 ms of this world's time, so that the budget of a run ends in the middle of it.
        swept = world.service.recovery.sweep_all(lambda: _a_clock_that_ticks(world), budget_ms=40)
        assert len(swept.recovered) <= 4 * ROWS_OF_A_PAGE
        recovered += [row.key for row in swept.recovered]
        if swept.stopped is None:
            break
    assert runs > 1
    assert len(recovered) == len(set(recovered)) == 1_001
    assert world.held_names() == []


def _a_clock_that_ticks(world: World) -> Any:
    world.time.advance(ms=10)
    return world.clock()


def test_a_run_goes_on_where_the_last_one_stopped_and_then_from_the_start(world: World) -> None:
    """What dies before the mark while the tail is worked off is found in the same run that finishes the tail."""
    dead_rows(world, 450)
    world.time.advance(seconds=60)
    assert world.service.recovery.sweep_all(world.clock, budget_ms=0).stopped is not None
    world.claimed("aaa", ttl_ms=1_000)
    world.time.advance(seconds=60)
    assert world.service.recovery.sweep_all(world.clock).stopped is None
    assert world.held_names() == []


def test_a_run_reads_no_more_than_its_page_with_many_leases_as_with_few(world: World) -> None:
    calls = []
    for number in (100, 2_000):
        dead_rows(world, number)
        world.transport.forget()
        assert world.service.recovery.sweep_all(world.clock, budget_ms=0).recovered == []
        calls.append(sorted(world.transport.calls))
    few, many = calls
    assert few == ["BatchGetItem"] * 4 + ["GetItem"] * 4 + ["Query"] * 4
    assert many == [*few, *["UpdateItem"] * 4], "the marks say where to go on"


def test_a_sweep_of_nothing_is_one_read_and_one_query_a_shard(world: World) -> None:
    world.transport.forget()
    assert world.sweep() == []
    assert sorted(world.transport.calls) == ["GetItem"] * 4 + ["Query"] * 4


def test_a_broken_mark_starts_the_shard_anew(world: World) -> None:
    world.claimed(ttl_ms=TTL_MS)
    for shard in world.service.held.shards:
        world.dynamodb.put_item(TableName=world.settings.leases_table, Item={"key": {"S": f"#recovery/{shard}"}})
    world.time.advance(seconds=60)
    assert world.sweep() == ["job"]


def test_a_shard_that_cannot_be_read_keeps_no_other_from_being_looked_at(world: World) -> None:
    for number in range(12):
        world.claimed(f"job-{number}", ttl_ms=TTL_MS)
    world.time.advance(seconds=60)
    world.transport.lose_request(times=2)
    swept = world.service.recovery.sweep_all(world.clock)
    assert 0 < len(swept.recovered) < 12
    assert len(swept.troubles) == 1
    assert len(swept.recovered) + len(world.sweep()) == 12


def test_a_range_is_worked_off_from_where_the_last_request_stopped(world: World) -> None:
    dead_rows(world, 900)
    world.time.advance(seconds=60)
    recovered: list[str] = []
    requests, place = 0, None
    while requests == 0 or place is not None:
        requests += 1
        swept = world.service.recovery.sweep_range("default/", "default/~", place, _ticking_as_it_is_read(world))
        recovered += [row.key for row in swept.recovered]
        place = swept.stopped
    assert requests > 1
    assert len(recovered) == len(set(recovered)) == 901


def _ticking_as_it_is_read(world: World) -> Clock:
    def read_us() -> int:
        world.time.advance(ms=2)
        return world.time.us

    return Clock(read_us, stamp_ms=None, margin_ms=MARGIN_MS)
