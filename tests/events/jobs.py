"""The rows that the verbs leave behind, as a stream shows them: before and after each write."""

from dataclasses import dataclass
from typing import Any

from chalicelib.row import DONE, EVICTED, EXPIRED, FAILED, HANDED_OVER, HELD, RELEASED, Lease, RawRow

START_MS = 1_795_000_000_000
SECRETS = ("lease_id", "last_lease_id", "session_id", "idempotency_key", "body_hash", "last_request")

Values = dict[str, Any]


@dataclass(frozen=True)
class Change:
    old: RawRow | None
    new: RawRow | None


def image(values: Values | None) -> RawRow | None:
    if values is None:
        return None
    raw: RawRow = Lease(**values).serialize()
    return raw


class Job:
    """One name. Each verb is a second after the one before, and has secrets of its own that can be told apart."""

    def __init__(self, name: str = "job", *, namespace: str = "default", now_ms: int = START_MS) -> None:
        self.key = f"{namespace}/{name}"
        self.row: Values | None = None
        self.now_ms = now_ms

    def claim(self, owner: str = "agent", *, principal: str = "p1", session_id: str | None = None) -> Change:
        now, last = self._tick(), self.row or {}
        return self._write(
            key=self.key,
            state=HELD,
            op="claim",
            at_ms=now,
            rev=last.get("rev", 0) + 1,
            attempt=last.get("attempt", 0) + 1,
            fence=now * 1000,
            owner=owner,
            principal=principal,
            metadata={"host": "secret-metadata"},
            checkpoint=last.get("checkpoint"),
            lease_id=f"secret-lease-{now}",
            last_lease_id=last.get("last_lease_id"),
            idempotency_key=f"secret-key-{now}",
            body_hash="secret-hash",
            held_in="1",
            acquired_at_ms=now,
            heartbeat_at_ms=now,
            expires_at_ms=now + 60_000,
            lease_ttl_ms=60_000,
            lock_delay_ms=0,
            available_at_ms=now + 60_000,
            session_id=session_id,
            session_until_ms=now + 90_000 if session_id else None,
            ended=EXPIRED,
            previous_owner=last.get("owner", ""),
            previous_ended=last.get("ended", ""),
            previous_ended_at_ms=last.get("expires_at_ms", 0),
            previous_reason=last.get("reason") or "",
            ttl=now // 1000 + 8 * 86_400,
        )

    def heartbeat(self, *, logged: bool = False) -> Change:
        now = self._tick()
        rev = self.held["rev"] + (1 if logged else 0)
        kept = {**self.held, "op": "heartbeat", "rev": rev, "checkpoint": {"step": "secret-checkpoint"}}
        at_ms = now if logged else self.held["at_ms"]
        return self._write(**{**kept, "at_ms": at_ms, "heartbeat_at_ms": now, "expires_at_ms": now + 60_000})

    def release(self) -> Change:
        return self._end("release", RELEASED, RELEASED, attempt=0)

    def fail(self, reason: str = "no disk") -> Change:
        return self._end("release", RELEASED, FAILED, reason=reason)

    def finish(self, result: object = None, *, retain_ms: int = 3_600_000) -> Change:
        until_ms = self.now_ms + 1000 + retain_ms
        return self._end("release", DONE, DONE, attempt=0, result=result, done_until_ms=until_ms, checkpoint=None)

    def expire(self) -> Change:
        end_ms = self.held["expires_at_ms"]
        self.now_ms = max(self.now_ms, end_ms + 30_000)
        return self._end("expire", EXPIRED, EXPIRED, expires_at_ms=end_ms)

    def evict(self, reason: str = "stuck") -> Change:
        return self._end("evict", RELEASED, EVICTED, reason=reason, last_request="admin secret-request")

    def cancel(self, reason: str = "not needed") -> Change:
        return self._changed("cancel", cancel_reason=reason, last_request="admin secret-request")

    def reopen(self, reason: str = "once more") -> Change:
        cleared = {"result": None, "done_until_ms": None, "checkpoint": None}
        return self._changed(
            "reopen", state=RELEASED, attempt=0, reason=reason, last_request="admin secret-request", **cleared
        )

    def hand_over(self, to_owner: str = "heir", *, principal: str = "p1") -> Change:
        now = self.now_ms + 1000
        return self._changed(
            "handover",
            fence=self.held["fence"] + 1,
            owner=to_owner,
            principal=principal,
            lease_id=f"secret-lease-{now}",
            acquired_at_ms=now,
            expires_at_ms=now + 60_000,
            session_id=None,
            session_until_ms=None,
            cancel_reason=None,
            ended=EXPIRED,
            previous_owner=self.held["owner"],
            previous_ended=HANDED_OVER,
            previous_ended_at_ms=now,
            previous_reason="",
        )

    def removed_by_ttl(self) -> Change:
        change = Change(image(self.row), None)
        self.row = None
        return change

    @property
    def held(self) -> Values:
        assert self.row is not None
        return self.row

    def _end(self, op: str, state: str, ended: str, **values: Any) -> Change:
        over = {"lease_id": None, "held_in": None, "session_id": None, "session_until_ms": None, "cancel_reason": None}
        end = {"last_lease_id": self.held["lease_id"], "expires_at_ms": self.now_ms + 1000, "ended": ended}
        return self._changed(op, **{**over, **end, "state": state, **values})

    def _changed(self, op: str, **values: Any) -> Change:
        said = {"op": op, "at_ms": self._tick(), "rev": self.held["rev"] + 1}
        return self._write(**{**self.held, **said, **values})

    def _write(self, **values: Any) -> Change:
        before, self.row = self.row, values
        return Change(image(before), image(values))

    def _tick(self) -> int:
        self.now_ms += 1000
        return self.now_ms
