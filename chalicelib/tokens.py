"""Tokens: `olt_<id>_<secret>`. The id names the row, the secret is kept only as its SHA-256."""

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from chalicelib import token_row
from chalicelib.clock import Clock, Now
from chalicelib.errors import AuthenticationFailed, NotFound, UpstreamUnavailable
from chalicelib.forms import Write, compile_form, number, text
from chalicelib.row import RawRow
from chalicelib.store import Applied, Refused, Store
from chalicelib.token_row import NEVER, Unreadable
from chalicelib.token_row import Token as Token

# How long a revoked or expired token is still listed, so that people see what became of it.
KEPT_SECONDS = 30 * 24 * 3600


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


def new_id() -> str:
    return secrets.token_hex(8)


def new_secret() -> str:
    return secrets.token_hex(32)


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
CREATE = compile_form(Token, condition=_is_new, actions=_about_token, returns="ALL_NEW")
CREATE_EXPIRING = compile_form(
    Token, condition=_is_new, actions=(*_about_token, Token.ttl.set(number("ttl"))), returns="ALL_NEW"
)
ROTATE = compile_form(
    Token,
    condition=(Token.secret_hash == text("old_hash")) & (Token.revoked_at_ms == NEVER),
    actions=(Token.secret_hash.set(text("secret_hash")),),
    returns="ALL_NEW",
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
        stored = _with_secret(new.secret, self._store.apply(partial(create, new), clock))
        if stored is None:
            raise UpstreamUnavailable(
                "The token could not be stored. Try again.",
                logged=f"token id {new.token_id} is taken",
                retry_after_ms=1000,
            )
        return stored

    def rotate(self, token_id: str, *, old_secret: str, new_secret: str, clock: Clock) -> Token:
        """The old secret ends and the new one begins in one write; of two at the same time, one is refused."""
        write = partial(rotate, token_id, old_secret, new_secret)
        stored = _with_secret(new_secret, self._store.apply(write, clock))
        if stored is None:
            raise AuthenticationFailed
        return stored

    def revoke(self, token_id: str, clock: Clock) -> None:
        """A second time is a success too."""
        result = self._store.apply(partial(revoke, token_id), clock)
        if not isinstance(result, Applied) and result.row is None:
            raise NotFound("There is no such token. GET /tokens lists yours.")

    def find(self, token_id: str, clock: Clock) -> Token | None:
        raw = self._store.get({"token_id": {"S": token_id}}, clock)
        return _readable(raw) if raw else None

    def list(self, namespace: str, *, after: str, page: int, clock: Clock) -> Iterator[Token | Unreadable]:
        """All of a namespace in the order of their ids, read a page at a time as far as the caller goes on."""
        while True:
            found = self._page(namespace, after, page, clock)
            yield from map(token_row.read, found)
            if len(found) < page:
                return
            after = found[-1]["token_id"]["S"]

    def _page(self, namespace: str, after: str, limit: int, clock: Clock) -> Sequence[RawRow]:
        return self._store.query(
            clock,
            IndexName="by_namespace",
            KeyConditionExpression="#namespace = :namespace AND token_id > :after",
            ExpressionAttributeNames={"#namespace": "namespace"},
            ExpressionAttributeValues={":namespace": {"S": namespace}, ":after": {"S": after}},
            Limit=limit,
        )


def _with_secret(secret: str, result: Applied | Refused) -> Token | None:
    """The token, if it has this secret now: given by this write, or by an attempt of it whose answer was lost."""
    stored = _readable(result.row) if result.row else None
    return stored if stored and stored.secret_hash == digest(secret) else None


def _readable(raw: RawRow) -> Token:
    row = token_row.read(raw)
    if isinstance(row, Unreadable):
        raise UpstreamUnavailable(
            "This token cannot be read, so nothing is allowed by it. Ask an admin for another one.",
            logged=f"the row of token {row.token_id} is unreadable: {row.why}",
            retry_after_ms=1000,
        )
    return row
