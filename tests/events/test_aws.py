"""The bus and the queue as AWS's own interfaces have them."""

import json
from typing import Any

import boto3
import msgspec
import pytest

from chalicelib.bus import Bus
from chalicelib.dead_letters import DeadLetters
from chalicelib.faces import event_answers
from tests.events.conftest import Aws
from tests.events.jobs import Change, Job
from tests.events.rig import Rig
from tests.events.shard import Shard


@pytest.fixture
def sqs(aws: Aws) -> Any:
    assert aws
    return boto3.client("sqs")


@pytest.fixture
def queue_url(sqs: Any) -> str:
    return str(sqs.create_queue(QueueName="letters")["QueueUrl"])


def bodies(sqs: Any, queue_url: str) -> list[dict[str, Any]]:
    messages = sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10).get("Messages", [])
    return [json.loads(message["Body"]) for message in messages]


def test_an_event_on_the_bus_is_what_http_shows_with_an_id_and_its_namespace(rig: Rig) -> None:
    job = Job("repo/issue-1")
    rig.handle(Shard().add(job.claim("agent-7")))
    (entry,) = rig.bus.entries
    assert (entry["EventBusName"], entry["Source"], entry["DetailType"]) == ("octolease-test", "octolease", "claimed")
    shown = msgspec.json.encode(event_answers.in_feed(rig.history("repo/issue-1")[0].event))
    assert json.loads(entry["Detail"]) == {
        **json.loads(shown),
        "id": f"default/repo/issue-1#{job.now_ms * 1000:016d}.0000000001",
        "namespace": "default",
    }


def test_the_bus_takes_what_it_is_given(rig: Rig) -> None:
    events, job = boto3.client("events"), Job()
    events.create_event_bus(Name="octolease")
    records = Shard().add(job.claim(), job.finish({"answer": [1, None, "é"]}))
    assert rig.handler_with(bus=Bus(events, "octolease")).handle(records) == {"batchItemFailures": []}


def test_a_poison_record_is_in_the_queue_whole(rig: Rig, sqs: Any, queue_url: str) -> None:
    """With a character in it that SQS takes in no message."""
    (record,) = Shard().add(Change(None, {"key": {"S": "default/job"}, "owner": {"S": "\uffff"}}))
    handler = rig.handler_with(dead_letters=DeadLetters(sqs, queue_url))
    assert handler.handle([record]) == {"batchItemFailures": []}
    (body,) = bodies(sqs, queue_url)
    assert body["record"] == record
    assert body["why"].startswith("PoisonImage")


def test_a_queue_that_is_not_there_makes_the_record_fail(rig: Rig, sqs: Any) -> None:
    (record,) = Shard().add(Change(None, {"key": {"S": "default/job"}}))
    handler = rig.handler_with(dead_letters=DeadLetters(sqs, "https://sqs.us-east-1.amazonaws.com/1/none"))
    assert handler.handle([record])["batchItemFailures"]
