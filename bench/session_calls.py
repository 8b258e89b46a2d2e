"""What sessions ask of DynamoDB. Each step says at which second of the session it happens, as far as that counts."""

from typing import Any

from bench import calls
from bench.caller import ACQUIRE, NAME
from bench.calls import Step, Steps
from bench.figures import Section
from bench.jobs import Jobs, Sessions, Several
from bench.stand import Stand

TTL_SECONDS = 60
MANY = 100
# What one claim-all takes.
BATCH = 25

_NOTES = (
    "A lease knows its session's end as of its last look at the session. Only once that has passed does anybody look "
    "again: a contender before it is refused or takes over, the holder before it goes on.",
)


def of_each_verb(stand: Stand) -> Section:
    return calls.section("DynamoDB calls of a request: sessions", _steps(stand), stand, _NOTES)


def _steps(stand: Stand) -> Steps:
    sessions, jobs = Sessions(stand.caller), Jobs(stand.caller, f"{NAME}/session")
    session = yield Step("create a session", lambda: sessions.create(ttl_seconds=TTL_SECONDS), 1)
    lease = yield Step("claim in a session", lambda: jobs.claim(session_id=session["session_id"]), 2, "claimed")
    yield from _while_its_end_is_known(stand, sessions, session, jobs, lease)
    yield from _when_it_has_passed(stand, sessions, session, jobs, lease)
    yield from _when_the_session_is_dead(stand, sessions, jobs)
    yield from _of_a_lock(stand, sessions)


def _while_its_end_is_known(stand: Stand, sessions: Sessions, session: Any, jobs: Jobs, lease: Any) -> Steps:
    yield Step("heartbeat, the first of a bound job", lambda: jobs.heartbeat(lease), 1, "held")
    yield Step("heartbeat, a later one", lambda: jobs.heartbeat(lease), 1, "held")
    yield Step("claim, refused: held", jobs.claim, 1, "held")
    yield Step("inspect, carried", jobs.inspect, 2, "held")
    yield Step("keepalive, 1 job", lambda: sessions.keepalive(session), 1)
    _claim_more(stand, session)
    yield Step(f"keepalive, {MANY} jobs", lambda: sessions.keepalive(session), 1)


def _claim_more(stand: Stand, session: Any) -> None:
    names = [f"many/issue-{number}" for number in range(1, MANY)]
    for first in range(0, len(names), BATCH):
        Several(stand.caller).all_of(names[first : first + BATCH], session_id=session["session_id"])


def _when_it_has_passed(stand: Stand, sessions: Sessions, session: Any, jobs: Jobs, lease: Any) -> Steps:
    stand.wait(seconds=40)
    sessions.keepalive(session)
    stand.wait(seconds=31)
    yield Step("claim, refused: its session lives", jobs.claim, 2, "held")
    yield Step("heartbeat, the known end has passed", lambda: jobs.heartbeat(lease), 3, "held")
    yield Step("heartbeat, the next one", lambda: jobs.heartbeat(lease), 1, "held")


def _when_the_session_is_dead(stand: Stand, sessions: Sessions, jobs: Jobs) -> Steps:
    stand.wait(seconds=TTL_SECONDS)
    yield Step("claim, its session is dead", jobs.claim, 4, "claimed")
    stand.wait(seconds=121)
    another = sessions.create(ttl_seconds=TTL_SECONDS)
    jobs.heartbeat(jobs.claim(session_id=another["session_id"]))
    yield Step("delete a session of 1 job", lambda: sessions.delete(another), 3)


def _of_a_lock(stand: Stand, sessions: Sessions) -> Steps:
    caller, name = stand.caller, f"{NAME}/lock-in-session"
    asked = {**ACQUIRE, "session_id": sessions.create(ttl_seconds=TTL_SECONDS)["session_id"]}
    lease = yield Step("acquire in a session", lambda: caller.acquire(name, **asked), 2, "acquired")
    yield Step("renew in a session", lambda: caller.renew(name, lease["lease_id"]), 1)
    yield Step("release in a session", lambda: caller.release(name, lease["lease_id"]), 1)
