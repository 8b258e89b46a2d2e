"""The lock face on the wire, as OctoStore 0.14 speaks it, and where ours differs on purpose."""

from uuid import UUID

import pytest

from tests.http.client import Client
from tests.world import MARGIN_MS


def test_a_free_name_is_acquired(client: Client) -> None:
    response = client.post("/locks/deploy-main/acquire", {"ttl_seconds": 60, "metadata": "host=runner-7 build=1842"})
    answer = response.json()
    assert response.status == 200
    assert UUID(answer.pop("lease_id"))
    assert answer == {
        "status": "acquired",
        "fencing_token": client.world.time.us,
        "expires_at": "2026-11-18T11:07:40.000Z",
        "expires_in_ms": 60_000,
        "renew_after_ms": 30_000,
        "metadata": "host=runner-7 build=1842",
    }


def test_the_same_token_asking_again_is_held_and_shown_who_and_why(client: Client) -> None:
    lease = client.acquire("deploy-main", ttl_seconds=60, metadata="host=runner-7 build=1842", owner="runner-7")
    client.world.time.advance(seconds=20)
    response = client.post("/locks/deploy-main/acquire", {"ttl_seconds": 60})
    answer = response.json()
    assert response.status == 200
    assert UUID(answer.pop("holder_id"))
    assert 40_000 + MARGIN_MS <= answer.pop("retry_after_ms") <= 41_000 + MARGIN_MS
    assert answer == {
        "status": "held",
        "owner": "runner-7",
        "metadata": "host=runner-7 build=1842",
        "expires_at": lease["expires_at"],
        "expires_in_ms": 40_000,
    }
    assert lease["lease_id"] not in response.body.decode()


def test_who_names_no_owner_is_shown_by_the_tokens_label(client: Client) -> None:
    client.new_token("claim", label="nightly-backup").acquire("job")
    assert client.get("/locks/job").json()["owner"] == "nightly-backup"


def test_a_name_without_a_ttl_is_held_for_a_minute(client: Client) -> None:
    assert client.acquire()["expires_in_ms"] == 60_000
    assert client.acquire("other", ttl_seconds=None)["expires_in_ms"] == 60_000


def test_a_renewal_answers_with_the_new_end(client: Client) -> None:
    lease = client.acquire(ttl_seconds=60)
    client.world.time.advance(seconds=30)
    response = client.post("/locks/job/renew", {"lease_id": lease["lease_id"], "ttl_seconds": 120})
    assert (response.status, response.json()) == (
        200,
        {
            "lease_id": lease["lease_id"],
            "expires_at": "2026-11-18T11:09:10.000Z",
            "expires_in_ms": 120_000,
            "renew_after_ms": 60_000,
            "late": False,
        },
    )


def test_a_renewal_never_shortens(client: Client) -> None:
    lease = client.acquire(ttl_seconds=600)
    renewed = client.post("/locks/job/renew", {"lease_id": lease["lease_id"], "ttl_seconds": 1}).json()
    assert renewed["expires_at"] == lease["expires_at"]
    assert renewed["expires_in_ms"] == 600_000


def test_a_lease_id_is_the_same_in_upper_case(client: Client) -> None:
    lease = client.acquire()
    assert client.post("/locks/job/renew", {"lease_id": lease["lease_id"].upper()}).status == 200


def test_a_release_answers_null_also_the_second_time(client: Client) -> None:
    lease = client.acquire()
    for _ in range(2):
        response = client.post("/locks/job/release", {"lease_id": lease["lease_id"]})
        assert (response.status, response.body) == (200, b"null")


def test_a_stranger_to_the_lease_cannot_renew_or_release_it(client: Client) -> None:
    """An owner name is a label, and a fencing token is public: neither is authority."""
    lease = client.acquire(owner="me")
    for verb in ("renew", "release"):
        guessed = {"lease_id": "00000000-0000-4000-8000-000000000000", "owner": "me"}
        response = client.post(f"/locks/job/{verb}", {**guessed, "fencing_token": lease["fencing_token"]})
        assert (response.status, response.json()["code"]) == (409, "lease_not_current")
        assert response.json()["details"]["owner"] == "me"
        assert lease["lease_id"] not in response.body.decode()


def test_a_lock_delay_is_answered_409_with_the_time_it_opens(client: Client) -> None:
    lease = client.acquire(lock_delay_seconds=15)
    client.post("/locks/job/release", {"lease_id": lease["lease_id"]})
    response = client.post("/locks/job/acquire", {})
    answer = response.json()
    assert response.status == 409
    assert 15_000 <= answer.pop("retry_after_ms") <= 16_000
    assert answer == {"status": "delayed", "available_at": "2026-11-18T11:06:55.000Z", "lock_delay_seconds": 15}
    assert client.get("/locks/job").json()["status"] == "free"


def test_a_name_never_seen_is_free(client: Client) -> None:
    response = client.get("/locks/job")
    assert (response.status, response.json()) == (
        200,
        {
            "name": "job",
            "status": "free",
            "holder_id": None,
            "owner": None,
            "fencing_token": 0,
            "expires_at": None,
            "expires_in_ms": None,
            "metadata": None,
        },
    )


