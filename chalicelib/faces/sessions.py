"""Sessions: create, keep alive, look, delete."""

from uuid import UUID

from chalicelib import sessions
from chalicelib.call import Answer, Call
from chalicelib.errors import NotFound
from chalicelib.faces import asking
from chalicelib.faces.lock_answers import warned
from chalicelib.holders import pseudonym
from chalicelib.sessions import NewSession, Session
from chalicelib.times import rfc3339
from chalicelib.wire import sessions as wire


def create(call: Call) -> Answer:
    body = call.body(wire.CreateSession)
    ttl_seconds = body.ttl_seconds or wire.DEFAULT_TTL_SECONDS
    new = NewSession(
        session_id=str(call.service.draw()),
        owner=body.owner or call.principal.label,
        metadata_json=asking.metadata_json(body.metadata),
        ttl_ms=ttl_seconds * 1000,
    )
    session = call.service.sessions.create(new, call.principal, call.clock)
    answer = wire.SessionCreated(
        session_id=session.session_id,
        expires_at=rfc3339(session.expires_at_ms),
        expires_in_ms=_left_ms(call, session),
        keepalive_interval_secs=max(1, ttl_seconds // 2),
        warnings=warned(call.warnings),
    )
    return Answer(answer, status=201, outcome="created")


def keepalive(call: Call, segment: str) -> Answer:
    """It comes with no body and no content type; whatever body comes is ignored."""
    session = call.service.sessions.keepalive(_id(segment), call.principal, call.clock)
    answer = wire.SessionKept(session.session_id, rfc3339(session.expires_at_ms), _left_ms(call, session))
    return Answer(answer, outcome="kept")


def get(call: Call, segment: str) -> Answer:
    session = call.service.sessions.get(_id(segment), call.principal, call.clock)
    left_ms = _left_ms(call, session)
    answer = wire.SessionFacts(
        session_id=session.session_id,
        user_id=pseudonym(f"{session.namespace}/", session.principal),
        owner=session.owner,
        metadata=session.metadata,
        expires_at=rfc3339(session.expires_at_ms),
        expires_in_ms=left_ms,
        lock_count=call.service.bound.count(session.session_id, call.clock),
        active=session.state == sessions.ALIVE and left_ms > 0,
    )
    return Answer(answer)


def delete(call: Call, segment: str) -> Answer:
    """First its death, then its leases: a renewal in between is refused by the session."""
    session_id = _id(segment)
    call.service.sessions.delete(session_id, call.principal, call.clock)
    call.service.bound.end_all(session_id, call.clock)
    return Answer(None, status=204, outcome="deleted")


def _left_ms(call: Call, session: Session) -> int:
    return max(0, session.expires_at_ms - call.clock.now().ms)


def _id(segment: str) -> str:
    try:
        return str(UUID(segment))
    except ValueError:
        raise NotFound("There is no such session. Make one with POST /sessions.", field="session_id") from None
