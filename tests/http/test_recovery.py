"""Recovery on demand, on the wire."""

from tests.http.client import Client
from tests.world import MARGIN_MS


def test_what_is_over_is_marked_and_told(client: Client) -> None:
    dead = client.claim("dead", "worker", ttl_seconds=10)
    client.claim("alive", ttl_seconds=60)
    client.world.time.advance(ms=10_000 + MARGIN_MS)
    answer = client.post("/recovery").json()
    assert answer == {
        "recovered": [
            {
                "job": "dead",
                "owner": "worker",
                "fencing_token": dead["fencing_token"],
                "expired_at": dead["expires_at"],
            }
        ],
        "examined": 2,
        "next_cursor": None,
    }
    assert client.world.row("dead").state == "expired"
    assert client.post("/recovery").json()["recovered"] == []


def test_nothing_live_is_freed_within_the_margin(client: Client) -> None:
    client.claim("job", ttl_seconds=10)
    client.world.time.advance(ms=10_000 + MARGIN_MS - 1)
    assert client.post("/recovery").json()["recovered"] == []


def test_a_recovery_covers_the_tokens_own_namespace_and_prefix(client: Client) -> None:
    elsewhere = client.new_token("admin", namespace="other")
    elsewhere.claim("job", ttl_seconds=1)
    client.claim("job", ttl_seconds=1)
    client.claim("ci%2Fjob", ttl_seconds=1)
    client.world.time.advance(seconds=10)
    limited = client.new_token("claim", prefix="ci/")
    assert [one["job"] for one in limited.post("/recovery").json()["recovered"]] == ["ci/job"]
    assert [one["job"] for one in client.post("/recovery").json()["recovered"]] == ["job"]
    assert [one["job"] for one in elsewhere.post("/recovery").json()["recovered"]] == ["job"]


def test_the_jobs_of_a_dead_session_are_recovered(client: Client) -> None:
    session_id = client.session(ttl_seconds=10)
    for number in range(3):
        client.heartbeat(client.claim(f"job-{number}", session_id=session_id))
    client.world.time.advance(seconds=9)
    client.post(f"/sessions/{session_id}/keepalive")
    client.world.time.advance(seconds=9)
    assert client.post("/recovery").json()["recovered"] == []
    client.world.time.advance(seconds=2)
    recovered = client.post("/recovery").json()["recovered"]
    assert sorted(one["job"] for one in recovered) == ["job-0", "job-1", "job-2"]
    assert client.post(f"/sessions/{session_id}/keepalive").status == 410


def test_a_foreign_cursor_is_refused(client: Client) -> None:
    for cursor in ("x", "OTkgYQ", "é", ""):
        assert client.post(f"/recovery?cursor={cursor}").json()["details"]["field"] == "cursor"


def test_a_row_that_cannot_be_read_is_left_alone_and_noted(client: Client) -> None:
    client.claim("broken", ttl_seconds=1)
    client.world.edit("broken", fence={"S": "high"})
    client.world.time.advance(seconds=10)
    assert client.post("/recovery").json() == {"recovered": [], "examined": 1, "next_cursor": None}
    assert any("default/broken" in str(line) for line in client.lines)
