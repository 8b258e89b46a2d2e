"""What each verb of the job face asks of DynamoDB: one write, and one read to look."""

from bench import calls
from bench.calls import Step, Steps
from bench.figures import Section
from bench.jobs import REASON, Jobs, Several
from bench.stand import Stand

# DynamoDB would take 100 in a transaction; the service takes as many in a request.
NAMES = 25
CHECKPOINT = {"at": "s3://acme-web-checkpoints/issue-1842/3", "files_done": 41, "files": 60}
KEY = "6f1d1f0c-3c37-4a8e-b8f5-0d9c51a9a7d4"


def of_each_verb(stand: Stand) -> Section:
    return calls.section("DynamoDB calls of a request: jobs", _steps(stand), stand)


def _steps(stand: Stand) -> Steps:
    """In an order in which each does what its name says."""
    jobs = Jobs(stand.caller)
    yield from _a_first_owner(jobs)
    yield from _owners_who_do_not_end_well(stand, jobs)
    yield from _the_last_owner(jobs)
    yield from _several(stand)


def _a_first_owner(jobs: Jobs) -> Steps:
    lease = yield Step("claim, a new name", lambda: jobs.claim(idempotency_key=KEY), 1, "claimed")
    yield Step("claim, repeated with its key", lambda: jobs.claim(idempotency_key=KEY), 1, "claimed")
    yield Step("claim, refused: held", jobs.claim, 1, "held")
    yield Step("heartbeat without a TTL", lambda: jobs.heartbeat(lease), 1, "held")
    yield Step("heartbeat with a TTL", lambda: jobs.heartbeat(lease, ttl_seconds=120), 1, "held")
    yield Step("heartbeat with a checkpoint", lambda: jobs.heartbeat(lease, checkpoint=CHECKPOINT), 1, "held")
    yield Step("inspect", jobs.inspect, 1, "held")
    yield Step("cancel", lambda: jobs.steer("cancel", lease), 1, "cancel_requested")
    heir = yield Step("handover", lambda: jobs.hand_over(lease), 1, "claimed")
    yield Step("release", lambda: jobs.release(heir), 1, "released")


def _owners_who_do_not_end_well(stand: Stand, jobs: Jobs) -> Steps:
    second = yield Step("claim, a name used before", jobs.claim, 1, "claimed")
    yield Step("release, failed", lambda: jobs.release(second, outcome="failed", reason=REASON), 1, "released")
    third = jobs.claim()
    yield Step("evict", lambda: jobs.steer("evict", third), 1, "evicted")
    yield Step("claim, refused: exhausted", lambda: jobs.claim(max_attempts=2), 1, "exhausted")
    jobs.claim()
    stand.wait(seconds=121)
    yield Step("inspect, its time is over", jobs.inspect, 1, "free")


def _the_last_owner(jobs: Jobs) -> Steps:
    lease = yield Step("claim, its owner's time is over", jobs.claim, 1, "claimed")
    yield Step("release, done", lambda: jobs.release(lease, outcome="done", result={"pull": 1843}), 1, "done")
    yield Step("claim, refused: done", jobs.claim, 1, "done")
    yield Step("reopen", lambda: jobs.steer("reopen", lease), 1, "reopened")


def _several(stand: Stand) -> Steps:
    several = Several(stand.caller)
    some, others = ([f"{batch}/issue-{number}" for number in range(NAMES)] for batch in ("some", "others"))
    yield Step(f"claim-any, {NAMES} free names", lambda: several.any_of(some), 2, "claimed")
    yield Step(f"claim-all, {NAMES} free names", lambda: several.all_of(others), 2, "claimed")
    yield Step(f"claim-any, {NAMES} held names", lambda: several.any_of(others), 1, "none")
    yield Step(f"claim-all, {NAMES} held names", lambda: several.all_of(others), 1, "held")
