"""Ten thousand changes through a store, a bus and a Lambda that fail all the time: none lost, none doubled."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError

from chalicelib.bus import Bus
from chalicelib.dead_letters import DeadLetters
from chalicelib.settings import Settings
from tests.events.jobs import Change, Job
from tests.events.rig import Rig
from tests.events.shard import Record, Shard

CHANGES = 10_000
JOBS = 50
SHARDS = 3


class Killed(BaseException):
    """Lambda's own end: no handler catches it, and nobody gets an answer."""


class Faults:
    """One in `odds` goes wrong; which, and how, is drawn."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.injected: Counter[str] = Counter()

    def strikes(self, what: str, *, odds: int) -> bool:
        struck = self.chance.randrange(odds) == 0
        self.injected[what] += struck
        return struck


class Table:
    """DynamoDB's PutItem as the log uses it. Answers in its words, and honours the condition."""

    def __init__(self, faults: Faults) -> None:
        self.rows: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._faults = faults

    def put_item(self, *, Item: Mapping[str, Any], ConditionExpression: str, **_: Any) -> dict[str, Any]:
        assert ConditionExpression == "attribute_not_exists(#key)"
        if self._faults.strikes("request lost", odds=60):
            raise ConnectTimeoutError(endpoint_url="dynamodb")
        if self._faults.strikes("throttled", odds=150):
            raise ClientError({"Error": {"Code": "ThrottlingException"}}, "PutItem")
        if self._faults.strikes("killed before the write", odds=900):
            raise Killed
        self._put(Item)
        if self._faults.strikes("killed after the write", odds=900):
            raise Killed
        if self._faults.strikes("reply lost", odds=30):
            raise ReadTimeoutError(endpoint_url="dynamodb")
        return {}

    def _put(self, item: Mapping[str, Any]) -> None:
        place = (item["key"]["S"], item["seq"]["S"])
        if place in self.rows:
            error: dict[str, Any] = {"Error": {"Code": "ConditionalCheckFailedException"}, "Item": self.rows[place]}
            raise ClientError(error, "PutItem")
        self.rows[place] = item


class FailingBus:
    def __init__(self, faults: Faults) -> None:
        self.ids: Counter[str] = Counter()
        self._faults = faults

    def put_events(self, *, Entries: list[dict[str, str]]) -> dict[str, Any]:
        if self._faults.strikes("bus down", odds=60):
            raise ConnectTimeoutError(endpoint_url="events")
        answers = [self._answer(json.loads(entry["Detail"])["id"]) for entry in Entries]
        if self._faults.strikes("bus's reply lost", odds=60):
            raise ReadTimeoutError(endpoint_url="events")
        return {"FailedEntryCount": sum("ErrorCode" in one for one in answers), "Entries": answers}

    def _answer(self, event_id: str) -> dict[str, str]:
        if self._faults.strikes("entry refused", odds=200):
            return {"ErrorCode": "ThrottlingException"}
        self.ids[event_id] += 1
        return {"EventId": "1"}


class FailingQueue:
    def __init__(self, faults: Faults) -> None:
        self.event_ids: set[str] = set()
        self._faults = faults

    def send_message(self, *, QueueUrl: str, MessageBody: str) -> dict[str, Any]:
        if self._faults.strikes("queue down", odds=3):
            raise ConnectTimeoutError(endpoint_url=QueueUrl)
        self.event_ids.add(json.loads(MessageBody)["record"]["eventID"])
        return {}


def changes(chance: random.Random) -> Iterator[Change]:
    jobs = [Job(f"job-{number}") for number in range(JOBS)]
    for _ in range(CHANGES):
        job = chance.choice(jobs)
        if job.row is None or job.row["state"] != "held":
            yield job.claim()
        else:
            ends = [job.release, job.fail, job.finish, job.expire, job.evict]
            yield chance.choice([*ends, job.claim, job.cancel, job.hand_over])()


def spread(all_changes: Iterator[Change]) -> list[Shard]:
    """The changes of one name are in one shard, in order."""
    shards = [Shard(f"{number}") for number in range(SHARDS)]
    for change in all_changes:
        name = (change.new or {})["key"]["S"]
        shards[int(name.rsplit("-", 1)[1]) % SHARDS].add(change)
    return shards


def poison(shards: list[Shard], chance: random.Random) -> set[str]:
    """Some records that nobody can read, in the midst of the others, each with its own rev: the log will have gaps."""
    broken = chance.sample([record for shard in shards for record in shard.records], 20)
    for record in broken:
        record["dynamodb"]["NewImage"] = {**record["dynamodb"]["NewImage"], "op": {"S": "edited by hand"}}
    return {record["eventID"] for record in broken}


def deliver_all(shards: list[Shard], rig: Rig, faults: Faults) -> None:
    while any(shard.left for shard in shards):
        shard = faults.chance.choice([one for one in shards if one.left])
        before = shard.checkpoint
        try:
            shard.deliver(rig.handle)
        except Killed:
            shard.checkpoint = before
        if faults.strikes("batch delivered again", odds=20):
            shard.checkpoint = before


def place_of(record: Record) -> tuple[str, int, int]:
    new = record["dynamodb"]["NewImage"]
    return new["key"]["S"], int(new["fence"]["N"]), int(new["rev"]["N"])


def test_ten_thousand_changes_through_faults_lose_none_and_double_none() -> None:
    faults = Faults(seed=11)
    table, bus, queue = Table(faults), FailingBus(faults), FailingQueue(faults)
    rig = Rig(table, Settings("leases", "tokens", "sessions", "events"))  # type: ignore[arg-type]
    rig.handle = rig.handler_with(bus=Bus(bus, "b"), dead_letters=DeadLetters(queue, "q")).handle
    shards = spread(changes(faults.chance))
    poisoned = poison(shards, faults.chance)
    deliver_all(shards, rig, faults)

    records = [record for shard in shards for record in shard.records]
    expected = Counter(place_of(record) for record in records if record["eventID"] not in poisoned)
    logged = Counter((row["key"]["S"], int(row["fence"]["N"]), int(row["rev"]["N"])) for row in table.rows.values())
    assert len(records) == CHANGES
    assert logged == expected
    assert set(logged.values()) == {1}
    assert queue.event_ids == poisoned
    assert set(bus.ids) == {f"{key}#{seq}" for key, seq in table.rows}
    # A run in which little went wrong would prove nothing.
    assert len(faults.injected) == 10
    assert min(faults.injected.values()) >= 5, faults.injected
