"""One canonical name or 400; never two rows for one meaning."""

import pytest

from tests.http.client import Client

GOOD = [
    "deploy-main",
    "github-issue-1842",
    "repo%2Foctostore%2Fissue-1842",
    "a",
    "_x",
    "A.b:c@d-e_f",
    "x" * 64,
    "%2F".join(["x" * 63] * 4),
    "%2F".join(["x" * 64] * 3 + ["x" * 61]),
    "a.b.c",
]
BAD = [
    "%2564eploy",
    "..%2F",
    "a%2F..%2Fb",
    "a..b",
    "%00",
    "a%00",
    "x" * 65,
    "%2F".join(["x" * 64] * 4),
    "%2F".join(["x" * 64] * 3 + ["x" * 62]),
    "deploy%20",
    "deploy ",
    "%20deploy",
    "d%C3%A9ploy",
    "%D0%B5ploy",
    "dépl",
    "a%23b",
    "a%3Fb",
    "a;b",
    "a%3Bb",
    "%2Fa",
    "a%2F",
    "a%2F%2Fb",
    "-a",
    ".a",
    ":a",
    "a%2F-b",
    "a%0A",
    "a%0D%0Ab",
    "%",
    "%2",
    "%zz",
    "%ff",
    "a+b",
    "a*b",
    "claim-any",
    "claim-all",
    "%63laim-any",
]


@pytest.mark.parametrize("segment", GOOD)
def test_a_good_name_is_taken(client: Client, segment: str) -> None:
    assert client.acquire(segment)["status"] == "acquired"
    assert client.get(f"/locks/{segment}").json()["status"] == "held"


@pytest.mark.parametrize("segment", BAD)
def test_a_bad_name_is_refused_by_every_verb_and_writes_nothing(client: Client, segment: str) -> None:
    body = {"lease_id": "00000000-0000-4000-8000-000000000000"}
    answers = [
        *(client.post(f"/locks/{segment}/{verb}", body) for verb in ("acquire", "renew", "release")),
        client.get(f"/locks/{segment}"),
    ]
    assert [(answer.status, answer.json()["code"]) for answer in answers] == [(400, "invalid_lock_name")] * 4
    assert client.world.transport.writes() == []


@pytest.mark.parametrize("spelling", ["%64eploy", "d%65ploy", "%64%65%70%6c%6F%79"])
def test_every_spelling_of_a_name_is_one_row(client: Client, spelling: str) -> None:
    client.acquire("deploy")
    assert client.acquire(spelling)["status"] == "held"
    assert client.get(f"/locks/{spelling}").json()["name"] == "deploy"


def test_names_differ_by_case(client: Client) -> None:
    client.acquire("deploy")
    assert client.acquire("Deploy")["status"] == "acquired"


@pytest.mark.parametrize("path", ["/locks//acquire", "/locks/a/b/acquire", "/locks/../acquire"])
def test_a_slash_that_is_not_encoded_is_another_route(client: Client, path: str) -> None:
    assert client.post(path, {}).status in {400, 404}
    assert client.world.transport.writes() == []
