"""The JSON of the event log."""

from typing import Annotated

from msgspec import Meta, Raw, Struct

from chalicelib import events
from chalicelib.wire.parts import FencingToken, Time

Detail = Annotated[
    Raw,
    Meta(
        description="What this type adds. Claimed, taken_over, handed_over: `previous` (null, or owner, ended, "
        "ended_at, reason), `session`, `ttl_seconds`, `acquired_at`. Released, failed: `reason`. Evicted, "
        "cancel_requested, reopened: `reason`, `by` (a pseudonym of the token that asked for it). Done: `reason`, "
        "`result`, `done_until`. Expired: `expired_at`. Heartbeat: nothing.",
        extra_json_schema={"type": "object"},
    ),
]


class FeedEvent(Struct, frozen=True, kw_only=True):
    job: str
    type: Annotated[str, Meta(description=f"One of {', '.join(events.TYPES)}; more may come.")]
    at: Annotated[Time, Meta(description="When the change was made, by the clock that made it.")]
    owner: Annotated[str, Meta(description="Of the lease that it happened to.")]
    principal: Annotated[str, Meta(description="A stable pseudonym of the token that holds or held it.")]
    fencing_token: FencingToken
    rev: Annotated[int, Meta(ge=1, description="Rises by one with each change of the job, so that none goes missing.")]
    attempt: Annotated[int, Meta(ge=0, description="Of the lease that it happened to.")]
    detail: Detail


class JobEvent(FeedEvent, frozen=True, kw_only=True):
    gap: Annotated[
        int | None,
        Meta(
            description="How many changes before this one are not in the log: lost, or older than what is kept. null "
            "if none. A job that nobody used for a week starts again at `rev` 1. A rev that steps back otherwise "
            "is that of a table restored from a backup, and counts all before it as missing."
        ),
    ]


class JobHistory(Struct, frozen=True):
    events: Annotated[list[JobEvent], Meta(description="In the order of the changes, the oldest first.")]
    next_cursor: Annotated[str | None, Meta(description="null at the end of the history.")]


class EventFeed(Struct, frozen=True):
    events: Annotated[
        list[FeedEvent],
        Meta(
            description="In the order of logging, a few seconds behind. A page may have none although there are more: "
            "a token for a prefix is not shown the others."
        ),
    ]
    next_cursor: Annotated[
        str,
        Meta(
            description="Never null: where this page ended. Keep it, and ask again with it at any later time; no event "
            "is then left out, and none is shown twice."
        ),
    ]
    more: Annotated[bool, Meta(description="Whether to ask again at once. If false, this is all there is for now.")]


class BusEvent(FeedEvent, frozen=True, kw_only=True):
    """The `detail` of what is put on the EventBridge bus."""

    id: str
    namespace: str
