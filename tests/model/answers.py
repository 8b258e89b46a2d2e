"""What callers make of an answer, and whether the answer was true."""

from collections import Counter
from dataclasses import dataclass

from chalicelib.outcomes import Claimed, Held, Kept
from chalicelib.row import Lease
from tests.model.clocks import MARGIN_MS, SKEW_US
from tests.model.ledger import GRANTS, Ledger
from tests.model.rules import Rule, Watch


@dataclass(frozen=True, slots=True)
class Sent:
    """A request on its way. `step`: how many changes had landed when it was sent."""

    at_us: int
    step: int


def left_ms(outcome: Claimed | Kept) -> int:
    """`expires_in_ms`, as both faces tell it."""
    return max(0, outcome.until_ms - outcome.now.ms)


class Answers:
    def __init__(self, ledger: Ledger, watch: Watch) -> None:
        self._ledger = ledger
        self._holders = ledger.holders
        self._watch = watch
        self.counted: Counter[str] = Counter()

    def claimed(self, outcome: Claimed, sent: Sent) -> None:
        row, lease_id = outcome.row, str(outcome.row.lease_id)
        if not self._was_current(lease_id, sent):
            return
        told = sum(event.fence == row.fence and event.type in GRANTS for event in self._ledger.events[row.key])
        self._watch.require(told == 1, Rule.EVENT, f"the grant of {lease_id} was told {told} times")
        self._believe(lease_id, outcome, sent, carried=bool(row.carried))

    def kept(self, outcome: Kept, sent: Sent) -> None:
        self.counted["late heartbeat"] += outcome.late
        self.counted["carried"] += outcome.carried
        if self._was_current(outcome.lease_id, sent):
            self._believe(outcome.lease_id, outcome, sent, carried=outcome.carried)

    def _believe(self, lease_id: str, outcome: Claimed | Kept, sent: Sent, *, carried: bool) -> None:
        life = self._holders.lives[lease_id]
        until_ms = outcome.until_ms
        within = carried or until_ms <= life.own_end_ms
        if life.session_id is not None:
            within &= until_ms <= self._holders.session(life.session_id).latest_end_ms
        self._watch.require(within, Rule.ANSWER, f"{life} was granted until {until_ms}, and no row ever said so")
        self._holders.told(lease_id, sent.at_us + left_ms(outcome) * 1000, carried=carried)

    def _was_current(self, lease_id: str, sent: Sent) -> bool:
        life = self._holders.lives.get(lease_id)
        was = life is not None and (life.ended_step is None or life.ended_step > sent.step)
        self._watch.require(was, Rule.ANSWER, f"lease {lease_id[-6:]} was not in its row while it was asked for")
        return was

    def held(self, outcome: Held, sent: Sent) -> None:
        """By somebody else."""
        lease_id = str(outcome.row.lease_id)
        self.counted["held"] += 1
        if self._was_current(lease_id, sent):
            life = self._holders.lives[lease_id]
            # It was over by every clock that may have judged it, before the question was sent.
            over = not life.was_heartbeat_sent and life.own_end_ms + MARGIN_MS < (sent.at_us - SKEW_US) // 1000
            self._watch.require(not over, Rule.OWN_END, f"{life} is in the way past its own end")

    def released(self, lease_id: str, ended: str) -> None:
        life = self._holders.lives.get(lease_id)
        was = life.ended_as if life else None
        self._watch.require(was == ended, Rule.EVENT, f"{lease_id[-6:]}: told {ended}, and the log says {was}")

    def recovered(self, row: Lease) -> None:
        life = self._holders.lives.get(str(row.lease_id))
        was = life.ended_as if life else None
        self._watch.require(was == "expired", Rule.EVENT, f"{row.key}: told as recovered, and the log says {was}")

    def steered(self, kind: str, request: str) -> None:
        told = self._ledger.steered[kind, request]
        self._watch.require(told > 0, Rule.EVENT, f"{kind} was answered, and never told")

    def session(self, session_id: str, ends_in_ms: int, sent: Sent) -> None:
        self._holders.told_of_session(session_id, sent.at_us + ends_in_ms * 1000)
