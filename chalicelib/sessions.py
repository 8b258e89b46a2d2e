"""Sessions: a worker with many jobs keeps one thing alive instead of all of them.

A keepalive is one write, however many leases hang on the session. Its death is written before anybody acts on it,
because a keepalive that read its clock in time may land late:

      keepalive reads its clock   |                    lands: refused, the session is dead
      contender                   |  end + margin has passed, writes `dead`, takes over
"""

from dataclasses import dataclass
from functools import partial

import msgspec
from pynamodb.attributes import JSONAttribute, UnicodeAttribute
from pynamodb.exceptions import AttributeDeserializationError
from pynamodb.models import Model

from chalicelib.auth import Principal
from chalicelib.clock import Clock, Now
from chalicelib.errors import NotFound, SessionExpired, UpstreamUnavailable
from chalicelib.forms import Write, compile_form, number, text
from chalicelib.row import LATEST_MS, RawRow, WholeNumberAttribute
from chalicelib.store import Applied, Store

ALIVE, DEAD, DELETED = "alive", "dead", "deleted"
LONGEST_TTL_MS = 3_600_000
# A session's row outlives its end by 7 days, and a day for clocks that were wrong: one that TTL has cleaned away is
# dead to every lease that names it.
RETENTION_MS = 8 * 24 * 3600 * 1000


class Session(Model):
    class Meta:
        table_name = "sessions"  # a placeholder: the store puts the stage's own name into each call
        region = "us-east-1"

    session_id = UnicodeAttribute(hash_key=True)
    state = UnicodeAttribute()
    namespace = UnicodeAttribute()
    principal = UnicodeAttribute()
    owner = UnicodeAttribute()
    metadata = JSONAttribute(null=True)
    created_at_ms = WholeNumberAttribute()
    heartbeat_at_ms = WholeNumberAttribute()
    expires_at_ms = WholeNumberAttribute()
    ttl_ms = WholeNumberAttribute()
    ttl = WholeNumberAttribute()


_required = tuple(name for name, attribute in Session.get_attributes().items() if not attribute.null)


@dataclass(frozen=True, slots=True)
class NewSession:
    session_id: str
    owner: str
    metadata_json: str
    ttl_ms: int


@dataclass(frozen=True, slots=True)
class Alive:
    """As far as anybody may know: its death is not written, and its end lies ahead or has not passed the margin."""

    until_ms: int


@dataclass(frozen=True, slots=True)
class Dead:
    """It is written, or the session is gone: for good."""


_theirs = (Session.namespace == text("namespace")) & (Session.principal == text("principal"))
_is_alive = Session.state == ALIVE

CREATE = compile_form(
    Session,
    condition=Session.session_id.does_not_exist(),
    actions=(
        Session.state.set(ALIVE),
        Session.namespace.set(text("namespace")),
        Session.principal.set(text("principal")),
        Session.owner.set(text("owner")),
        Session.metadata.set(text("metadata")),
        Session.created_at_ms.set(number("now_ms")),
        Session.heartbeat_at_ms.set(number("now_ms")),
        Session.expires_at_ms.set(number("expires_at_ms")),
        Session.ttl_ms.set(number("ttl_ms")),
        Session.ttl.set(number("ttl")),
    ),
    returns="ALL_NEW",
)
KEEPALIVE = compile_form(
    Session,
    condition=_is_alive
    & _theirs
    & (Session.expires_at_ms > number("free_before_ms"))
    & (Session.heartbeat_at_ms <= number("now_ms")),
    actions=(
        Session.heartbeat_at_ms.set(number("now_ms")),
        Session.expires_at_ms.set(Session.ttl_ms + number("now_ms")),
        Session.ttl.set(number("ttl")),
    ),
    returns="ALL_NEW",
)
JUDGE = compile_form(
    Session,
    condition=_is_alive & (Session.expires_at_ms <= number("free_before_ms")),
    actions=(Session.state.set(DEAD),),
)
DELETE = compile_form(Session, condition=_theirs, actions=(Session.state.set(DELETED),))


def create(new: NewSession, by: Principal, now: Now) -> Write:
    return Write(
        CREATE,
        new.session_id,
        {
            "namespace": by.namespace,
            "principal": by.id,
            "owner": new.owner,
            "metadata": new.metadata_json,
            "now_ms": now.ms,
            "expires_at_ms": now.ms + new.ttl_ms,
            "ttl_ms": new.ttl_ms,
            "ttl": _ttl_seconds(now),
        },
    )


def keepalive(session_id: str, by: Principal, now: Now) -> Write:
    """Not dead, and not behind a later keepalive: its end never moves back."""
    values: dict[str, str | int] = {
        "namespace": by.namespace,
        "principal": by.id,
        "now_ms": now.ms,
        "free_before_ms": now.free_before_ms,
        "ttl": _ttl_seconds(now),
    }
    return Write(KEEPALIVE, session_id, values)


