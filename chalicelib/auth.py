"""Who is asking, and what they may do."""

import hmac
import re
from dataclasses import dataclass

from chalicelib import tokens
from chalicelib.clock import Clock, Now
from chalicelib.errors import AuthenticationFailed, AuthenticationRequired, Forbidden
from chalicelib.token_row import NEVER, Token
from chalicelib.tokens import Tokens

# A revoked token is refused everywhere within this time: no warm Lambda trusts what it read for longer.
CACHE_MS = 30_000
CACHE_SIZE = 1_000
# A scope includes the ones below it.
INCLUDED = {"read": {"read"}, "claim": {"read", "claim"}, "admin": {"read", "claim", "admin"}}

_bearer = re.compile(r"Bearer +(?P<token>\S+)\s*", re.IGNORECASE)
_token_id = re.compile("[0-9a-f]{16}")
_token = re.compile(r"olt_(?P<id>[0-9a-f]{16})_(?P<secret>[0-9a-f]{64})")
# As people paste it into the wrong place: cut, changed in case, percent-encoded.
_like_a_token = re.compile(r"(olt(?:_|%5f)[0-9a-z]+(?:_|%5f))[0-9a-z]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Principal:
    """A token that was checked. `id` outlives its rotations, so a holder stays the same to others."""

    id: str
    namespace: str
    label: str
    scopes: frozenset[str]
    prefix: str
    expires_at_ms: int

    def require(self, scope: str) -> None:
        if scope not in self.scopes:
            raise Forbidden(
                f"This token lacks the scope {scope!r}. Ask an admin for one that has it.",
                required=scope,
                scopes=sorted(self.scopes),
            )

    def require_name(self, name: str) -> None:
        if not name.startswith(self.prefix):
            raise Forbidden(f"This token is for names that start with {self.prefix!r} alone.", prefix=self.prefix)


@dataclass(frozen=True, slots=True)
class Checked:
    principal: Principal
    at_ms: int


class Authenticator:
    def __init__(self, known: Tokens) -> None:
        self._known = known
        self._checked: dict[str, Checked] = {}

    def authenticate(self, authorization: str | None, clock: Clock) -> Principal:
        now = clock.now()
        token_id, secret = parts(authorization)
        cached = self._checked.get(tokens.digest(token_id + secret))
        if cached is None or not 0 <= now.ms - cached.at_ms < CACHE_MS:
            cached = self._look_up(token_id, secret, now, clock)
        if cached.principal.expires_at_ms != NEVER and cached.principal.expires_at_ms <= now.ms:
            raise AuthenticationFailed
        return cached.principal

    def forget(self, token_id: str, secret: str) -> None:
        self._checked.pop(tokens.digest(token_id + secret), None)

    def forget_all_of(self, token_id: str) -> None:
        """Revocation takes effect at once in the process that made it."""
        for known, checked in list(self._checked.items()):
            if checked.principal.id == token_id:
                self._checked.pop(known, None)

    def _look_up(self, token_id: str, secret: str, now: Now, clock: Clock) -> Checked:
        row = self._known.find(token_id, clock)
        expected = row.secret_hash if row else tokens.digest("")
        if not hmac.compare_digest(tokens.digest(secret), expected) or row is None or row.revoked_at_ms != NEVER:
            self.forget(token_id, secret)
            raise AuthenticationFailed
        if len(self._checked) >= CACHE_SIZE:
            self._checked.clear()
        checked = Checked(_principal(row), now.ms)
        self._checked[tokens.digest(token_id + secret)] = checked
        return checked


def is_token_id(text: str) -> bool:
    return _token_id.fullmatch(text) is not None


def masked(text: str) -> str:
    """Fit for a log: a token that was put into a URL by mistake keeps its id and loses its secret."""
    return _like_a_token.sub(r"\1***", text)


def parts(authorization: str | None) -> tuple[str, str]:
    given = _bearer.fullmatch(authorization or "")
    if given is None:
        raise AuthenticationRequired
    found = _token.fullmatch(given["token"])
    if found is None:
        raise AuthenticationFailed
    return found["id"], found["secret"]


def _principal(row: Token) -> Principal:
    return Principal(
        id=row.token_id,
        namespace=row.namespace,
        label=row.label,
        scopes=frozenset().union(*(INCLUDED[scope] for scope in row.scopes.split())),
        prefix=row.prefix,
        expires_at_ms=row.expires_at_ms,
    )
