"""The row of a lease as DynamoDB keeps it."""

from collections.abc import Mapping
from typing import Any

import msgspec
from pynamodb.attributes import Attribute, BooleanAttribute, JSONAttribute, UnicodeAttribute
from pynamodb.constants import NUMBER
from pynamodb.exceptions import AttributeDeserializationError
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection
from pynamodb.models import Model

RawRow = Mapping[str, Mapping[str, Any]]

HELD, RELEASED, EXPIRED, DONE = "held", "released", "expired", "done"
STATES = frozenset({HELD, RELEASED, EXPIRED, DONE})
# How a lease may have ended, besides released, expired and done.
FAILED, EVICTED, HANDED_OVER = "failed", "evicted", "handed_over"


class WholeNumberAttribute(Attribute[int]):
    """PynamoDB's own number reads 1.5 as well as 1, and is a float to a type checker."""

    attr_type = NUMBER

    def serialize(self, value: int) -> str:
        return str(value)

    def deserialize(self, value: str) -> int:
        return int(value)


class HeldIndex(GlobalSecondaryIndex["Lease"]):
    """What is held now, and nothing else: a row leaves it with its release, so a list never pays for history."""

    class Meta:
        index_name = "held"
        projection = KeysOnlyProjection()

    held_in = UnicodeAttribute(hash_key=True)
    key = UnicodeAttribute(range_key=True)


class BoundIndex(GlobalSecondaryIndex["Lease"]):
    """What a session holds: a row leaves it with its end, or when it is handed over."""

    class Meta:
        index_name = "bound"
        projection = KeysOnlyProjection()

    session_id = UnicodeAttribute(hash_key=True)
    key = UnicodeAttribute(range_key=True)


class Lease(Model):
    """One name. Nothing but TTL ever deletes it, so the fence and the last owner outlive every lease.

    A write costs by the size of the whole row, kilobyte by kilobyte, heartbeats included: an attribute added
    here is paid for by every heartbeat of every user once a realistic row passes 1,024 bytes.
    """

    class Meta:
        table_name = "leases"  # a placeholder: the store puts the stage's own name into each call
        region = "us-east-1"  # likewise: no call is ever made through the model

    key = UnicodeAttribute(hash_key=True)
    held = HeldIndex()
    bound = BoundIndex()

    state = UnicodeAttribute()
    op = UnicodeAttribute()
    at_ms = WholeNumberAttribute()  # when the last change was made; a heartbeat is one only where it is logged
    rev = WholeNumberAttribute()
    fence = WholeNumberAttribute()
    ttl = WholeNumberAttribute(null=True)  # a row bound to a session has none while it is held

    lease_id = UnicodeAttribute(null=True)
    held_in = UnicodeAttribute(null=True)
    idempotency_key = UnicodeAttribute()
    body_hash = UnicodeAttribute()  # empty if the caller gave no key
    owner = UnicodeAttribute()
    principal = UnicodeAttribute()
    metadata = JSONAttribute(null=True)
    attempt = WholeNumberAttribute()

    acquired_at_ms = WholeNumberAttribute()
    heartbeat_at_ms = WholeNumberAttribute()
    expires_at_ms = WholeNumberAttribute()
    lease_ttl_ms = WholeNumberAttribute()
    lock_delay_ms = WholeNumberAttribute()
    available_at_ms = WholeNumberAttribute()  # of no meaning where there is no lock delay

    session_id = UnicodeAttribute(null=True)
    session_until_ms = WholeNumberAttribute(null=True)
    carried = BooleanAttribute(null=True)
    cancel_reason = UnicodeAttribute(null=True)  # there while the owner is asked to stop
    last_request = UnicodeAttribute(null=True)  # the last cancel, evict or reopen: whose, and a number of its own

    checkpoint = JSONAttribute(null=True)
    result = JSONAttribute(null=True)
    done_until_ms = WholeNumberAttribute(null=True)
    ended = UnicodeAttribute()
    reason = UnicodeAttribute(null=True)
    last_lease_id = UnicodeAttribute(null=True)
    previous_owner = UnicodeAttribute()
    previous_ended = UnicodeAttribute()
    previous_ended_at_ms = WholeNumberAttribute()
    previous_reason = UnicodeAttribute()

    @property
    def holder_until_ms(self) -> int:
        """Where the holder's authority ends, as far as the row knows."""
        return self.until_ms_with(self.session_until_ms)

    def until_ms_with(self, session_until_ms: int | None) -> int:
        """The same, when its session's end is known better."""
        return authority_until_ms(self.expires_at_ms, session_until_ms, carried=bool(self.carried))


def authority_until_ms(own_end_ms: int, session_until_ms: int | None, *, carried: bool) -> int:
    """With its session, and unless the session carries it, with its own TTL: whichever comes first."""
    if session_until_ms is None:
        return own_end_ms
    return session_until_ms if carried else min(own_end_ms, session_until_ms)


class UnreadableRow(Exception):
    """Somebody edited the row by hand: what it says cannot be trusted, so nobody is granted anything by it."""


_required = tuple(name for name, attribute in Lease.get_attributes().items() if not attribute.null)
_times = tuple(name for name in Lease.get_attributes() if name.endswith("_ms"))
_shown = tuple(name for name, attribute in Lease.get_attributes().items() if isinstance(attribute, JSONAttribute))
# The last millisecond that RFC 3339 can write, and the last fence that a double can hold.
LATEST_MS = 253_402_300_799_999
HIGHEST_FENCE = 2**53 - 1
_LONGEST_MS = {"lease_ttl_ms": 24 * 3600 * 1000, "lock_delay_ms": 30_000}


def read(raw: RawRow) -> Lease:
    try:
        row = Lease.from_raw_data(dict(raw))
        for name in _shown:  # what cannot be shown cannot be read
            msgspec.json.encode(getattr(row, name))
    except (AttributeDeserializationError, ValueError, TypeError, RecursionError) as error:
        raise UnreadableRow(f"{raw['key']['S']}: {error}") from error
    wrong = [name for name in _required if getattr(row, name) is None] or _out_of_range(row)
    if wrong or _contradicts_itself(row):
        raise UnreadableRow(f"{row.key}: state={row.state!r} wrong={wrong}")
    return row


def _out_of_range(row: Lease) -> list[str]:
    wrong = [name for name in _times if not 0 <= (getattr(row, name) or 0) <= _LONGEST_MS.get(name, LATEST_MS)]
    return wrong if 0 <= row.fence <= HIGHEST_FENCE else [*wrong, "fence"]


def _contradicts_itself(row: Lease) -> bool:
    return (
        row.state not in STATES
        or (row.state == HELD and not row.lease_id)
        or (row.state == DONE and row.done_until_ms is None)
        or (row.session_id is None) != (row.session_until_ms is None)
    )
