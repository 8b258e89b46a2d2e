"""One history: a service, some callers who share names, true time, and all that can go wrong between them."""

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from random import Random
from unittest.mock import patch
from uuid import UUID

from chalicelib import bound, recovery, service
from chalicelib.errors import ServiceError
from chalicelib.outcomes import Claimed, Done
from chalicelib.settings import Settings
from tests.model.answers import Answers, Sent
from tests.model.callers import Callers
from tests.model.clocks import DAY_MS, MARGIN_MS, START_US, Machines, TrueTime
from tests.model.dynamodb import InMemory
from tests.model.ledger import LEASES, SESSIONS, Ledger
from tests.model.mix import Mix
from tests.model.one_thread import OneThread
from tests.model.rules import Rule, Watch
from tests.model.scene import Request, Scene
from tests.model.wire import CALM, Wire

MOST_AT_ONCE = 3
LONGEST_WAIT_MS = 12_000
# A call that takes longer is given up by the service.
LONGEST_PAUSE_MS = 2_500
SETTINGS = Settings(
    leases_table=LEASES,
    tokens_table="tokens",
    sessions_table=SESSIONS,
    events_table="events",
    skew_margin_ms=MARGIN_MS,
    held_shards=2,
)


class History:
    def __init__(
        self, seed: int, mix: Mix, watch: Watch | None = None, dynamodb: Callable[[Random], InMemory] = InMemory
    ) -> None:
        self.rng, self.mix, self.lines = Random(seed), mix, [f"seed {seed}"]
        self.time, self.watch = TrueTime(), watch or Watch()
        self.ledger = Ledger(self.time, self.watch, heartbeats_are_logged=mix.log_heartbeats)
        self.dynamodb = dynamodb(self.rng)
        self.dynamodb.on_change = self.ledger.changed
        self.wire = Wire(self.dynamodb, self.time, self.rng, mix.weather)
        self.wire.say, self.wire.meanwhile = self._say, self._meanwhile
        drawn = count(1)
        self.service = service.build(SETTINGS, self.wire, read_us=self.time, draw=lambda: UUID(int=next(drawn)))
        self.machines = Machines(self.rng, far_ahead=mix.far_ahead)
        self.answers = Answers(self.ledger, self.watch)
        self.scene = Scene(self.service, self.answers, self.ledger, self.rng, mix)
        self.callers = Callers(self.scene)
        self.counted: Counter[str] = Counter()
        self._under_way = 0

    def run(self) -> None:
        with ExitStack() as stack:
            for module in (bound, recovery):
                stack.enter_context(patch.object(module, "ThreadPoolExecutor", OneThread))
            for _ in range(self.mix.requests):
                self._pass_time()
                self.send(self.callers.next())
            self._all_can_be_claimed()

    def send(self, request: Request) -> None:
        machine, sent = self.machines.any(), Sent(self.time.us, self.ledger.step)
        self._say(f"{request.text}  [{machine}]")
        self.counted["far ahead"] += machine.is_far_ahead
        self.counted[request.times] += 1
        request.sending(self.time.us)
        self._travel()
        new_clock = self.machines.new_clock(machine, self.time)
        self._under_way += 1
        try:
            outcome: object = request.act(new_clock)
        except ServiceError as error:
            outcome = error
        self._under_way -= 1
        self._travel()
        self._answer(request, outcome, sent)

    def _answer(self, request: Request, outcome: object, sent: Sent) -> None:
        self.counted[type(outcome).__name__] += 1
        if not request.is_waited_for or self.rng.random() < self.mix.answer_lost:
            self.counted["answer lost"] += request.is_waited_for
            self._say(f"  {request.text}: answer lost ({_brief(outcome)})")
            if request.is_waited_for:
                self.callers.unanswered.append(request)
        else:
            self._say(f"  {request.text}: {_brief(outcome)}")
            request.heard(outcome, sent)

    def _meanwhile(self) -> None:
        if self._under_way < MOST_AT_ONCE:
            self.counted["at once"] += 1
            if self.rng.random() < self.mix.to_an_end:
                self.wire.pass_time(min(LONGEST_PAUSE_MS, self._to_some_end_ms()))
            self.send(self.callers.next())

    def _travel(self) -> None:
        """Between a caller and the service."""
        if self.mix.weather is not CALM:
            self.wire.pass_time(self.rng.choice((0, 0, 1, 20, 20, 300)))

    def _pass_time(self) -> None:
        chance = self.rng.random()
        if chance < self.mix.days_pass:
            self.wire.pass_time(self.rng.choice((8, 9, 12)) * DAY_MS)
            self._clean_up()
        elif chance < self.mix.days_pass + self.mix.to_an_end:
            self.wire.pass_time(self._to_some_end_ms())
        else:
            self.wire.pass_time(self.rng.choice((0, 1, 30, 150, 400, 900)))

    def _to_some_end_ms(self) -> float:
        """Most of what is interesting happens around the end of something that is in use."""
        ends = [*self._ends(LEASES, "held"), *self._ends(SESSIONS, "alive")]
        near = [end for end in ends if self.time.ms - MARGIN_MS < end < self.time.ms + LONGEST_WAIT_MS]
        if not near:
            return self.rng.choice((300, 2_000))
        around_ms = self.rng.randint(-MARGIN_MS, self.rng.choice((0, 2 * MARGIN_MS)))
        return max(0, self.rng.choice(near) + around_ms - self.time.ms)

    def _ends(self, table: str, state: str) -> list[int]:
        rows = self.dynamodb.tables.get(table, {}).values()
        in_use = [row for row in rows if "state" in row and row["state"]["S"] == state and "carried" not in row]
        return [int(row["expires_at_ms"]["N"]) for row in in_use]

    def _clean_up(self) -> None:
        """As DynamoDB's TTL does, some time after the moment that each row names."""
        for table in (LEASES, SESSIONS):
            for key, row in list(self.dynamodb.tables.get(table, {}).items()):
                if "ttl" in row and int(row["ttl"]["N"]) * 1000 < self.time.ms and self.rng.random() < 0.7:
                    self._say(f"  TTL removes {key}")
                    self.dynamodb.remove(table, key)

    def _all_can_be_claimed(self) -> None:
        """An hour after the last word of anybody, nothing is in the way but what is done."""
        self.wire.weather = CALM
        self.wire.pass_time(3_600_000)
        machine = self.machines.any()
        for name in self.scene.names:
            outcome = self.callers.claiming.plainly(name, self.machines.new_clock(machine, self.time)())
            is_open = isinstance(outcome, Claimed | Done)
            self.watch.require(is_open, Rule.OPEN, f"{name}: {_brief(outcome)}")

    def total(self) -> Counter[str]:
        total = self.counted + self.ledger.counted + self.wire.counted + self.answers.counted
        total["index behind"], total["clock set"] = self.dynamodb.behind, self.machines.steps
        faults = sum(self.wire.counted.values()) + total["answer lost"] + self.machines.differ
        total["void"] = int(not faults or not total["held"] + total["taken_over"])
        return total

    def _say(self, line: str) -> None:
        at_ms = (self.time.us - START_US) / 1000
        self.lines.append(f"{at_ms:>12.1f}  {'. ' * self._under_way}{line}")


def _brief(outcome: object) -> str:
    lease_id = getattr(getattr(outcome, "row", outcome), "lease_id", None)
    until_ms = getattr(outcome, "until_ms", None)
    told = f" {lease_id[-6:]}" if lease_id else ""
    until = f" until {until_ms - START_US // 1000}" if until_ms is not None else ""
    return f"{type(outcome).__name__}{told}{until}"
