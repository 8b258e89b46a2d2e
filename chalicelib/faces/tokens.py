"""The token face: create, list, revoke, rotate. A token never makes one that may do more than itself."""

from collections.abc import Iterator
from itertools import islice

import msgspec

from chalicelib import auth, cursors, parse
from chalicelib.auth import Principal
from chalicelib.call import Answer, Call
from chalicelib.clock import Now
from chalicelib.errors import Forbidden, NotFound
from chalicelib.names import checked_prefix
from chalicelib.times import rfc3339
from chalicelib.token_row import NEVER, Token, Unreadable
from chalicelib.tokens import NewToken, bearer, new_id, new_secret
from chalicelib.wire import tokens as wire
from chalicelib.wire.parts import Scope

DEFAULT_SCOPES: tuple[Scope, ...] = ("claim",)


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
    """The cursor is always an id that the caller was shown: of the tokens in between it learns nothing."""
    limit = parse.page_size(call.request.query)
    after = _cursor(call.request.query.get("cursor"))
    found = list(islice(_visible(call, after, read_at_once=limit + 1), limit + 1))
    page = found[:limit]
    return Answer(wire.TokenPage([_facts(token) for token in page], page[-1].token_id if len(found) > limit else None))


def _visible(call: Call, after: str, *, read_at_once: int) -> Iterator[Token]:
    namespace, sees_all = call.principal.namespace, not call.principal.prefix
    page = read_at_once if sees_all else parse.LARGEST_PAGE
    for token in call.service.tokens.list(namespace, after=after, page=page, clock=call.clock):
        if isinstance(token, Unreadable):
            call.note(f"left out of the list: the row of token {token.token_id} is unreadable: {token.why}")
        elif _may_see(call.principal, token):
            yield token


def _may_see(principal: Principal, token: Token) -> bool:
    return token.namespace == principal.namespace and token.prefix.startswith(principal.prefix)


def _cursor(text: str | None) -> str:
    """Token ids are hexadecimal, so `0` comes before the first."""
    if text is None:
        return "0"
    if not auth.is_token_id(text):
        raise cursors.foreign()
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
        created_at=rfc3339(token.created_at_ms),
        expires_at=_time_or_none(token.expires_at_ms),
        revoked_at=_time_or_none(token.revoked_at_ms),
    )


def _time_or_none(ms: int) -> str | None:
    return None if ms == NEVER else rfc3339(ms)
