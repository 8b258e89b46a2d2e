"""The list of tokens, and rows of it that somebody edited by hand."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.http.client import Client


def create(client: Client, **body: object) -> str:
    return str(client.post("/tokens", body).json()["id"])


def pages(client: Client, limit: int) -> Iterator[Any]:
    cursor = ""
    while True:
        page = client.get(f"/tokens?limit={limit}{cursor}").json()
        yield page
        if page["next_cursor"] is None:
            return
        cursor = f"&cursor={page['next_cursor']}"


def test_pages_of_tokens_show_every_token_once(client: Client) -> None:
    made = {create(client, label=f"t{number}") for number in range(7)} | {client.token.split("_")[1]}
    seen = [token["id"] for page in pages(client, 3) for token in page["tokens"]]
    assert seen == sorted(made)


def test_a_cursor_names_no_token_that_the_caller_may_not_see(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pages of strangers' tokens lie between the caller's own."""
    monkeypatch.setattr("chalicelib.parse.LARGEST_PAGE", 3)
    limited = client.new_token("admin", prefix="ci/")
    ours = {create(limited) for _ in range(4)} | {limited.token.split("_")[1]}
    for _ in range(25):
        create(client)
    seen = list(pages(limited, 1))
    assert [token["id"] for page in seen for token in page["tokens"]] == sorted(ours)
    assert [page["next_cursor"] for page in seen] == [*sorted(ours)[:-1], None]


def edit(client: Client, token_id: str, *, remove: str = "", **values: dict[str, Any]) -> None:
    """As somebody with the AWS console would."""
    table = {"TableName": client.world.settings.tokens_table}
    item = client.world.dynamodb.get_item(Key={"token_id": {"S": token_id}}, **table)["Item"] | values
    item.pop(remove, None)
    client.world.dynamodb.put_item(Item=item, **table)


BROKEN: list[dict[str, Any]] = [
    *({"remove": name} for name in ("secret_hash", "label", "scopes", "prefix")),
    *({"remove": name} for name in ("created_at_ms", "expires_at_ms", "revoked_at_ms")),
    {"prefix": {"N": "1"}},
    {"created_at_ms": {"S": "yesterday"}},
    {"expires_at_ms": {"N": "1.5"}},
    {"expires_at_ms": {"N": "1e30"}},
    {"revoked_at_ms": {"N": "-1"}},
    {"scopes": {"S": "root"}},
    {"scopes": {"S": " "}},
    {"scopes": {"L": []}},
    {"secret_hash": {"S": "ä"}},
    {"ttl": {"S": "x"}},
]


@pytest.mark.parametrize("change", BROKEN, ids=str)
def test_a_token_edited_by_hand_is_an_outage_of_that_token_alone(client: Client, change: dict[str, Any]) -> None:
    victim = client.new_token("claim")
    token_id = victim.token.split("_")[1]
    edit(client, token_id, **change)
    for response in (victim.get("/locks"), client.send("DELETE", f"/tokens/{token_id}")):
        assert (response.status, response.json()["code"]) == (503, "upstream_unavailable")
        assert token_id in errors(client)[-1]["what"]
    listed = client.get("/tokens")
    assert (listed.status, [token["id"] for token in listed.json()["tokens"]]) == (200, [client.token.split("_")[1]])
    assert "left out of the list" in errors(client)[-1]["what"]
    assert token_id in errors(client)[-1]["what"]
    assert len(errors(client)) == 3


def test_a_token_whose_namespace_reaches_into_another_allows_nothing(client: Client) -> None:
    victim = client.new_token("claim")
    edit(client, victim.token.split("_")[1], namespace={"S": "default/team-a"})
    assert victim.get("/locks").json()["code"] == "upstream_unavailable"


def errors(client: Client) -> list[Any]:
    return [line for line in client.lines if line.get("level") == "ERROR"]


def test_a_cursor_of_tokens_that_is_not_ours_is_refused(client: Client) -> None:
    assert client.get("/tokens?cursor=zz").json()["details"]["field"] == "cursor"
