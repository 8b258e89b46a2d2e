"""The queue for stream records that no event can be told from.

They go there whole, because an operator needs both images to mend the row: lease ids are among them, so whoever may
read this queue may act for the holders.
"""

import json
from collections.abc import Mapping
from typing import Any, Protocol

# SQS takes 1 MiB, and two images of the largest row written in escapes are more.
LARGEST_BODY = 1_000_000


class Sqs(Protocol):
    """What is used of boto3's client."""

    def send_message(self, *, QueueUrl: str, MessageBody: str) -> dict[str, Any]: ...


class DeadLetters:
    def __init__(self, client: Sqs, queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def send(self, record: Mapping[str, Any], why: str) -> None:
        # As ASCII, because SQS refuses some characters that a row may have.
        body = json.dumps({"why": why, "record": record}, default=str)
        if len(body) > LARGEST_BODY:
            about = {name: record.get(name) for name in ("eventID", "eventName")}
            about["dynamodb"] = {name: record.get("dynamodb", {}).get(name) for name in ("Keys", "SequenceNumber")}
            body = json.dumps({"why": why[:1000], "record": about, "cut": True}, default=str)
        self._client.send_message(QueueUrl=self._queue_url, MessageBody=body)
