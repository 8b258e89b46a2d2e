"""The JSON of the job face."""

from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from chalicelib import names
from chalicelib.wire.parts import FencingToken, IdempotencyKey, Metadata, Milliseconds, Owner, Time, TtlSeconds

DEFAULT_TTL_SECONDS = 120
DEFAULT_RETAIN_SECONDS = 7 * 24 * 3600
LARGEST_CHECKPOINT_BYTES = LARGEST_RESULT_BYTES = 4096
MOST_NAMES = 25

LeaseId = Annotated[str, Meta(description="The secret of the lease: whoever has it may heartbeat, release, hand over.")]
Reason = Annotated[str, Meta(min_length=1, max_length=512)]
MaxAttempts = Annotated[
    int,
    Meta(ge=1, le=1_000_000, description="A job that was claimed as often without ending well is not claimed again."),
]
Checkpoint = Annotated[
    Any,
    Meta(
        description="Where the work stands, for whoever goes on with it: any JSON, 4 KB. It is paid for by every "
        "heartbeat, kilobyte by kilobyte: keep it small, or keep a pointer."
    ),
]
Names = Annotated[list[Annotated[str, Meta(max_length=names.LONGEST_NAME)]], Meta(min_length=1, max_length=MOST_NAMES)]
RetryAfter = Annotated[Milliseconds, Meta(description="When a new try is sure to make sense, jittered.")]
Message = Annotated[str, Meta(description="What happened and what to do next, in a sentence.")]


class Claim(Struct, frozen=True):
    owner: Owner
    ttl_seconds: TtlSeconds | None = None
    metadata: Metadata | None = None
    session_id: UUID | None = None
    max_attempts: MaxAttempts | None = None
    idempotency_key: IdempotencyKey | None = None


class ClaimAny(Claim, frozen=True, kw_only=True):
    jobs: Names
    in_order: (
        Annotated[bool, Meta(description="Ask for the first free one; else each caller starts at a place of its own.")]
        | None
    ) = None


class ClaimAll(Claim, frozen=True, kw_only=True):
    jobs: Names


class Heartbeat(Struct, frozen=True):
    lease_id: UUID
    ttl_seconds: TtlSeconds | None = None
    checkpoint: Checkpoint = None
    metadata: Metadata | None = None


class ReleaseJob(Struct, frozen=True):
    lease_id: UUID
    outcome: (
        Annotated[
            Literal["failed", "done"],
            Meta(description="failed: free again and counted. done: claimed by nobody for a while. None: free again."),
        ]
        | None
    ) = None
    result: Annotated[Any, Meta(description="What came of it, any JSON, 4 KB. With outcome done alone.")] = None
    retain_seconds: Annotated[int, Meta(ge=1, le=90 * 24 * 3600, description="How long done stays done.")] | None = None
    reason: Annotated[Reason, Meta(description="Why it failed. With outcome failed alone.")] | None = None


class HandOver(Struct, frozen=True):
    lease_id: UUID
    to_owner: Owner
    ttl_seconds: TtlSeconds | None = None
    checkpoint: Checkpoint = None
    idempotency_key: IdempotencyKey | None = None


class Steer(Struct, frozen=True):
    reason: Reason
    fencing_token: (
        Annotated[int, Meta(ge=0, description="Refuses if the job has changed hands since you looked. Send it always.")]
        | None
    ) = None


class Previous(Struct, frozen=True):
    owner: str
    ended: Literal["released", "failed", "done", "expired", "evicted", "handed_over"]
    ended_at: Time
    reason: str | None
    checkpoint: Checkpoint


class JobClaimed(Struct, frozen=True):
    status: Literal["claimed"]
    job: str
    lease_id: LeaseId
    fencing_token: FencingToken
    owner: str
    metadata: Any
    attempt: Annotated[int, Meta(description="Claims since the job last ended well, this one included.")]
    acquired_at: Time
    expires_at: Time
    expires_in_ms: Annotated[
        Milliseconds, Meta(description="Your authority ends this long after the moment before you sent the request.")
    ]
    heartbeat_after_ms: Annotated[
        Milliseconds | None, Meta(description="Half of what is left; null if its session is enough.")
    ]
    session_id: str | None
    previous: Annotated[Previous | None, Meta(description="Who had it last, and what they left.")]


class JobHeld(Struct, frozen=True, tag_field="status", tag="held"):
    job: str
    owner: str
    metadata: Any
    attempt: int
    acquired_at: Time
    heartbeat_at: Time
    expires_at: Time
    expires_in_ms: Milliseconds
    fencing_token: FencingToken
    retry_after_ms: RetryAfter
    message: Message


class JobDone(Struct, frozen=True, tag_field="status", tag="done"):
    job: str
    owner: str
    result: Any
    done_at: Time
    done_until: Time
    message: Message


class JobExhausted(Struct, frozen=True, tag_field="status", tag="exhausted"):
    job: str
    attempts: int
    max_attempts: int
    previous: Previous
    message: Message


Refusal = JobHeld | JobDone | JobExhausted


class NoneClaimed(Struct, frozen=True):
    status: Literal["none"]
    jobs: list[Refusal]
    retry_after_ms: Annotated[RetryAfter | None, Meta(description="null if waiting will not help.")]
    message: Message


class AllClaimed(Struct, frozen=True):
    status: Literal["claimed"]
    jobs: list[JobClaimed]


class NotAllClaimed(Struct, frozen=True):
    status: Literal["held"]
    jobs: Annotated[list[Refusal], Meta(description="The ones in the way. None of the others was claimed.")]
    retry_after_ms: Annotated[RetryAfter | None, Meta(description="null if waiting will not help.")]
    message: Message


class JobKept(Struct, frozen=True):
    status: Literal["held"]
    job: str
    expires_at: Time
    expires_in_ms: Milliseconds
    heartbeat_after_ms: Annotated[
        Milliseconds | None, Meta(description="null: from now on the keepalives of its session are enough.")
    ]
    cancel_requested: Annotated[bool, Meta(description="Somebody asks you to stop: save what you have, and release.")]
    cancel_reason: str | None
    late: Annotated[bool, Meta(description="The lease had ended already, and nobody had taken over.")]


class JobReleased(Struct, frozen=True):
    status: Literal["released", "done"]
    job: str
    outcome: Literal["failed", "done"] | None
    ended_at: Time
    done_until: Time | None


class JobSteered(Struct, frozen=True):
    status: Literal["cancel_requested", "evicted", "reopened"]
    job: str
    owner: Annotated[str, Meta(description="Who holds it, or had it last.")]
    fencing_token: FencingToken
    message: Message


class Job(Struct, frozen=True):
    job: str
    status: Literal["free", "held", "done"]
    owner: str | None
    metadata: Any
    attempt: int
    acquired_at: Time | None
    heartbeat_at: Time | None
    expires_at: Time | None
    expires_in_ms: Milliseconds | None
    fencing_token: FencingToken
    checkpoint: Checkpoint
    cancel_requested: bool
    cancel_reason: str | None
    result: Any
    done_at: Time | None
    done_until: Time | None
    previous: Previous | None


class JobPage(Struct, frozen=True):
    jobs: list[Job]
    next_cursor: str | None


class Recovered(Struct, frozen=True):
    job: str
    owner: str
    fencing_token: FencingToken
    expired_at: Time


class Recovery(Struct, frozen=True):
    recovered: list[Recovered]
    examined: Annotated[int, Meta(description="How many held leases were looked at.")]
    next_cursor: Annotated[
        str | None, Meta(description="Where to go on, as ?cursor=, if the time of one request was not enough.")
    ]
