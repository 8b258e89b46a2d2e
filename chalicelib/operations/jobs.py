"""The routes of the job face."""

from typing import Any

from chalicelib import errors
from chalicelib.operations import ALWAYS, WITH_BODY, WITH_NAME, Operation
from chalicelib.operations.examples import BEFORE, FENCE, LEASE_ID, NOW, SOON
from chalicelib.wire import jobs as wire

CLAIM_ERRORS = (
    *ALWAYS,
    *WITH_BODY,
    *WITH_NAME,
    errors.InvalidTtl,
    errors.NotFound,
    errors.LeaseNotCurrent,
    errors.SessionExpired,
    errors.IdempotencyKeyReused,
)
HOLDER_ERRORS = (*ALWAYS, *WITH_BODY, *WITH_NAME, errors.LeaseNotCurrent)
STEERING_ERRORS = (*ALWAYS, *WITH_BODY, *WITH_NAME, errors.Conflict)

JOB, OTHER = "github-issue-1842", "github-issue-1843"
PREVIOUS = {
    "owner": "agent-1",
    "ended": "expired",
    "ended_at": BEFORE,
    "reason": None,
    "checkpoint": {"branch": "fix-1842", "step": 3},
}
CLAIM_EXAMPLE = {"owner": "agent-3", "ttl_seconds": 120, "metadata": {"run": "https://ci.example/42"}}
CLAIMED = {
    "status": "claimed",
    "job": JOB,
    "lease_id": LEASE_ID,
    "fencing_token": FENCE,
    "owner": "agent-3",
    "metadata": {"run": "https://ci.example/42"},
    "attempt": 2,
    "acquired_at": NOW,
    "expires_at": SOON,
    "expires_in_ms": 120000,
    "heartbeat_after_ms": 60000,
    "session_id": None,
    "previous": PREVIOUS,
}
HELD = {
    "status": "held",
    "job": JOB,
    "owner": "agent-3",
    "metadata": {"run": "https://ci.example/42"},
    "attempt": 2,
    "acquired_at": NOW,
    "heartbeat_at": NOW,
    "expires_at": SOON,
    "expires_in_ms": 41000,
    "fencing_token": FENCE,
    "retry_after_ms": 41730,
    "message": f"Held by agent-3 until {SOON}; try again in 42 s or take another job.",
}
DONE = {
    "status": "done",
    "job": JOB,
    "owner": "agent-3",
    "result": {"pull_request": 77},
    "done_at": NOW,
    "done_until": SOON,
    "message": f"Done by agent-3 at {NOW}: there is nothing left to do. Take another job.",
}
EXHAUSTED = {
    "status": "exhausted",
    "job": JOB,
    "attempts": 3,
    "max_attempts": 3,
    "previous": PREVIOUS,
    "message": "Claimed 3 times without ending well, the last time by agent-1 (expired). Do not try again.",
}
FOUND: dict[str, Any] = {
    "job": JOB,
    "status": "held",
    "owner": "agent-3",
    "metadata": None,
    "attempt": 2,
    "acquired_at": NOW,
    "heartbeat_at": NOW,
    "expires_at": SOON,
    "expires_in_ms": 41000,
    "fencing_token": FENCE,
    "checkpoint": {"branch": "fix-1842", "step": 4},
    "cancel_requested": False,
    "cancel_reason": None,
    "result": None,
    "done_at": None,
    "done_until": None,
    "previous": {**PREVIOUS, "checkpoint": None},
}

