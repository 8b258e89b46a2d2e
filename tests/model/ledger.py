"""Sees every change of every row as it lands, and holds it against the rules that need no knowledge of the verbs."""

from collections import Counter

from chalicelib.events import Event, PoisonImage, event_of
from chalicelib.row import HELD
from tests.model.clocks import DAY_MS, TrueTime
from tests.model.expressions import Row
from tests.model.holders import Holders, Life
from tests.model.rules import Rule, Watch

LEASES, SESSIONS = "leases", "sessions"
RETENTION_MS = 7 * DAY_MS
# How a lease ends by the will of its holder, of its session's owner, of an admin, or by time.
ENDS = frozenset({"released", "failed", "done", "expired", "evicted"})
STEERED = frozenset({"evicted", "cancel_requested", "reopened"})
GRANTS = frozenset({"claimed", "taken_over", "handed_over"})


class Ledger:
    def __init__(self, time: TrueTime, watch: Watch, *, heartbeats_are_logged: bool) -> None:
        self._time = time
        self._watch = watch
        self._silent = frozenset() if heartbeats_are_logged else frozenset({"heartbeat"})
        self.holders = Holders(watch)
        self.step = 0
        self.counted: Counter[str] = Counter()
        self.events: dict[str, list[Event]] = {}
        self.steered: Counter[tuple[str, str]] = Counter()
        self._highest_fence: dict[str, int] = {}
        self._deleted: set[str] = set()
        self._last_steered: dict[str, str] = {}

    def changed(self, table: str, old: Row | None, new: Row | None) -> None:
        self.step += 1
        if table == SESSIONS:
            self._session_changed(old, new)
        elif new is None:
            self._cleaned_up(old or {})
        elif not new["key"]["S"].startswith("#"):
            self._lease_changed(old, new)

    def _lease_changed(self, old: Row | None, new: Row) -> None:
        self._check_end(old, new)
        self._check_ttl(new)
        event = self._event(old, new)
        if event is None:
            return
        self.events.setdefault(event.key, []).append(event)
        self.counted[event.type] += 1
        if event.type in GRANTS:
            self._granted(old, new, event)
        if event.type in ENDS:
            self._ended(old or {}, event)
        if event.type in STEERED:
            self._steered(event, new["last_request"]["S"])

    def _event(self, old: Row | None, new: Row) -> Event | None:
        key = new["key"]["S"]
        try:
            event = event_of(old, new)
        except PoisonImage as error:
            self._watch.require(False, Rule.EVENT, f"{key}: {error}")
            return None
        rev, expected = _number(new, "rev"), (_number(old, "rev") if old else 0)
        is_silent = new["op"]["S"] in self._silent
        self._watch.require(rev == expected + (not is_silent), Rule.EVENT, f"{key}: rev {expected} became {rev}")
        self._watch.require((event is None) == is_silent, Rule.EVENT, f"{key}: {new['op']['S']} told as {event}")
        last = self.events.get(key)
        if event and last:
            place, before = (event.fence, event.rev), (last[-1].fence, last[-1].rev)
            self._watch.require(place > before, Rule.EVENT, f"{key}: {place} told after {before}")
        return event

    def _steered(self, event: Event, request: str) -> None:
        """Its repeat is known by the row, as long as nobody else has steered the job in between."""
        again = self._last_steered.get(event.key) == request
        self._watch.require(not again, Rule.EVENT, f"{event.key} was {event.type} twice by {request}")
        self._last_steered[event.key] = request
        self.steered[event.type, request] += 1

    def _granted(self, old: Row | None, new: Row, event: Event) -> None:
        key, lease_id = event.key, new["lease_id"]["S"]
        above = self._highest_fence.get(key, 0)
        self._watch.require(event.fence > above, Rule.FENCE, f"{key}: {event.fence} was granted after {above}")
        self._highest_fence[key] = max(event.fence, above)
        self._watch.require(lease_id not in self.holders.lives, Rule.REVIVED, f"{key}: {lease_id} is granted again")
        is_same_key = old is not None and all(old.get(one) == new[one] for one in ("idempotency_key", "principal"))
        self._watch.require(not is_same_key, Rule.KEY, f"{key}: {new['idempotency_key']['S']} is granted afresh")
        if old is not None and old["state"]["S"] == HELD:
            self._over(old, event.type)
        self.holders.born(self._life(new))

    def _life(self, new: Row) -> Life:
        return Life(
            key=new["key"]["S"],
            lease_id=new["lease_id"]["S"],
            session_id=new["session_id"]["S"] if "session_id" in new else None,
            born_us=self._time.us,
            born_step=self.step,
            own_end_ms=_number(new, "expires_at_ms"),
        )

    def _ended(self, old: Row, event: Event) -> None:
        self._over(old, event.type)
        is_overridden = event.type == "evicted" or old.get("session_id", {}).get("S") in self._deleted
        if is_overridden and "lease_id" in old:
            self.counted["overridden"] += 1
            self.holders.no_longer(old["lease_id"]["S"], self._time.us)

    def _over(self, old: Row, how: str) -> None:
        lease_id = old.get("lease_id", {}).get("S", "")
        life = self.holders.lives.get(lease_id)
        self._watch.require(
            life is not None and life.ended_step is None, Rule.REVIVED, f"{lease_id} ended a second time"
        )
        if life is not None:
            life.ended_step, life.ended_as = self.step, how

    def _check_end(self, old: Row | None, new: Row) -> None:
        if "lease_id" not in new:
            return
        life = self.holders.lives.get(new["lease_id"]["S"])
        if life is None:
            return
        self._watch.require(life.ended_step is None, Rule.REVIVED, f"{life} is in its row again")
        life.own_end_ms = max(life.own_end_ms, _number(new, "expires_at_ms"))
        if old is None or old.get("lease_id") != new["lease_id"]:
            return
        for end in ("expires_at_ms", "session_until_ms"):
            if end in old and end in new:
                moved_ms = _number(new, end) - _number(old, end)
                self._watch.require(moved_ms >= 0, Rule.EXPIRY, f"{life}: {end} moved by {moved_ms} ms")

    def _check_ttl(self, new: Row) -> None:
        key = new["key"]["S"]
        if new["state"]["S"] == HELD and "session_id" in new:
            self._watch.require("ttl" not in new, Rule.TTL, f"{key} hangs on a session and has a ttl")
            return
        last_ms = max(_number(new, "expires_at_ms"), _number(new, "fence") // 1000, _number(new, "done_until_ms"))
        spare_ms = _number(new, "ttl") * 1000 - last_ms - RETENTION_MS
        self._watch.require(0 <= spare_ms < 100 * DAY_MS, Rule.TTL, f"{key}: ttl leaves {spare_ms} ms to spare")

    def _cleaned_up(self, old: Row) -> None:
        self.counted["cleaned up"] += 1
        life = self.holders.lives.get(old.get("lease_id", {}).get("S", ""))
        if life is not None and life.ended_step is None:
            self._over(old, "cleaned up")
            is_free = life.believed_until_us <= self._time.us
            self._watch.require(is_free, Rule.TTL, f"{life} was cleaned away while it was held")

    def _session_changed(self, old: Row | None, new: Row | None) -> None:
        if new is None:
            self.counted["session cleaned up"] += 1
            return
        session_id, state = new["session_id"]["S"], new["state"]["S"]
        session = self.holders.session(session_id)
        end_ms, was_alive = _number(new, "expires_at_ms"), old is None or old["state"]["S"] == "alive"
        self._watch.require(was_alive or state != "alive", Rule.REVIVED, f"session {session_id[-6:]} lives again")
        kept = was_alive or end_ms == session.latest_end_ms
        self._watch.require(kept, Rule.REVIVED, f"session {session_id[-6:]} was kept alive after its death")
        self._watch.require(end_ms >= session.latest_end_ms, Rule.EXPIRY, f"the end of session {session_id[-6:]}")
        session.latest_end_ms = max(end_ms, session.latest_end_ms)
        spare_ms = _number(new, "ttl") * 1000 - end_ms - RETENTION_MS
        self._watch.require(spare_ms >= 0, Rule.TTL, f"session {session_id[-6:]}: {spare_ms} ms to spare")
        if was_alive and state != "alive":
            self.counted[f"session {state}"] += 1
        if state == "deleted":
            self._session_deleted(session_id)

    def _session_deleted(self, session_id: str) -> None:
        self._deleted.add(session_id)
        for life in self.holders.session(session_id).leases:
            self.holders.no_longer(life.lease_id, self._time.us)


def _number(row: Row, name: str) -> int:
    return int(row[name]["N"]) if name in row else 0
