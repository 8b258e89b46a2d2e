"""The routes of the event log."""

from chalicelib import errors
from chalicelib.operations import ALWAYS, WITH_NAME, Operation
from chalicelib.operations.examples import HOLDER_ID, SOON
from chalicelib.wire import events as wire

EVENT_EXAMPLE = {
    "job": "deploy-main",
    "type": "taken_over",
    "at": SOON,
    "owner": "agent-7",
    "principal": HOLDER_ID,
    "fencing_token": 1795003200000000,
    "rev": 4,
    "attempt": 2,
    "detail": {
        "previous": {"owner": "agent-3", "ended": "expired", "ended_at": "2026-11-18T12:00:30.000Z", "reason": None},
        "session": False,
        "ttl_seconds": 120,
        "acquired_at": SOON,
    },
}
HISTORY = Operation(
    name="jobEvents",
    summary="What became of one job, the oldest change first",
    scope="read",
    query=("limit", "cursor"),
    answers=((200, wire.JobHistory),),
    examples=({"events": [{**EVENT_EXAMPLE, "gap": None}], "next_cursor": None},),
    errors=(*ALWAYS, *WITH_NAME, errors.InvalidInput),
)
FEED = Operation(
    name="eventFeed",
    summary="What goes on in the namespace, in the order of logging, with a cursor that skips nothing",
    scope="read",
    query=("since", "limit", "cursor"),
    answers=((200, wire.EventFeed),),
    examples=(
        {
            "events": [EVENT_EXAMPLE],
            "next_cursor": "MDAxNzk1MDAzMjA1MTIwLjE3OTUwMDMyMDAwMDAwMDAuMDAwMDAwMDAwNC5lMQ",
            "more": False,
        },
    ),
    errors=(*ALWAYS, errors.InvalidInput),
)
