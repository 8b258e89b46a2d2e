"""The routes of sessions."""

from chalicelib import errors
from chalicelib.operations import ALWAYS, WITH_BODY, Operation
from chalicelib.operations.examples import HOLDER_ID, SESSION_ID, SOON
from chalicelib.wire import sessions as wire

CREATE = Operation(
    name="createSession",
    summary="Make a session that any number of leases may hang on",
    scope="claim",
    body=wire.CreateSession,
    body_example={"ttl_seconds": 60, "owner": "worker-7"},
    answers=((201, wire.SessionCreated),),
    examples=({"session_id": SESSION_ID, "expires_at": SOON, "expires_in_ms": 60000, "keepalive_interval_secs": 30},),
    errors=(*ALWAYS, *WITH_BODY, errors.InvalidTtl),
)
KEEPALIVE = Operation(
    name="keepSessionAlive",
    summary="Give a session its own TTL again: one write, however many leases hang on it",
    scope="claim",
    answers=((200, wire.SessionKept),),
    examples=({"session_id": SESSION_ID, "expires_at": SOON, "expires_in_ms": 60000},),
    errors=(*ALWAYS, errors.NotFound, errors.SessionExpired),
)
GET = Operation(
    name="getSession",
    summary="Whether a session lives, and how many leases hang on it",
    scope="read",
    answers=((200, wire.SessionFacts),),
    examples=(
        {
            "session_id": SESSION_ID,
            "user_id": HOLDER_ID,
            "owner": "worker-7",
            "metadata": None,
            "expires_at": SOON,
            "expires_in_ms": 41000,
            "lock_count": 3,
            "active": True,
        },
    ),
    errors=(*ALWAYS, errors.NotFound),
)
DELETE = Operation(
    name="deleteSession",
    summary="End a session and every lease that hangs on it; a second time succeeds too",
    scope="claim",
    answers=((204, None),),
    examples=(None,),
    errors=(*ALWAYS, errors.NotFound),
)