def test_a_released_name_keeps_its_fencing_token(client: Client) -> None:
    lease = client.acquire()
    client.post("/locks/job/release", {"lease_id": lease["lease_id"]})
    assert client.get("/locks/job").json()["fencing_token"] == lease["fencing_token"]


def test_metadata_given_as_an_object_is_shown_as_json_text(client: Client) -> None:
    assert client.acquire(metadata={"pr": 7, "by": ["a", None]})["metadata"] == '{"pr":7,"by":["a",null]}'
    assert client.get("/locks/job").json()["metadata"] == '{"pr":7,"by":["a",null]}'


@pytest.mark.parametrize(
    "metadata", ["line\r\nbreak", "\x1b[31mred", "<script>", "ä€😀", "", '"quoted"', "null", r"\u0000"]
)
def test_metadata_and_owner_come_back_as_they_were_sent(client: Client, metadata: str) -> None:
    client.acquire(metadata=metadata, owner=metadata or "x")
    shown = client.get("/locks/job").json()
    assert (shown["metadata"], shown["owner"]) == (metadata, metadata or "x")


def test_holders_are_told_apart_by_a_stable_pseudonym(client: Client) -> None:
    other = client.new_token("claim")
    client.acquire("a")
    client.acquire("b")
    other.acquire("c")
    a, b, c = (client.get(f"/locks/{name}").json()["holder_id"] for name in "abc")
    assert a == b != c
    assert client.token.split("_")[1] not in a


def test_a_repeated_key_gets_the_same_lease_whatever_the_order_of_fields(client: Client) -> None:
    first = client.send("POST", "/locks/job/acquire", b'{"ttl_seconds":60,"idempotency_key":"k"}').json()
    again = client.send(
        "POST", "/locks/job/acquire", b'{ "idempotency_key":"k", "ttl_seconds":60, "owner":null }'
    ).json()
    assert again["lease_id"] == first["lease_id"]


def test_a_repeated_key_gets_the_same_lease_whatever_the_order_of_its_metadata(client: Client) -> None:
    first = client.acquire(idempotency_key="k", metadata={"a": 1, "b": {"c": 2, "d": 3}})
    assert (
        client.acquire(idempotency_key="k", metadata={"b": {"d": 3, "c": 2}, "a": 1})["lease_id"] == first["lease_id"]
    )


def test_two_tokens_with_one_label_are_two_holders_and_two_contenders(client: Client) -> None:
    one, two = client.new_token("claim", label="ci"), client.new_token("claim", label="ci")
    one.acquire("a", idempotency_key="k")
    assert two.acquire("a", idempotency_key="k")["status"] == "held"
    two.acquire("b")
    assert client.get("/locks/a").json()["holder_id"] != client.get("/locks/b").json()["holder_id"]


def test_a_key_with_another_body_is_422(client: Client) -> None:
    client.acquire(idempotency_key="k", ttl_seconds=60)
    response = client.post("/locks/job/acquire", {"idempotency_key": "k", "ttl_seconds": 61})
    assert (response.status, response.json()["code"]) == (422, "idempotency_key_reused")


def test_an_unknown_field_is_ignored_and_named_with_the_nearest_known_one(client: Client) -> None:
    answer = client.acquire(ttl=5, colour="red", meta_data="x")
    assert answer["expires_in_ms"] == 60_000
    assert answer["warnings"] == [
        "ttl: did you mean ttl_seconds?",
        "colour: not a field of this request, ignored.",
        "meta_data: did you mean metadata?",
    ]
    assert "warnings" not in client.acquire("other", ttl_seconds=5)


def test_a_body_full_of_unknown_fields_does_not_become_a_larger_answer(client: Client) -> None:
    body = {f"f{number}": 1 for number in range(5_000)}
    warnings = client.post("/locks/job/acquire", body).json()["warnings"]
    assert len(warnings) == 11
    assert warnings[-1].startswith("and 4990 more")


def test_a_ttl_above_the_ceiling_is_refused_with_the_way_out(client: Client) -> None:
    response = client.post("/locks/job/acquire", {"ttl_seconds": 3601})
    assert (response.status, response.json()["code"]) == (400, "invalid_ttl")
    assert "renew" in response.json()["error"]
    assert response.json()["details"] == {"field": "ttl_seconds", "max_ttl_seconds": 3600}


def test_a_session_that_does_not_exist_is_not_found(client: Client) -> None:
    body = {"session_id": "00000000-0000-4000-8000-000000000000"}
    assert client.post("/locks/job/acquire", body).json()["code"] == "not_found"


def test_ephemeral_needs_a_session(client: Client) -> None:
    response = client.post("/locks/job/acquire", {"ephemeral": True})
    assert (response.status, response.json()["details"]) == (400, {"field": "ephemeral"})


def test_contenders_refused_together_are_not_sent_back_together(client: Client) -> None:
    client.acquire()
    waits = {client.acquire()["retry_after_ms"] for _ in range(20)}
    assert len(waits) > 10
    assert min(waits) >= 60_000 + MARGIN_MS
