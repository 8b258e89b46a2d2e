"""Tokens: `olt_<id>_<secret>`. The id names the row, the secret is kept only as its SHA-256."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model

from chalicelib.clock import Clock, Now
from chalicelib.errors import AuthenticationFailed, NotFound, UpstreamUnavailable
from chalicelib.forms import Write, compile_form, number, text
from chalicelib.row import RawRow
from chalicelib.store import Applied, Store

# How long a revoked or expired token is still listed, so that people see what became of it.
KEPT_SECONDS = 30 * 24 * 3600
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
    created_at_ms = NumberAttribute()
    expires_at_ms = NumberAttribute()
    revoked_at_ms = NumberAttribute()
    ttl = NumberAttribute(null=True)


@dataclass(frozen=True, slots=True)
class NewToken:
    token_id: str
    secret: str
    namespace: str
    label: str
    scopes: Sequence[str]
    prefix: str
    lifetime_ms: int | None

    @property
    def bearer(self) -> str:
        return bearer(self.token_id, self.secret)


def bearer(token_id: str, secret: str) -> str:
    return f"olt_{token_id}_{secret}"


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


_about_token = (
    Token.namespace.set(text("namespace")),
    Token.secret_hash.set(text("secret_hash")),
    Token.label.set(text("label")),
    Token.scopes.set(text("scopes")),
    Token.prefix.set(text("prefix")),
    Token.created_at_ms.set(number("now_ms")),
    Token.expires_at_ms.set(number("expires_at_ms")),
    Token.revoked_at_ms.set(NEVER),
)
_is_new = Token.token_id.does_not_exist()
CREATE = compile_form(Token, condition=_is_new, actions=_about_token)
CREATE_EXPIRING = compile_form(Token, condition=_is_new, actions=(*_about_token, Token.ttl.set(number("ttl"))))
ROTATE = compile_form(
    Token,
    condition=(Token.secret_hash == text("old_hash")) & (Token.revoked_at_ms == NEVER),
    actions=(Token.secret_hash.set(text("secret_hash")),),
)
REVOKE = compile_form(
    Token,
    condition=Token.token_id.exists() & (Token.revoked_at_ms == NEVER),
    actions=(Token.revoked_at_ms.set(number("now_ms")), Token.ttl.set(number("ttl"))),
)


def create(new: NewToken, now: Now) -> Write:
    values: dict[str, str | int] = {
        "namespace": new.namespace,
        "secret_hash": digest(new.secret),
        "label": new.label,
        "scopes": " ".join(new.scopes),
        "prefix": new.prefix,
        "now_ms": now.ms,
        "expires_at_ms": NEVER,
    }
    if new.lifetime_ms is None:
        return Write(CREATE, new.token_id, values)
    ends_ms = now.ms + new.lifetime_ms
    return Write(
        CREATE_EXPIRING, new.token_id, {**values, "expires_at_ms": ends_ms, "ttl": ends_ms // 1000 + KEPT_SECONDS}
    )


def rotate(token_id: str, old_secret: str, new_secret: str, _now: Now) -> Write:
    return Write(ROTATE, token_id, {"old_hash": digest(old_secret), "secret_hash": digest(new_secret)})


def revoke(token_id: str, now: Now) -> Write:
    return Write(REVOKE, token_id, {"now_ms": now.ms, "ttl": now.ms // 1000 + KEPT_SECONDS})


class Tokens:
    def __init__(self, store: Store) -> None:
        self._store = store

    def create(self, new: NewToken, clock: Clock) -> Token:
        self._store.apply(partial(create, new), clock)
        stored = self.find(new.token_id, clock)
        if stored is None or stored.secret_hash != digest(new.secret):
            raise UpstreamUnavailable(
                "The token could not be stored. Try again.",
                logged=f"token id {new.token_id} is taken",
                retry_after_ms=1000,
            )
        return stored

    def rotate(self, token_id: str, *, old_secret: str, new_secret: str, clock: Clock) -> Token:
        """The old secret ends and the new one begins in one write; of two at the same time, one is refused."""
        self._store.apply(partial(rotate, token_id, old_secret, new_secret), clock)
        stored = self.find(token_id, clock)
        if stored is None or stored.secret_hash != digest(new_secret):
            raise AuthenticationFailed
        return stored

    def revoke(self, token_id: str, clock: Clock) -> None:
        """A second time is a success too."""
        result = self._store.apply(partial(revoke, token_id), clock)
        if not isinstance(result, Applied) and result.row is None:
            raise NotFound("There is no such token. GET /tokens lists yours.")

    def find(self, token_id: str, clock: Clock) -> Token | None:
        raw = self._store.get({"token_id": {"S": token_id}}, clock)
        return _read(raw) if raw else None

    def list(self, namespace: str, *, after: str, limit: int, clock: Clock) -> Sequence[Token]:
        return [
            _read(raw)
            for raw in self._store.query(
                clock,
                IndexName="by_namespace",
                KeyConditionExpression="#namespace = :namespace AND token_id > :after",
                ExpressionAttributeNames={"#namespace": "namespace"},
                ExpressionAttributeValues={":namespace": {"S": namespace}, ":after": {"S": after}},
                Limit=limit,
            )
        ]


def _read(raw: RawRow) -> Token:
    return Token.from_raw_data(dict(raw))
