"""Sessions and what hangs on them, when messages are late and clocks differ."""

from typing import Any

import pytest

from chalicelib.errors import LeaseNotCurrent, SessionExpired, UpstreamUnavailable
from chalicelib.outcomes import Claimed, Delayed, Free, Held
from chalicelib.sessions import Dead, Session
from tests.world import MARGIN_MS, World

SESSION_MS = 10_000
OVER_MS = SESSION_MS + MARGIN_MS


def void(_outcome: object) -> None: ...


def test_a_keepalive_that_lands_after_others_judged_the_session_dead_revives_nothing(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    lease = world.claimed(session=session)
    world.heartbeat(lease.lease_id)
    read_in_time_ms = SESSION_MS - 1
    world.time.advance(ms=OVER_MS)
    assert isinstance(world.claim(owner="next"), Claimed)
    with pytest.raises(SessionExpired):
        world.keepalive(session, skew_ms=read_in_time_ms - OVER_MS)
    assert isinstance(world.claim(owner="third"), Held)


def test_a_keepalive_that_read_its_clock_in_time_counts_until_somebody_has_judged(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    lease = world.claimed(session=session)
    world.heartbeat(lease.lease_id)
    world.time.advance(ms=OVER_MS)
    world.keepalive(session, skew_ms=-MARGIN_MS - 1)
    assert isinstance(world.claim(owner="next"), Held)


def test_a_keepalive_between_the_look_and_the_judgement_saves_the_session(world: World) -> None:
    """The contender has read the session as over, and before its judgement lands a late keepalive does."""
    session = world.session(ttl_ms=SESSION_MS)
    world.heartbeat(world.claimed(session=session).lease_id)
    world.time.advance(ms=OVER_MS)
    world.transport.before_next(lambda: None)
    world.transport.before_next(lambda: None)
    world.transport.before_next(lambda: void(world.keepalive(session, skew_ms=-MARGIN_MS - 1)))
    held = world.claim(owner="next")
    assert isinstance(held, Held)
    assert held.row.owner == "agent"


def test_keepalives_in_the_wrong_order_never_move_the_end_back(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    world.time.advance(ms=5_000)
    later = world.keepalive(session)
    assert world.keepalive(session, skew_ms=-2_000).expires_at_ms == later.expires_at_ms


def test_a_keepalive_whose_reply_was_lost_succeeds(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    world.time.advance(ms=5_000)
    world.transport.lose_reply()
    assert world.keepalive(session).expires_at_ms == world.time.ms + SESSION_MS


def test_a_session_whose_creation_lost_its_reply_is_made_once(world: World) -> None:
    world.transport.lose_reply()
    session = world.session(ttl_ms=SESSION_MS)
    assert world.keepalive(session).session_id == session.session_id


def test_nobody_acts_on_a_death_that_is_not_written(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    world.heartbeat(world.claimed(session=session).lease_id)
    world.time.advance(ms=OVER_MS)
    world.transport.forget()
    assert isinstance(world.claim(owner="next"), Claimed)
    assert world.transport.calls == ["UpdateItem", "GetItem", "UpdateItem", "UpdateItem"]
    assert world.service.sessions.looked_up(session.session_id, world.clock()) == Dead()


def test_a_contender_of_a_living_session_writes_nothing_on_it(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    world.heartbeat(world.claimed(session=session).lease_id)
    world.time.advance(ms=9_000)
    kept = world.keepalive(session)
    world.time.advance(ms=9_000)
    world.transport.forget()
    held = world.claim(owner="next")
    assert isinstance(held, Held)
    assert held.until_ms == kept.expires_at_ms
    assert world.transport.calls == ["UpdateItem", "GetItem"]


def test_a_session_that_ttl_has_cleaned_away_is_dead(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    lease = world.claimed(session=session)
    world.heartbeat(lease.lease_id)
    world.dynamodb.delete_item(TableName=world.settings.sessions_table, Key={"session_id": {"S": session.session_id}})
    world.time.advance(ms=OVER_MS)
    with pytest.raises(SessionExpired):
        world.heartbeat(lease.lease_id)
    assert isinstance(world.claim(owner="next"), Claimed)


def test_a_sessions_own_row_outlives_its_end_by_a_week(world: World) -> None:
    session = world.session(ttl_ms=3_600_000)
    world.time.advance(seconds=1000)
    kept = world.keepalive(session)
    for one in (session, kept):
        assert 7 * 24 * 3600 <= one.ttl - one.expires_at_ms / 1000 <= 10 * 24 * 3600


def test_a_holder_past_the_known_end_of_a_living_session_pays_three_calls_once(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    lease = world.claimed(session=session)
    world.heartbeat(lease.lease_id)
    world.time.advance(ms=9_000)
    kept = world.keepalive(session)
    world.time.advance(ms=5_000)
    world.transport.forget()
    beat = world.heartbeat(lease.lease_id)
    assert world.transport.calls == ["UpdateItem", "GetItem", "UpdateItem"]
    assert (beat.until_ms, beat.late) == (kept.expires_at_ms, False)
    world.transport.forget()
    world.heartbeat(lease.lease_id)
    assert world.transport.calls == ["UpdateItem"]


def test_an_end_that_has_passed_but_is_not_judged_is_no_death_and_grants_nothing(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    lease = world.claimed(session=session)
    world.time.advance(ms=SESSION_MS + 1)
    beat = world.heartbeat(lease.lease_id)
    assert beat.until_ms <= beat.now.ms
    world.keepalive(session)
    assert world.heartbeat(lease.lease_id).until_ms == world.time.ms + SESSION_MS


@pytest.mark.parametrize("carried", [True, False])
def test_a_row_bound_to_a_session_has_no_ttl_while_it_is_held(world: World, carried: bool) -> None:
    """Its session may keep it for longer than any date that a claim could give."""
    world.release(world.claimed().lease_id)
    world.time.advance(ms=1)
    session = world.session(ttl_ms=SESSION_MS)
    lease = world.claimed(session=session)
    assert "ttl" not in (world.raw_row() or {})
    world.heartbeat(lease.lease_id, ttl_ms=1_000, carries=carried)
    assert "ttl" not in (world.raw_row() or {})
    world.release(lease.lease_id)
    assert world.row().ttl is not None


def test_a_heartbeat_carries_only_what_is_bound(world: World) -> None:
    assert not world.heartbeat(world.claimed().lease_id).carried
    assert "carried" not in (world.raw_row() or {})


def test_a_renewal_through_the_lock_face_does_not_carry(world: World) -> None:
    session = world.session(ttl_ms=60_000)
    lease = world.claimed(ttl_ms=5_000, session=session)
    assert not world.renew(lease.lease_id, ttl_ms=5_000).carried
    world.time.advance(ms=5_000 + MARGIN_MS)
    assert isinstance(world.claim(owner="next"), Claimed)


def test_a_lock_delay_counts_from_the_sessions_end(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    world.heartbeat(world.claimed(session=session, lock_delay_ms=20_000).lease_id)
    world.time.advance(ms=OVER_MS)
    delayed = world.claim(owner="next")
    assert isinstance(delayed, Delayed)
    assert delayed.available_at_ms == session.expires_at_ms + 20_000
    world.time.advance(ms=20_000 - MARGIN_MS)
    taken = world.claim(owner="next")
    assert isinstance(taken, Claimed)
    assert taken.row.previous_ended_at_ms == session.expires_at_ms


def test_a_takeover_from_the_dead_leaves_a_lease_that_has_changed_alone(world: World) -> None:
    """Between the judgement and the takeover somebody else took the job over."""
    session = world.session(ttl_ms=SESSION_MS)
    world.heartbeat(world.claimed(session=session).lease_id)
    world.time.advance(ms=OVER_MS)
    for _ in range(3):
        world.transport.before_next(lambda: None)
    world.transport.before_next(lambda: void(world.claimed(owner="faster")))
    held = world.claim(owner="slower")
    assert isinstance(held, Held)
    assert held.row.owner == "faster"


def test_a_takeover_from_the_dead_whose_reply_was_lost_is_told_with_its_own_lease(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    world.heartbeat(world.claimed(session=session).lease_id)
    world.time.advance(ms=OVER_MS)
    for _ in range(3):
        world.transport.after_next(lambda: None)
    world.transport.lose_reply()
    taken = world.claim(owner="next")
    assert isinstance(taken, Claimed)
    assert (taken.row.lease_id, taken.row.rev) == (world.row().lease_id, 2)


def test_a_lease_claimed_as_its_session_was_deleted_ends_with_it(world: World) -> None:
    """The index had not heard of it, so the deletion did not end it."""
    session = world.session(ttl_ms=SESSION_MS)
    world.service.sessions.delete(session.session_id, world.me, world.clock())
    lease = world.claimed(session=session, ttl_ms=60_000)
    assert world.renew(lease.lease_id, ttl_ms=60_000).until_ms == session.expires_at_ms
    world.time.advance(ms=OVER_MS)
    with pytest.raises(SessionExpired):
        world.renew(lease.lease_id)
    assert isinstance(world.inspect(), Free)
    assert isinstance(world.claim(owner="next"), Claimed)


def test_what_was_ended_by_the_deletion_is_told_as_not_current(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    lease = world.claimed(session=session)
    world.service.sessions.delete(session.session_id, world.me, world.clock())
    assert world.service.bound.end_all(session.session_id, world.clock()) == 1
    assert (world.row().state, world.row().ended) == ("released", "released")
    with pytest.raises(LeaseNotCurrent):
        world.heartbeat(lease.lease_id)


def test_more_leases_than_a_page_of_the_index_end_with_their_session(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    for number in range(230):
        world.claimed(f"job-{number}", session=session)
    assert world.service.bound.count(session.session_id, world.clock()) == 230
    assert world.service.bound.end_all(session.session_id, world.clock()) == 230
    assert world.held_names() == []


def test_a_carried_job_is_listed_while_its_session_lives_and_no_longer(world: World) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    world.heartbeat(world.claimed(ttl_ms=1_000, session=session).lease_id)
    world.time.advance(ms=9_000)
    world.keepalive(session)
    world.time.advance(ms=9_000)
    assert world.held_names() == ["job"]
    world.time.advance(ms=1_000 + MARGIN_MS)
    assert world.held_names() == []


def test_renewals_in_a_session_do_not_crowd_before_its_known_end(world: World) -> None:
    """Each comes when half of what was granted has passed, as OctoStore's CLI does; the session is kept alive."""
    session = world.session(ttl_ms=30_000)
    lease = world.claimed(session=session, ttl_ms=120_000)
    started_ms, renewals, kept_alive_ms = world.time.ms, 0, world.time.ms
    left_ms = 30_000
    while world.time.ms < started_ms + 96_000:
        world.time.advance(ms=max(1, left_ms // 2))
        if world.time.ms >= kept_alive_ms + 15_000:
            world.keepalive(session)
            kept_alive_ms = world.time.ms
        renewed = world.renew(lease.lease_id, ttl_ms=120_000)
        left_ms = renewed.until_ms - renewed.now.ms
        renewals += 1
    assert renewals <= 24


def about_to_be_judged(world: World) -> Session:
    """A carried job whose session was kept alive since, one millisecond before its death may be written."""
    session = world.session(ttl_ms=SESSION_MS)
    world.heartbeat(world.claimed(session=session).lease_id)
    world.time.advance(ms=5_000)
    kept = world.keepalive(session)
    world.time.us = (kept.expires_at_ms + MARGIN_MS) * 1000 - 1000
    return session


@pytest.mark.parametrize("stamped", [True, False])
def test_a_session_that_was_read_as_alive_lives_though_its_time_runs_out_meanwhile(world: World, stamped: bool) -> None:
    session = about_to_be_judged(world)
    world.transport.after_next(lambda: None)
    world.transport.after_next(lambda: world.time.advance(ms=2))
    stamp_ms = world.time.ms + 100 if stamped else None
    assert isinstance(world.submit(world.ask(owner="next"), stamp_ms=stamp_ms), Held)
    assert world.keepalive(session, skew_ms=-3).state == "alive"


def test_the_sweep_leaves_what_it_read_as_alive_alone_though_its_time_runs_out_meanwhile(world: World) -> None:
    about_to_be_judged(world)
    seen = world.row()
    world.transport.after_next(lambda: world.time.advance(ms=2))
    assert world.service.leases.expire_if_over(seen, world.clock()) is False


def test_a_carried_job_looks_held_for_as_long_as_a_claim_finds_it_so(world: World) -> None:
    """Its session was deleted, and the index had not heard of it: what the row knows holds until then."""
    session = world.session(ttl_ms=SESSION_MS)
    world.heartbeat(world.claimed(session=session).lease_id)
    world.service.sessions.delete(session.session_id, world.me, world.clock())
    assert isinstance(world.claim(owner="next"), Held)
    assert isinstance(world.inspect(), Held)
    assert world.held_names() == ["job"]


def test_the_end_of_a_session_counts_what_was_over_before_against_the_job(world: World) -> None:
    session = world.session(ttl_ms=60_000)
    world.claimed(session=session, ttl_ms=1_000)
    world.time.advance(seconds=10)
    world.service.sessions.delete(session.session_id, world.me, world.clock())
    assert world.service.bound.end_all(session.session_id, world.clock()) == 0
    assert world.sweep() == ["job"]
    assert (world.row().ended, world.row().attempt) == ("expired", 1)


WRONG_SESSIONS = [
    {"expires_at_ms": {"S": "soon"}},
    {"expires_at_ms": {"N": "999999999999999999"}},
    {"ttl_ms": {"N": "3600001"}},
    {"state": {"S": "Alive"}},
    {"state": {"N": "1"}},
    {"metadata": {"S": '"\\ud800"'}},
    {"principal": {"NULL": True}},
]


@pytest.mark.parametrize("edit", WRONG_SESSIONS, ids=str)
def test_a_session_edited_by_hand_frees_nothing_and_keeps_nobody_from_the_others(
    world: World, edit: dict[str, Any]
) -> None:
    session = world.session(ttl_ms=SESSION_MS)
    world.heartbeat(world.claimed("broken", session=session).lease_id, "broken")
    world.claimed("dead", ttl_ms=1_000)
    world.claimed("whole", ttl_ms=3_600_000)
    table, key = world.settings.sessions_table, {"session_id": {"S": session.session_id}}
    item = world.dynamodb.get_item(TableName=table, Key=key)["Item"]
    world.dynamodb.put_item(TableName=table, Item={**item, **edit})
    world.time.advance(ms=OVER_MS)
    with pytest.raises(UpstreamUnavailable):
        world.claim("broken", owner="next")
    with pytest.raises(UpstreamUnavailable):
        world.service.sessions.get(session.session_id, world.me, world.clock())
    assert world.sweep() == ["dead"]
    assert world.held_names() == ["whole"]
    assert world.row("broken").state == "held"
