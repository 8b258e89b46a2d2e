"""Small promises that nothing else would notice if they were broken."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib import service
from chalicelib.errors import AuthenticationFailed, RateLimited, UpstreamUnavailable
from chalicelib.outcomes import Claimed, Delayed
from chalicelib.store import Store
from chalicelib.tokens import NewToken
from tests.world import NAMESPACE, World


def new_token(secret: str = "1" * 64, lifetime_ms: int | None = None) -> NewToken:
    return NewToken("0" * 16, secret, NAMESPACE, "label", ["claim"], "", lifetime_ms)


def test_a_key_that_another_principal_used_up_is_free_to_use(world: World) -> None:
    world.release(world.claimed(idempotency_key="k", principal="p1").lease_id)
    assert isinstance(world.claim(idempotency_key="k", principal="p2"), Claimed)


def test_a_lock_delay_counts_from_the_end_that_the_last_renewal_gave(world: World) -> None:
    lease = world.claimed(ttl_ms=10_000, lock_delay_ms=20_000)
    world.renew(lease.lease_id, ttl_ms=60_000)
    world.time.advance(ms=79_999)
    assert isinstance(world.claim(), Delayed)
    world.time.advance(ms=1)
    assert isinstance(world.claim(), Claimed)


def test_a_renewal_notes_its_time_and_keeps_the_row_from_being_cleaned_up(world: World) -> None:
    lease = world.claimed()
    world.time.advance(seconds=5 * 24 * 3600)
    world.renew(lease.lease_id)
    row = world.row()
    assert row.heartbeat_at_ms == world.time.ms
    assert row.ttl >= row.expires_at_ms / 1000 + 7 * 24 * 3600


def test_a_released_row_has_left_the_index_and_lost_its_lease_id(world: World) -> None:
    world.release(world.claimed().lease_id)
    assert not {"held_in", "lease_id"} & set(world.raw_row() or {})


def test_ends_are_dated_by_the_lambdas_own_clock_and_not_by_the_stamp(world: World) -> None:
    lease = world.submit(world.ask(ttl_ms=10_000), stamp_ms=world.time.ms - 20_000)
    assert isinstance(lease, Claimed)
    assert lease.until_ms == world.time.ms + 10_000


def test_a_lock_delay_is_judged_by_the_earlier_clock(world: World) -> None:
    world.release(world.claimed(lock_delay_ms=5_000).lease_id)
    stamp_ms = world.time.ms + 4_999
    world.time.advance(seconds=20)
    assert isinstance(world.submit(world.ask(), stamp_ms=stamp_ms), Delayed)


def test_reads_that_decide_are_consistent(world: World) -> None:
    world.claimed()
    world.transport.forget()
    world.inspect()
    world.held_names()
    bodies = [json.loads(body) for body in world.transport.requests]
    assert bodies[0]["ConsistentRead"] is True
    assert bodies[-1]["RequestItems"][world.settings.leases_table]["ConsistentRead"] is True


def test_a_dynamodb_call_is_one_attempt_of_three_seconds_at_the_most(world: World) -> None:
    config = service.connect(world.settings)._client_config  # type: ignore[attr-defined]
    assert (config.connect_timeout, config.read_timeout) == (1, 2)
    assert config.retries["total_max_attempts"] == 1


class LeavesKeys:
    """A DynamoDB that reads one key of a batch and leaves the others for later."""

    def __init__(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.asked: list[int] = []
        self._meanwhile = meanwhile

    def batch_get_item(self, RequestItems: Any) -> Any:
        keys = RequestItems["t"]["Keys"]
        self.asked.append(len(keys))
        self._meanwhile()
        left = {"t": {"Keys": keys[1:]}} if keys[1:] else {}
        return {"Responses": {"t": keys[:1]}, "UnprocessedKeys": left}


def test_keys_that_a_batch_left_unread_are_asked_for_again(world: World) -> None:
    client: Any = LeavesKeys()
    keys = [{"key": {"S": name}} for name in "abc"]
    assert list(Store(client, "t").get_many(keys, world.clock())) == keys
    assert client.asked == [3, 2, 1]


def test_keys_that_stay_unread_until_the_budget_is_used_up_are_told_as_throttling(world: World) -> None:
    client: Any = LeavesKeys(meanwhile=lambda: world.time.advance(seconds=6))
    with pytest.raises(RateLimited):
        list(Store(client, "t").get_many([{"key": {"S": "a"}}, {"key": {"S": "b"}}], world.clock()))


def test_a_request_whose_time_is_used_up_asks_the_store_no_more(world: World) -> None:
    clock = world.clock()
    world.time.advance(seconds=6)
    with pytest.raises(UpstreamUnavailable):
        world.service.leases.claim(world.ask(), clock)
    assert world.transport.calls == []


def test_a_query_whose_reply_was_cut_short_is_an_outage_and_no_crash(world: World) -> None:
    class CutsReplies:
        def query(self, **_: Any) -> Any:
            return {}

    client: Any = CutsReplies()
    with pytest.raises(UpstreamUnavailable):
        Store(client, "t").query(world.clock())


def test_a_cursor_past_its_prefix_is_an_empty_page_and_asks_nothing(world: World) -> None:
    page = world.service.held.page("default/zzz ", "default/a~", 10, lambda _row: True, world.clock())
    assert (page.held, page.next_cursor) == ([], None)
    assert world.transport.calls == []


def test_a_token_never_takes_the_place_of_another(world: World) -> None:
    first = world.service.tokens.create(new_token(), world.clock())
    with pytest.raises(UpstreamUnavailable):
        world.service.tokens.create(new_token(secret="2" * 64), world.clock())
    found = world.service.tokens.find("0" * 16, world.clock())
    assert found is not None
    assert found.secret_hash == first.secret_hash


def test_a_tokens_own_ttl_is_in_seconds_and_after_its_end(world: World) -> None:
    made = world.service.tokens.create(new_token(lifetime_ms=60_000), world.clock())
    assert made.expires_at_ms / 1000 < (made.ttl or 0) < made.expires_at_ms / 1000 + 40 * 24 * 3600


def test_a_revoked_token_cannot_be_rotated_from_a_cache(world: World) -> None:
    world.service.tokens.create(new_token(), world.clock())
    world.service.tokens.revoke("0" * 16, world.clock())
    with pytest.raises(AuthenticationFailed):
        world.service.tokens.rotate("0" * 16, old_secret="1" * 64, new_secret="2" * 64, clock=world.clock())
