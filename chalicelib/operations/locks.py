"""The routes of the lock face."""

from chalicelib import errors
from chalicelib.operations import ALWAYS, WITH_BODY, WITH_NAME, Operation
from chalicelib.operations.examples import HOLDER_ID, LEASE_ID, SOON
from chalicelib.wire import locks as wire

ACQUIRE = Operation(
    name="acquireLock",
    summary="Take a name, if it is free",
    scope="claim",
    body=wire.Acquire,
    body_example={"ttl_seconds": 60, "metadata": "host=runner-7 build=1842"},
    answers=((200, wire.Acquired), (200, wire.Held), (409, wire.Delayed)),
    examples=(
        {
            "status": "acquired",
            "lease_id": LEASE_ID,
            "fencing_token": 1795003200000000,
            "expires_at": SOON,
            "expires_in_ms": 60000,
            "renew_after_ms": 30000,
            "metadata": "host=runner-7 build=1842",
        },
        {
            "status": "held",
            "holder_id": HOLDER_ID,
            "owner": "runner-7",
            "metadata": "host=runner-7 build=1842",
            "expires_at": SOON,
            "expires_in_ms": 41000,
            "retry_after_ms": 41730,
        },
        {"status": "delayed", "available_at": SOON, "lock_delay_seconds": 15, "retry_after_ms": 9120},
    ),
    errors=(
        *ALWAYS,
        *WITH_BODY,
        *WITH_NAME,
        errors.InvalidTtl,
        errors.NotFound,
        errors.LeaseNotCurrent,
        errors.SessionExpired,
        errors.IdempotencyKeyReused,
    ),
)
RENEW = Operation(
    name="renewLock",
    summary="Move the end of a lease; it never moves back",
    scope="claim",
    body=wire.Renew,
    body_example={"lease_id": LEASE_ID, "ttl_seconds": 60},
    answers=((200, wire.Renewed),),
    examples=(
        {"lease_id": LEASE_ID, "expires_at": SOON, "expires_in_ms": 60000, "renew_after_ms": 30000, "late": False},
    ),
    errors=(*ALWAYS, *WITH_BODY, *WITH_NAME, errors.InvalidTtl, errors.LeaseNotCurrent, errors.SessionExpired),
)
RELEASE = Operation(
    name="releaseLock",
    summary="End a lease; a repeat of the same release succeeds too",
    scope="claim",
    body=wire.Release,
    body_example={"lease_id": LEASE_ID},
    answers=((200, None),),
    examples=(None,),
    errors=(*ALWAYS, *WITH_BODY, *WITH_NAME, errors.LeaseNotCurrent),
)
LOCK_EXAMPLE = {
    "name": "deploy-main",
    "status": "held",
    "holder_id": HOLDER_ID,
    "owner": "runner-7",
    "fencing_token": 1795003200000000,
    "expires_at": SOON,
    "expires_in_ms": 41000,
    "metadata": None,
}
INSPECT = Operation(
    name="inspectLock",
    summary="Who holds a name",
    scope="read",
    answers=((200, wire.Lock),),
    examples=(LOCK_EXAMPLE,),
    errors=(*ALWAYS, *WITH_NAME),
)
LIST = Operation(
    name="listLocks",
    summary="What is held now, in the order of names",
    scope="read",
    query=("prefix", "limit", "cursor"),
    answers=((200, wire.LockPage),),
    examples=({"locks": [LOCK_EXAMPLE], "total": 1, "prefix": "deploy", "next_cursor": None},),
    errors=(*ALWAYS, errors.InvalidInput),
)
