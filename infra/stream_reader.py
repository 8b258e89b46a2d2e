"""A table's stream from its beginning, in batches of the shape in which Lambda's event source delivers them.

A shard is read after its parent, so the changes of one row come in their order. A batch counts as handled when the
next one is asked for; one that was not handled comes again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from botocore.exceptions import ClientError

LARGEST_BATCH = 100

Record = dict[str, Any]


class Streams(Protocol):
    """What is used of boto3's client."""

    def list_streams(self, **request: Any) -> dict[str, Any]: ...
    def describe_stream(self, **request: Any) -> dict[str, Any]: ...
    def get_shard_iterator(self, **request: Any) -> dict[str, Any]: ...
    def get_records(self, **request: Any) -> dict[str, Any]: ...


class NoStream(Exception):
    """The table has none, so nothing can be told of its changes."""


@dataclass(slots=True)
class Shard:
    id: str
    parent: str | None
    iterator: str | None = None
    handled: str | None = None
    finished: bool = False

    def moved_past(self, answer: Mapping[str, Any]) -> None:
        if answer["Records"]:
            self.handled = answer["Records"][-1]["dynamodb"]["SequenceNumber"]
        self.iterator = answer.get("NextShardIterator")
        self.finished = self.iterator is None


class StreamReader:
    def __init__(self, client: Streams, table: str) -> None:
        self._client = client
        self._table = table
        self._arn = ""
        self._shards: dict[str, Shard] = {}

    def batches(self) -> Iterator[list[Record]]:
        """One look at each shard that can be read now. The batches may be empty."""
        for shard in self._readable():
            answer = self._read(shard)
            yield [as_lambda_sees_it(record, self._arn) for record in answer["Records"]]
            shard.moved_past(answer)

    def _read(self, shard: Shard) -> Mapping[str, Any]:
        # Asked for anew if the batch is not handled: an iterator is good for a few minutes only.
        given, shard.iterator = shard.iterator, None
        try:
            return self._client.get_records(ShardIterator=given or self._iterator(shard), Limit=LARGEST_BATCH)
        except ClientError as error:
            if error.response["Error"]["Code"] != "TrimmedDataAccessException":
                raise
            if shard.handled is None:  # DynamoDB Local says so too of an iterator older than the first record
                return {"Records": [], "NextShardIterator": self._iterator(shard)}
            shard.handled = None  # what came after it is gone: from the oldest that is there
            raise

    def look_again(self) -> None:
        """After a failure: the stream may be another one by now. What was handled stays handled."""
        self._arn = ""

    def _readable(self) -> list[Shard]:
        if not self._arn or self._childless():
            self._discover()
        return [shard for shard in self._shards.values() if not shard.finished and not self._waits(shard)]

    def _childless(self) -> bool:
        """A shard that ended goes on in others, of which we have not heard yet."""
        parents = {shard.parent for shard in self._shards.values()}
        return any(shard.finished and shard.id not in parents for shard in self._shards.values())

    def _waits(self, shard: Shard) -> bool:
        parent = self._shards.get(shard.parent or "")
        return parent is not None and not parent.finished

    def _discover(self) -> None:
        self._arn = self._arn or self._find()
        self._shards = {
            told["ShardId"]: self._shards.get(told["ShardId"]) or Shard(told["ShardId"], told.get("ParentShardId"))
            for told in self._described(self._arn)
        }

    def _find(self) -> str:
        streams = self._client.list_streams(TableName=self._table)["Streams"]
        if not streams:
            raise NoStream(f"the table {self._table} has no stream, so nothing of it comes into the history")
        return str(max(streams, key=lambda stream: stream["StreamLabel"])["StreamArn"])

    def _described(self, arn: str) -> Iterator[Mapping[str, Any]]:
        page: dict[str, str] = {}
        while True:
            description = self._client.describe_stream(StreamArn=arn, **page)["StreamDescription"]
            yield from description["Shards"]
            if not description.get("LastEvaluatedShardId"):
                return
            page = {"ExclusiveStartShardId": description["LastEvaluatedShardId"]}

    def _iterator(self, shard: Shard) -> str:
        where = {"StreamArn": self._arn, "ShardId": shard.id}
        if shard.handled is None:
            where |= {"ShardIteratorType": "TRIM_HORIZON"}
        else:
            where |= {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": shard.handled}
        return str(self._client.get_shard_iterator(**where)["ShardIterator"])


def as_lambda_sees_it(record: Mapping[str, Any], arn: str) -> Record:
    """The two interfaces differ in a time and in two capital letters."""
    change = dict(record["dynamodb"])
    if "ApproximateCreationDateTime" in change:
        change["ApproximateCreationDateTime"] = int(change["ApproximateCreationDateTime"].timestamp())
    seen = {**record, "eventSource": "aws:dynamodb", "dynamodb": change, "eventSourceARN": arn}
    identity = record.get("userIdentity")
    if identity:
        seen["userIdentity"] = {"type": identity["Type"], "principalId": identity["PrincipalId"]}
    return seen
