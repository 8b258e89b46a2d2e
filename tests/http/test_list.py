from urllib.parse import quote

import pytest

from tests.http.client import Client


def listed(client: Client, query: str = "") -> list[str]:
    return [lock["name"] for lock in client.get(f"/locks{query}").json()["locks"]]


def test_a_list_has_what_is_held_in_the_order_of_names(client: Client) -> None:
    for name in ("b", "a", "c"):
        lease = client.acquire(name)
    client.post("/locks/c/release", {"lease_id": lease["lease_id"]})
    answer = client.get("/locks").json()
    assert [lock["name"] for lock in answer["locks"]] == ["a", "b"]
    assert (answer["total"], answer["prefix"], answer["next_cursor"]) == (2, None, None)


def test_a_name_with_slashes_works_and_lists_by_its_prefix(client: Client) -> None:
    client.acquire("repo%2Facme%2Fissue-7")
    client.acquire("repo%2Facme2%2Fissue-7")
    answer = client.get("/locks?prefix=repo/acme/").json()
    assert [lock["name"] for lock in answer["locks"]] == ["repo/acme/issue-7"]
    assert answer["prefix"] == "repo/acme/"
    assert listed(client, "?prefix=repo%2Facme%2F") == ["repo/acme/issue-7"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_pages_show_every_name_once_whatever_their_size(client: Client, size: int) -> None:
    names = sorted(f"j{number}/{part}" for number in range(5) for part in ("x", "x.y", "x-1", "X"))
    for name in names:
        client.acquire(quote(name, safe=""))
    seen: list[str] = []
    cursor = ""
    while True:
        page = client.get(f"/locks?limit={size}{cursor}").json()
        assert len(page["locks"]) <= size
        seen += [lock["name"] for lock in page["locks"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == names


def test_what_has_ended_but_was_not_swept_is_not_listed_and_does_not_shorten_the_page(client: Client) -> None:
    for number in range(6):
        client.acquire(f"a{number}", ttl_seconds=1)
    for number in range(4):
        client.acquire(f"b{number}", ttl_seconds=600)
    client.world.time.advance(seconds=10)
    page = client.get("/locks?limit=3").json()
    assert [lock["name"] for lock in page["locks"]] == ["b0", "b1", "b2"]
    assert listed(client, f"?cursor={page['next_cursor']}") == ["b3"]


def test_a_lease_in_its_last_margin_is_listed_since_a_claim_would_still_be_refused(client: Client) -> None:
    client.acquire(ttl_seconds=1)
    client.world.time.advance(ms=1_499)
    assert listed(client) == ["job"]
    client.world.time.advance(ms=1)
    assert listed(client) == []


@pytest.mark.parametrize("limit", ["0", "101", "-1", "1.5", "ten", "", "9" * 50, "١"])
def test_a_bad_limit_is_refused_by_name(client: Client, limit: str) -> None:
    response = client.get(f"/locks?limit={quote(limit)}")
    assert (response.status, response.json()["details"]["field"]) == (400, "limit")


@pytest.mark.parametrize("cursor", ["%21", "YWJj%0A", "=", "Li4", "AAAA", "ä"])
def test_a_cursor_that_is_not_ours_is_refused_by_name(client: Client, cursor: str) -> None:
    response = client.get(f"/locks?cursor={quote(cursor, safe='%')}")
    assert (response.status, response.json()["details"]["field"]) == (400, "cursor")


@pytest.mark.parametrize("prefix", ["a b", "a~", "%00", "ä", "x" * 257])
def test_a_prefix_that_no_name_can_have_is_refused_by_name(client: Client, prefix: str) -> None:
    response = client.get(f"/locks?prefix={quote(prefix, safe='%')}")
    assert (response.status, response.json()["details"]["field"]) == (400, "prefix")


def test_a_page_costs_one_query_for_each_shard_and_one_batch_read(client: Client) -> None:
    for number in range(30):
        client.acquire(f"job-{number}")
    client.world.transport.forget()
    client.get("/locks?limit=20")
    assert client.world.transport.calls == ["Query"] * 4 + ["BatchGetItem"]
