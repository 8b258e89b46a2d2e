"""The rules of the design, each of which can be switched off, to show that the histories would notice."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from chalicelib import outcomes, row, sessions
from chalicelib.clock import Clock, Now
from chalicelib.forms import Form, compile_form
from chalicelib.outcomes import Claimed, Kept
from chalicelib.recovery import Pass
from chalicelib.row import Lease
from chalicelib.sessions import Alive, Dead, Sessions
from chalicelib.verbs import claim, heartbeat
from tests.model import answers

Switch = Callable[[], Any]


def without(form: Form, clause: str) -> Form:
    """The same form with a clause that always holds in the place of this one."""
    expression, found = re.subn(clause, ":now_ms = :now_ms", form.static["ConditionExpression"])
    assert found, f"no such clause: {clause}"
    return replace(form, static={**form.static, "ConditionExpression": expression})


@contextmanager
def _claims_compiled(**changed: Any) -> Iterator[None]:
    with patch.multiple(claim, **changed):
        claim.form.cache_clear()
        yield
    claim.form.cache_clear()


@contextmanager
def key_in_the_condition() -> Iterator[None]:
    def compiled(*of: Any, **by: Any) -> Form:
        return without(compile_form(*of, **by), r"\(#\d+ <> :idempotency_key OR #\d+ <> :principal\)")

    with _claims_compiled(compile_form=compiled):
        yield


@contextmanager
def expires_in_ms() -> Iterator[None]:
    """A claim that is answered again seems to have its whole TTL before it."""

    def whole_ttl_ms(outcome: Claimed | Kept) -> int:
        return outcome.row.lease_ttl_ms if isinstance(outcome, Claimed) else max(0, outcome.until_ms - outcome.now.ms)

    with patch.object(answers, "left_ms", whole_ttl_ms):
        yield


@contextmanager
def margin_of_the_contender() -> Iterator[None]:
    judged = claim.Claim._judged

    def without_margin(self: claim.Claim, now: Now) -> dict[str, int]:
        return {**judged(self, now), "free_before_ms": now.judged_ms}

    with patch.object(claim.Claim, "_judged", without_margin):
        yield


@contextmanager
def margin_of_the_sweep() -> Iterator[None]:
    look_at = Pass._look_at

    def without_margin(self: Pass, keys: Any, pool: Any, clock: Clock) -> Any:
        return look_at(self, keys, pool, _without_margin(clock))

    with patch.object(Pass, "_look_at", without_margin):
        yield


@contextmanager
def margin_of_the_judge() -> Iterator[None]:
    judged = Sessions.judged

    def without_margin(self: Sessions, session_id: str, clock: Clock) -> Alive | Dead:
        return judged(self, session_id, _without_margin(clock))

    with patch.object(Sessions, "judged", without_margin):
        yield


class _MarginlessClock(Clock):
    def now(self) -> Now:
        return replace(super().now(), margin_ms=0)


def _without_margin(clock: Clock) -> Clock:
    return _MarginlessClock(clock._read_us, stamp_ms=clock._stamp_ms, margin_ms=clock._margin_ms)


@contextmanager
def expiry_of_a_lease_never_back() -> Iterator[None]:
    def compiled(*of: Any, **by: Any) -> Form:
        form = compile_form(*of, **by)
        clause = r"#\d+ <= :expires_at_ms"
        return without(form, clause) if re.search(clause, form.static["ConditionExpression"]) else form

    with patch.object(heartbeat, "compile_form", compiled):
        heartbeat.form.cache_clear()
        yield
    heartbeat.form.cache_clear()


@contextmanager
def expiry_of_a_session_never_back() -> Iterator[None]:
    with patch.object(sessions, "KEEPALIVE", without(sessions.KEEPALIVE, r"#\d+ <= :now_ms")):
        yield


@contextmanager
def the_earlier_clock() -> Iterator[None]:
    now = Clock.now

    def own(self: Clock) -> Now:
        reading = now(self)
        return replace(reading, judged_ms=reading.ms)

    with patch.object(Clock, "now", own):
        yield


@contextmanager
def no_answer_beyond_the_session() -> Iterator[None]:
    def own_end(own_end_ms: int, session_until_ms: int | None, *, carried: bool) -> int:
        return session_until_ms if carried and session_until_ms else own_end_ms

    with patch.object(row, "authority_until_ms", own_end), patch.object(heartbeat, "authority_until_ms", own_end):
        yield


@contextmanager
def death_is_written() -> Iterator[None]:
    def only_looked_at(self: Sessions, session_id: str, clock: Clock) -> Alive | Dead:
        now, seen = clock.now(), self.looked_up(session_id, clock)
        return seen if isinstance(seen, Dead) or seen.until_ms > now.free_before_ms else Dead()

    with patch.object(Sessions, "judged", only_looked_at):
        yield


@contextmanager
def death_is_written_however_long_the_look_took() -> Iterator[None]:
    """The session was alive when it was read, and seems to be over when its reader looks at the clock again."""
    with patch.object(claim, "standing_judged", outcomes.standing_by):
        yield


@contextmanager
def carried_only_after_a_heartbeat() -> Iterator[None]:
    bind = tuple(action for action in claim._bind if "carried" not in str(action.values))
    with _claims_compiled(_bind=(*bind, Lease.carried.set(True))):
        yield
