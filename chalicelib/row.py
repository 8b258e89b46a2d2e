"""The row of a lease as DynamoDB keeps it."""

from collections.abc import Mapping
from typing import Any

import msgspec
from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import AttributeDeserializationError
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection
from pynamodb.models import Model

RawRow = Mapping[str, Mapping[str, Any]]

HELD, RELEASED, EXPIRED = "held", "released", "expired"
STATES = frozenset({HELD, RELEASED, EXPIRED})


class HeldIndex(GlobalSecondaryIndex["Lease"]):
    """What is held now, and nothing else: a row leaves it with its release, so a list never pays for history."""

    class Meta:
        index_name = "held"
        projection = KeysOnlyProjection()

    held_in = UnicodeAttribute(hash_key=True)
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

    state = UnicodeAttribute()
    op = UnicodeAttribute()
    rev = NumberAttribute()
    fence = NumberAttribute()
    ttl = NumberAttribute()

    lease_id = UnicodeAttribute(null=True)
    held_in = UnicodeAttribute(null=True)
    idempotency_key = UnicodeAttribute()
    body_hash = UnicodeAttribute()
    owner = UnicodeAttribute()
    principal = UnicodeAttribute()
    metadata = JSONAttribute(null=True)
    attempt = NumberAttribute()

    acquired_at_ms = NumberAttribute()
    heartbeat_at_ms = NumberAttribute()
    expires_at_ms = NumberAttribute()
    lease_ttl_ms = NumberAttribute()
    lock_delay_ms = NumberAttribute()
    available_at_ms = NumberAttribute()

    ended = UnicodeAttribute()
    last_lease_id = UnicodeAttribute(null=True)
    previous_owner = UnicodeAttribute()
    previous_ended = UnicodeAttribute()
    previous_ended_at_ms = NumberAttribute()


class UnreadableRow(Exception):
    """Somebody edited the row by hand: what it says cannot be trusted, so nobody is granted anything by it."""


_required = tuple(name for name, attribute in Lease.get_attributes().items() if not attribute.null)
_times = tuple(name for name in Lease.get_attributes() if name.endswith("_ms"))
# The last millisecond that RFC 3339 can write, and the last fence that a double can hold.
LATEST_MS = 253_402_300_799_999
HIGHEST_FENCE = 2**53 - 1


def read(raw: RawRow) -> Lease:
    try:
        row = Lease.from_raw_data(dict(raw))
        msgspec.json.encode(row.metadata)  # what cannot be shown cannot be read
    except (AttributeDeserializationError, ValueError, TypeError, RecursionError) as error:
        raise UnreadableRow(f"{raw['key']['S']}: {error}") from error
    wrong = [name for name in _required if getattr(row, name) is None] or _out_of_range(row)
    if wrong or row.state not in STATES or (row.state == HELD and not row.lease_id):
        raise UnreadableRow(f"{row.key}: state={row.state!r} wrong={wrong}")
    return row


def _out_of_range(row: Lease) -> list[str]:
    wrong = [name for name in _times if not 0 <= getattr(row, name) <= LATEST_MS]
    return wrong if 0 <= row.fence <= HIGHEST_FENCE else [*wrong, "fence"]