CLAIM = Operation(
    name="claimJob",
    summary="Claim a job, if it is free",
    scope="claim",
    body=wire.Claim,
    body_example=CLAIM_EXAMPLE,
    answers=((200, wire.JobClaimed), (200, wire.JobHeld), (200, wire.JobDone), (200, wire.JobExhausted)),
    examples=(CLAIMED, HELD, DONE, EXHAUSTED),
    errors=CLAIM_ERRORS,
)
CLAIM_ANY = Operation(
    name="claimAnyJob",
    summary="Claim one of several jobs that is free",
    scope="claim",
    body=wire.ClaimAny,
    body_example={**CLAIM_EXAMPLE, "jobs": [JOB, OTHER]},
    answers=((200, wire.JobClaimed), (200, wire.NoneClaimed)),
    examples=(
        CLAIMED,
        {
            "status": "none",
            "jobs": [HELD],
            "retry_after_ms": 41730,
            "message": "None of these jobs can be claimed now.",
        },
    ),
    errors=CLAIM_ERRORS,
)
CLAIM_ALL = Operation(
    name="claimAllJobs",
    summary="Claim several jobs, all or none",
    scope="claim",
    body=wire.ClaimAll,
    body_example={**CLAIM_EXAMPLE, "jobs": [JOB, OTHER]},
    answers=((200, wire.AllClaimed), (200, wire.NotAllClaimed)),
    examples=(
        {"status": "claimed", "jobs": [CLAIMED, {**CLAIMED, "job": OTHER, "previous": None}]},
        {"status": "held", "jobs": [HELD], "retry_after_ms": 41730, "message": "None was claimed."},
    ),
    errors=CLAIM_ERRORS,
)
HEARTBEAT = Operation(
    name="heartbeatJob",
    summary="Say that you are still at it, and leave a checkpoint",
    scope="claim",
    body=wire.Heartbeat,
    body_example={"lease_id": LEASE_ID, "checkpoint": {"branch": "fix-1842", "step": 4}},
    answers=((200, wire.JobKept),),
    examples=(
        {
            "status": "held",
            "job": JOB,
            "expires_at": SOON,
            "expires_in_ms": 120000,
            "heartbeat_after_ms": 60000,
            "cancel_requested": False,
            "cancel_reason": None,
            "late": False,
        },
    ),
    errors=(*HOLDER_ERRORS, errors.InvalidTtl, errors.SessionExpired),
)
RELEASE = Operation(
    name="releaseJob",
    summary="Give a job back, failed, done or as it was; a repeat of the same release succeeds too",
    scope="claim",
    body=wire.ReleaseJob,
    body_example={"lease_id": LEASE_ID, "outcome": "done", "result": {"pull_request": 77}},
    answers=((200, wire.JobReleased),),
    examples=({"status": "done", "job": JOB, "outcome": "done", "ended_at": NOW, "done_until": SOON},),
    errors=HOLDER_ERRORS,
)
HAND_OVER = Operation(
    name="handOverJob",
    summary="Pass a job to another owner, with a checkpoint; your own lease is void",
    scope="claim",
    body=wire.HandOver,
    body_example={"lease_id": LEASE_ID, "to_owner": "agent-4", "checkpoint": {"step": 4}},
    answers=((200, wire.JobClaimed),),
    examples=({**CLAIMED, "owner": "agent-4", "previous": {**PREVIOUS, "owner": "agent-3", "ended": "handed_over"}},),
    errors=(*HOLDER_ERRORS, errors.InvalidTtl, errors.SessionExpired, errors.IdempotencyKeyReused),
)


def _steering(name: str, summary: str, scope: str, status: str, message: str) -> Operation:
    answer = {"status": status, "job": JOB, "owner": "agent-3", "fencing_token": FENCE, "message": message}
    return Operation(
        name=name,
        summary=summary,
        scope=scope,
        body=wire.Steer,
        body_example={"reason": "the issue was closed", "fencing_token": FENCE},
        answers=((200, wire.JobSteered),),
        examples=(answer,),
        errors=STEERING_ERRORS,
    )


CANCEL = _steering(
    "cancelJob", "Ask the owner to stop", "claim", "cancel_requested", "agent-3 is told at its next heartbeat."
)
EVICT = _steering("evictJob", "End a lease now, with a reason for the log", "admin", "evicted", "The job is free.")
REOPEN = _steering(
    "reopenJob", "Free a job that is done, or whose attempts are used up", "admin", "reopened", "The job is free."
)
INSPECT = Operation(
    name="inspectJob",
    summary="Who owns a job, since when, and what they left",
    scope="read",
    answers=((200, wire.Job),),
    examples=(FOUND,),
    errors=(*ALWAYS, *WITH_NAME),
)
LIST = Operation(
    name="listJobs",
    summary="What is held now, in the order of names",
    scope="read",
    query=("prefix", "owner", "limit", "cursor"),
    answers=((200, wire.JobPage),),
    examples=({"jobs": [FOUND], "next_cursor": None},),
    errors=(*ALWAYS, errors.InvalidInput),
)
RECOVER = Operation(
    name="recover",
    summary="Mark what is over in the token's namespace, and so tell the log of it",
    scope="claim",
    query=("cursor",),
    answers=((200, wire.Recovery),),
    examples=(
        {
            "recovered": [{"job": JOB, "owner": "agent-1", "fencing_token": FENCE, "expired_at": BEFORE}],
            "examined": 12,
            "next_cursor": None,
        },
    ),
    errors=(*ALWAYS, errors.InvalidInput),
)
