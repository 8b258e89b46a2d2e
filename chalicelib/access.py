"""The token face: create, list, revoke, rotate. A token never makes one that may do more than itself."""

import secrets

import msgspec

from chalicelib import auth, parse, wire
from chalicelib.auth import Principal
from chalicelib.call import Answer, Call
from chalicelib.clock import Now
from chalicelib.errors import Forbidden, InvalidInput, NotFound
from chalicelib.names import checked_prefix
from chalicelib.times import rfc3339
from chalicelib.tokens import NEVER, NewToken, Token, bearer

DEFAULT_SCOPES: tuple[wire.Scope, ...] = ("claim",)


def new_id() -> str:
    return secrets.token_hex(8)


def new_secret() -> str:
    return secrets.token_hex(32)


def create(call: Call) -> Answer:
    body = call.exact_body(wire.CreateToken)
    token_id, creator = new_id(), call.principal
    new = NewToken(
        token_id=token_id,
        secret=new_secret(),
        namespace=creator.namespace,
        label=body.label or f"token-{token_id}",
        scopes=sorted(set(body.scopes or DEFAULT_SCOPES)),
        prefix=_no_wider(body.prefix, creator),
        lifetime_ms=_no_longer(body.expires_in_seconds, creator, call.clock.now()),
    )
    return Answer(_shown_once(call.service.tokens.create(new, call.clock), new.bearer), status=201, outcome="created")


def _no_wider(prefix: str | None, creator: Principal) -> str:
    asked = creator.prefix if prefix is None else checked_prefix(prefix)
    if not asked.startswith(creator.prefix):
        raise Forbidden(
            f"prefix: this token is for names that start with {creator.prefix!r}, so the new one's prefix must too.",
            field="prefix",
        )
    return asked


def _no_longer(seconds: int | None, creator: Principal, now: Now) -> int | None:
    if creator.expires_at_ms == NEVER:
        return None if seconds is None else seconds * 1000
    left_ms = creator.expires_at_ms - now.ms
    if seconds is not None and seconds * 1000 > left_ms:
        raise Forbidden(
            f"expires_in_seconds: this token has {left_ms // 1000} s left, and the new one may not outlive it.",
            field="expires_in_seconds",
        )
    return left_ms if seconds is None else seconds * 1000


def rotate(call: Call) -> Answer:
    token_id, old_secret = auth.parts(call.request.authorization)
    secret = new_secret()
    token = call.service.tokens.rotate(token_id, old_secret=old_secret, new_secret=secret, clock=call.clock)
    call.service.authenticator.forget(token_id, old_secret)
    return Answer(_shown_once(token, bearer(token_id, secret)), outcome="rotated")


def revoke(call: Call, token_id: str) -> Answer:
    token = call.service.tokens.find(token_id, call.clock) if auth.is_token_id(token_id) else None
    if token is None or not _may_see(call.principal, token):
        raise NotFound("There is no such token. GET /tokens lists yours.")
    call.service.tokens.revoke(token_id, call.clock)
    call.service.authenticator.forget_all_of(token_id)
    return Answer(None, status=204, outcome="revoked")


def list_tokens(call: Call) -> Answer:
    limit = parse.page_size(call.request.query)
    after = _cursor(call.request.query.get("cursor"))
    found = call.service.tokens.list(call.principal.namespace, after=after, limit=limit + 1, clock=call.clock)
    page = found[:limit]
    facts = [_facts(token) for token in page if _may_see(call.principal, token)]
    return Answer(wire.TokenPage(facts, page[-1].token_id if len(found) > limit else None))


def _may_see(principal: Principal, token: Token) -> bool:
    return token.namespace == principal.namespace and token.prefix.startswith(principal.prefix)


def _cursor(text: str | None) -> str:
    """Token ids are hexadecimal, so `0` comes before the first."""
    if text is None:
        return "0"
    if not auth.is_token_id(text):
        raise InvalidInput("cursor: this is not one of ours. Send next_cursor of the page before.", field="cursor")
    return text


def _shown_once(token: Token, secret: str) -> wire.NewToken:
    return wire.NewToken(**msgspec.structs.asdict(_facts(token)), token=secret)


def _facts(token: Token) -> wire.TokenFacts:
    return wire.TokenFacts(
        id=token.token_id,
        namespace=token.namespace,
        label=token.label,
        scopes=token.scopes.split(),  # type: ignore[arg-type]
        prefix=token.prefix or None,
        created_at=rfc3339(int(token.created_at_ms)),
        expires_at=_time_or_none(token.expires_at_ms),
        revoked_at=_time_or_none(token.revoked_at_ms),
    )


def _time_or_none(ms: float) -> str | None:
    return None if ms == NEVER else rfc3339(int(ms))