def judge(session_id: str, now: Now) -> Write:
    """Dead, on just the condition that makes it so. Never a write on a session that lives."""
    return Write(JUDGE, session_id, {"free_before_ms": now.free_before_ms})


def delete(session_id: str, by: Principal, _now: Now) -> Write:
    return Write(DELETE, session_id, {"namespace": by.namespace, "principal": by.id})


def _ttl_seconds(now: Now) -> int:
    return (now.ms + LONGEST_TTL_MS + RETENTION_MS) // 1000


class Sessions:
    def __init__(self, store: Store) -> None:
        self._store = store

    def create(self, new: NewSession, by: Principal, clock: Clock) -> Session:
        result = self._store.apply(partial(create, new, by), clock)
        # If it was refused, then by a row with our own new id: the reply of the first attempt was lost.
        return read(result.row or {"session_id": {"S": new.session_id}})

    def keepalive(self, session_id: str, by: Principal, clock: Clock) -> Session:
        result = self._store.apply(partial(keepalive, session_id, by), clock)
        row = _of(by, result.row)
        if isinstance(result, Applied) or (row.state == ALIVE and row.expires_at_ms > result.now.free_before_ms):
            return row
        match self.judged(session_id, clock):
            case Alive():
                return _of(by, self._store.get({"session_id": {"S": session_id}}, clock))
            case Dead():
                raise expired()

    def get(self, session_id: str, by: Principal, clock: Clock) -> Session:
        return _of(by, self._store.get({"session_id": {"S": session_id}}, clock))

    def delete(self, session_id: str, by: Principal, clock: Clock) -> None:
        """A second time is a success too."""
        result = self._store.apply(partial(delete, session_id, by), clock)
        if not isinstance(result, Applied):
            raise _gone()

    def judged(self, session_id: str, clock: Clock) -> Alive | Dead:
        """What a contender may act upon: one read while it lives; a death is written before it is told."""
        now = clock.now()
        seen = _standing(self._store.get({"session_id": {"S": session_id}}, clock))
        if isinstance(seen, Dead) or seen.until_ms > now.free_before_ms:
            return seen
        result = self._store.apply(partial(judge, session_id), clock)
        return Dead() if isinstance(result, Applied) else _standing(result.row)

    def looked_up(self, session_id: str, clock: Clock) -> Alive | Dead:
        """What its own holder may act upon: an end that has passed but is not written is no death."""
        return _standing(self._store.get({"session_id": {"S": session_id}}, clock))

    def looked_up_all(self, session_ids: set[str], clock: Clock) -> dict[str, Alive | Dead]:
        """Those that can be read; one that somebody edited by hand is left out, and keeps nobody from the others."""
        rows = self._store.get_many([{"session_id": {"S": one}} for one in sorted(session_ids)], clock)
        found = {str(raw["session_id"]["S"]): raw for raw in rows}
        return {one: _standing(found.get(one)) for one in session_ids if one not in found or _is_readable(found[one])}


def read(raw: RawRow) -> Session:
    try:
        session = Session.from_raw_data(dict(raw))
        msgspec.json.encode(session.metadata)  # what cannot be shown cannot be read
    except (AttributeDeserializationError, ValueError, TypeError, RecursionError) as error:
        raise _unreadable(raw) from error
    if any(getattr(session, name) is None for name in _required) or not _makes_sense(session):
        raise _unreadable(raw)
    return session


def _makes_sense(session: Session) -> bool:
    times = (session.created_at_ms, session.heartbeat_at_ms, session.expires_at_ms)
    return (
        session.state in (ALIVE, DEAD, DELETED)
        and 0 < session.ttl_ms <= LONGEST_TTL_MS
        and all(0 <= ms <= LATEST_MS for ms in times)
    )


def _is_readable(raw: RawRow) -> bool:
    try:
        read(raw)
    except UpstreamUnavailable:
        return False
    return True


def expired() -> SessionExpired:
    return SessionExpired("This session has ended, and every lease in it. Make a new one with POST /sessions.")


def _of(by: Principal, raw: RawRow | None) -> Session:
    """Somebody else's session, a deleted one and one that never was look the same."""
    session = read(raw) if raw else None
    if session is None or session.state == DELETED:
        raise _gone()
    if (session.namespace, session.principal) != (by.namespace, by.id):
        raise _gone()
    return session


def _standing(raw: RawRow | None) -> Alive | Dead:
    if raw is None:
        return Dead()
    session = read(raw)
    return Alive(session.expires_at_ms) if session.state == ALIVE else Dead()


def _gone() -> NotFound:
    return NotFound("There is no such session. Make one with POST /sessions.", field="session_id")


def _unreadable(raw: RawRow) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "What is stored of this session cannot be read. An operator must mend its row.",
        logged=f"unreadable session: {raw['session_id']['S']}",
    )
