import hashlib
import re

import pytest

from tests.http.client import Client, mint

SOME_TOKEN = "olt_" + "0" * 16 + "_" + "0" * 64


def code_of(client: Client, target: str = "/locks") -> str:
    return str(client.get(target).json().get("code", "ok"))


def create(client: Client, **body: object) -> dict[str, object]:
    response = client.post("/tokens", body)
    assert response.status == 201, response.body
    created: dict[str, object] = response.json()
    return created


@pytest.mark.parametrize("authorization", [None, "", "Basic dTpw", "Bearer", "Bearer ", "olt_x"])
def test_a_request_without_a_token_is_told_to_send_one(client: Client, authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    response = client.send("GET", "/locks", headers=headers)
    assert (response.status, response.json()["code"]) == (401, "authentication_required")
    assert response.header("WWW-Authenticate") == "Bearer"


@pytest.mark.parametrize("token", [SOME_TOKEN, "olt_x_y", "x", "olt__", "ä", SOME_TOKEN + "0", "a\x00b"])
def test_a_wrong_token_is_told_apart_from_a_missing_one(client: Client, token: str) -> None:
    response = client.with_token(token).get("/locks")
    assert (response.status, response.json()["code"]) == (401, "authentication_failed")


def test_a_right_id_with_a_wrong_secret_is_refused(client: Client) -> None:
    """Also where the right one has just been checked and stands in the cache."""
    _, token_id, secret = client.token.split("_")
    for _warmth in range(2):
        assert code_of(client.with_token(f"olt_{token_id}_{secret[::-1]}")) == "authentication_failed"
        assert code_of(client) == "ok"


def test_a_clock_that_steps_back_does_not_keep_a_revoked_token_alive(client: Client) -> None:
    victim = client.new_token("claim")
    assert code_of(victim) == "ok"
    client.world.service.tokens.revoke(victim.token.split("_")[1], client.world.clock())
    client.world.time.advance(seconds=-60)
    assert code_of(victim) == "authentication_failed"


def test_the_scheme_is_read_without_regard_to_case(client: Client) -> None:
    assert client.send("GET", "/locks", headers={"authorization": f"bearer {client.token}"}).status == 200


def test_a_token_is_stored_only_as_its_digest(client: Client) -> None:
    created = create(client, label="ci")
    secret = str(created["token"]).split("_")[2]
    items = client.world.dynamodb.scan(TableName=client.world.settings.tokens_table)["Items"]
    assert hashlib.sha256(secret.encode()).hexdigest() in str(items)
    assert secret not in str(items)
    assert len(bytes.fromhex(secret)) * 8 == 256


def test_a_new_token_works_and_is_shown_once(client: Client) -> None:
    created = create(client, label="ci", scopes=["claim"], prefix="ci/")
    assert re.fullmatch("olt_[0-9a-f]{16}_[0-9a-f]{64}", str(created["token"]))
    assert client.with_token(str(created["token"])).acquire("ci%2Fbuild")["status"] == "acquired"
    assert str(created["token"]) not in client.get("/tokens").body.decode()


SCOPES = [
    ("read", {"GET /locks": 200, "GET /locks/ci": 200, "POST /locks/ci/acquire": 403, "GET /tokens": 403}),
    ("claim", {"GET /locks": 200, "GET /locks/ci": 200, "POST /locks/ci/acquire": 200, "GET /tokens": 403}),
    ("admin", {"GET /locks": 200, "GET /locks/ci": 200, "POST /locks/ci/acquire": 200, "GET /tokens": 200}),
]


@pytest.mark.parametrize(("scope", "expected"), SCOPES, ids=[scope for scope, _ in SCOPES])
def test_a_scope_includes_the_ones_below_it(client: Client, scope: str, expected: dict[str, int]) -> None:
    limited = client.new_token(scope)
    for route, status in expected.items():
        method, target = route.split()
        assert limited.send(method, target, b"{}").status == status, route


def test_a_token_with_a_prefix_sees_and_touches_nothing_else(client: Client) -> None:
    client.acquire("ci%2Fa")
    client.acquire("prod%2Fa")
    limited = client.new_token("claim", prefix="ci/")
    assert [lock["name"] for lock in limited.get("/locks").json()["locks"]] == ["ci/a"]
    assert limited.get("/locks?prefix=prod/").json()["locks"] == []
    assert [lock["name"] for lock in limited.get("/locks?prefix=c").json()["locks"]] == ["ci/a"]
    for response in (limited.get("/locks/prod%2Fa"), limited.post("/locks/prod%2Fb/acquire", {})):
        assert (response.status, response.json()["code"]) == (403, "forbidden")


def test_namespaces_do_not_see_each_other(client: Client) -> None:
    lease = client.acquire("job")
    stranger = client.new_token("admin", namespace="other")
    assert stranger.get("/locks/job").json() == stranger.get("/locks/never-seen").json() | {"name": "job"}
    assert stranger.get("/locks").json()["locks"] == []
    renewal = {"lease_id": lease["lease_id"]}
    assert stranger.post("/locks/job/renew", renewal).json()["details"] == {"status": "free", "fencing_token": 0}
    assert stranger.acquire("job")["status"] == "acquired"
    token_id = client.token.split("_")[1]
    assert stranger.send("DELETE", f"/tokens/{token_id}").status == 404
    assert token_id not in stranger.get("/tokens").body.decode()


def test_a_namespace_is_not_a_prefix_of_another(client: Client) -> None:
    client.new_token("admin", namespace="default-2").acquire("job")
    assert client.get("/locks").json()["locks"] == []


def test_a_revoked_token_is_refused_within_thirty_seconds_everywhere(client: Client) -> None:
    """Another warm Lambda has it in its cache; the one that revoked it refuses at once."""
    victim = client.new_token("claim")
    assert code_of(victim) == "ok"
    client.world.service.tokens.revoke(victim.token.split("_")[1], client.world.clock())
    client.world.time.advance(ms=29_999)
    assert code_of(victim) == "ok"
    client.world.time.advance(ms=1)
    assert code_of(victim) == "authentication_failed"


def test_the_lambda_that_revokes_a_token_refuses_it_at_once(client: Client) -> None:
    victim = client.new_token("claim")
    assert code_of(victim) == "ok"
    for _ in range(2):
        response = client.send("DELETE", f"/tokens/{victim.token.split('_')[1]}")
        assert (response.status, response.body) == (204, b"")
    assert code_of(victim) == "authentication_failed"
    listed = {token["id"]: token["revoked_at"] for token in client.get("/tokens").json()["tokens"]}
    assert listed[victim.token.split("_")[1]] is not None


@pytest.mark.parametrize("token_id", ["0" * 16, "x", "%2F", "a" * 300])
def test_a_token_that_does_not_exist_cannot_be_revoked(client: Client, token_id: str) -> None:
    assert client.send("DELETE", f"/tokens/{token_id}").status == 404


def test_a_token_ends_at_its_expiry_even_if_cached(client: Client) -> None:
    brief = client.with_token(str(create(client, expires_in_seconds=60)["token"]))
    client.world.time.advance(ms=59_999)
    assert code_of(brief) == "ok"
    client.world.time.advance(ms=1)
    assert code_of(brief) == "authentication_failed"


def test_rotation_ends_the_old_secret_and_begins_the_new_one(client: Client) -> None:
    old = client.new_token("claim")
    lease = old.acquire("job")
    response = old.send("POST", "/auth/token/rotate", headers={"authorization": f"Bearer {old.token}"})
    assert response.status == 200
    new = client.with_token(response.json()["token"])
    assert code_of(old) == "authentication_failed"
    new.acquire("taken-after-rotation")
    before, after = (client.get(f"/locks/{name}").json()["holder_id"] for name in ("job", "taken-after-rotation"))
    assert before == after
    assert new.post("/locks/job/renew", {"lease_id": lease["lease_id"]}).status == 200


def test_of_two_rotations_of_one_secret_one_is_refused(client: Client) -> None:
    """The second comes from a Lambda that still has the old secret in its cache."""
    old = client.new_token("claim")
    _, token_id, secret = old.token.split("_")
    assert code_of(old) == "ok"
    rotated = client.world.service.tokens.rotate(
        token_id, old_secret=secret, new_secret="1" * 64, clock=client.world.clock()
    )
    response = old.post("/auth/token/rotate")
    assert (response.status, response.json()["code"]) == (401, "authentication_failed")
    stored = client.world.service.tokens.find(token_id, client.world.clock())
    assert stored is not None
    assert stored.secret_hash == rotated.secret_hash


def test_a_rotation_whose_reply_was_lost_inside_still_answers_with_the_new_secret(client: Client) -> None:
    old = client.new_token("claim")
    assert code_of(old) == "ok"
    client.world.transport.lose_reply()
    new = client.with_token(old.post("/auth/token/rotate").json()["token"])
    assert code_of(new) == "ok"


def test_a_rotation_is_answered_by_its_own_write_and_needs_no_second_call(client: Client) -> None:
    """A read-back that failed would lose the new secret for ever."""
    old = client.new_token("claim")
    assert code_of(old) == "ok"
    client.world.transport.forget()
    client.world.transport.lose_reply()
    new = client.with_token(old.post("/auth/token/rotate").json()["token"])
    assert client.world.transport.calls == ["UpdateItem", "UpdateItem"]
    assert code_of(new) == "ok"
    client.world.transport.forget()
    assert new.post("/auth/token/rotate").status == 200
    assert client.world.transport.calls == ["UpdateItem"]


def test_a_creation_is_answered_by_its_own_write(client: Client) -> None:
    client.get("/tokens")
    client.world.transport.forget()
    create(client, expires_in_seconds=60)
    assert client.world.transport.calls == ["UpdateItem"]


def test_a_creation_whose_reply_was_lost_inside_makes_one_token(client: Client) -> None:
    client.get("/tokens")
    client.world.transport.lose_reply()
    created = create(client, label="once")
    assert code_of(client.with_token(str(created["token"]))) == "ok"
    assert [token["label"] for token in client.get("/tokens").json()["tokens"]].count("once") == 1


def test_a_token_cannot_make_one_that_may_do_more_than_itself(client: Client) -> None:
    limited = client.new_token("admin", prefix="ci/")
    assert limited.post("/tokens", {"prefix": "prod/"}).json()["code"] == "forbidden"
    assert limited.post("/tokens", {"prefix": ""}).json()["code"] == "forbidden"
    assert create(limited)["prefix"] == "ci/"
    assert create(limited, prefix="ci/x/")["prefix"] == "ci/x/"
    brief = client.with_token(mint(client.world, lifetime_ms=3_600_000))
    assert brief.post("/tokens", {"expires_in_seconds": 3601}).json()["code"] == "forbidden"
    assert create(brief)["expires_at"] == "2026-11-18T12:06:40.000Z"


def test_an_admin_with_a_prefix_neither_sees_nor_revokes_others(client: Client) -> None:
    limited = client.new_token("admin", prefix="ci/")
    ours = client.token.split("_")[1]
    assert ours not in limited.get("/tokens").body.decode()
    assert limited.send("DELETE", f"/tokens/{ours}").status == 404


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("scopes", {"scopes": []}),
        ("scopes", {"scopes": ["root"]}),
        ("scopes", {"scopes": "admin"}),
        ("label", {"label": ""}),
        ("label", {"label": "x" * 65}),
        ("prefix", {"prefix": "a b"}),
        ("prefix", {"prefix": "x" * 257}),
        ("expires_in_seconds", {"expires_in_seconds": 59}),
        ("expires_in_seconds", {"expires_in_seconds": 10**9}),
        ("scope", {"scope": ["read"]}),
        ("a:b", {"a:b": 1}),
        ("expires_in", {"label": "ci", "expires_in": 60}),
    ],
)
def test_a_bad_wish_for_a_token_is_refused_by_name(client: Client, field: str, body: dict[str, object]) -> None:
    response = client.post("/tokens", body)
    assert response.status == 400
    assert response.json()["details"]["field"].startswith(field)
    assert client.world.transport.writes() == []


def test_a_warm_lambda_reads_a_token_once_in_thirty_seconds(client: Client) -> None:
    for _ in range(3):
        client.get("/locks/job")
    assert client.world.transport.calls == ["GetItem"] * 4


def test_secrets_are_compared_in_constant_time(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[str, str]] = []

    def compare_digest(a: str, b: str) -> bool:
        compared.append((a, b))
        return a == b

    monkeypatch.setattr("chalicelib.auth.hmac.compare_digest", compare_digest)
    client.with_token(SOME_TOKEN).get("/locks")
    client.get("/locks")
    assert len(compared) == 2
    assert all(len(a) == len(b) == 64 for a, b in compared)
