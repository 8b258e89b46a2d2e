"""The row of a token as DynamoDB keeps it."""

import re
from dataclasses import dataclass
from typing import get_args

from pynamodb.attributes import UnicodeAttribute
from pynamodb.exceptions import AttributeDeserializationError
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model

from chalicelib import names
from chalicelib.row import LATEST_MS, RawRow, WholeNumberAttribute
from chalicelib.wire.parts import Scope

NEVER = 0


class NamespaceIndex(GlobalSecondaryIndex["Token"]):
    class Meta:
        index_name = "by_namespace"
        projection = AllProjection()

    namespace = UnicodeAttribute(hash_key=True)
    token_id = UnicodeAttribute(range_key=True)


class Token(Model):
    class Meta:
        table_name = "tokens"  # a placeholder: the store puts the stage's own name into each call
        region = "us-east-1"

    token_id = UnicodeAttribute(hash_key=True)
    by_namespace = NamespaceIndex()

    namespace = UnicodeAttribute()
    secret_hash = UnicodeAttribute()
    label = UnicodeAttribute()
    scopes = UnicodeAttribute()
    prefix = UnicodeAttribute()
    created_at_ms = WholeNumberAttribute()
    expires_at_ms = WholeNumberAttribute()
    revoked_at_ms = WholeNumberAttribute()
    ttl = WholeNumberAttribute(null=True)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Somebody edited the row by hand: what it allows cannot be known, so it allows nothing."""

    token_id: str
    why: str


_required = tuple(name for name, attribute in Token.get_attributes().items() if not attribute.null)
_times = tuple(name for name in Token.get_attributes() if name.endswith("_ms"))
_digest = re.compile("[0-9a-f]{64}")
_scopes = frozenset(get_args(Scope))


def read(raw: RawRow) -> Token | Unreadable:
    try:
        row = Token.from_raw_data(dict(raw))
    except (AttributeDeserializationError, ValueError, TypeError) as error:
        return Unreadable(raw["token_id"]["S"], str(error))
    wrong = [name for name in _required if getattr(row, name) is None] or _implausible(row)
    return Unreadable(row.token_id, f"wrong: {', '.join(wrong)}") if wrong else row


def _implausible(row: Token) -> list[str]:
    """A namespace with a `/` in it would reach into another one; a digest that is none breaks its comparison."""
    wrong = [name for name in _times if not 0 <= getattr(row, name) <= LATEST_MS]
    if not names.is_namespace(row.namespace):
        wrong.append("namespace")
    if not _digest.fullmatch(row.secret_hash):
        wrong.append("secret_hash")
    if not row.scopes.split() or not _scopes.issuperset(row.scopes.split()):
        wrong.append("scopes")
    return wrong
