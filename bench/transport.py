"""DynamoDB's HTTP answers without DynamoDB: given where botocore would open a socket, so that only CPU is left."""

import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from botocore.awsrequest import AWSResponse

from chalicelib.tokens import NewToken, digest


class Stub:
    """Answers each operation with the same body, with the checksum that DynamoDB sends and botocore checks."""

    def __init__(self, answers: Mapping[str, bytes]) -> None:
        self._answers = {operation: (body, _headers(body)) for operation, body in answers.items()}

    def attach(self, events: Any) -> None:
        events.register("before-send.dynamodb", self._answer)

    def _answer(self, request: Any, event_name: str, **_: Any) -> AWSResponse:
        body, headers = self._answers[event_name.rsplit(".", 1)[1]]
        return AWSResponse(request.url, 200, headers, _Stream(body))


class _Stream:
    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self) -> Iterator[bytes]:
        yield self._body


def _headers(body: bytes) -> dict[str, str]:
    return {
        "Content-Type": "application/x-amz-json-1.0",
        "Content-Length": str(len(body)),
        "x-amzn-RequestId": "9VJ5V3O2KJ5L6Q0K0S7C3PQ0TNVV4KQNSO5AEMVJF66Q9ASUAAJG",
        "x-amz-crc32": str(zlib.crc32(body)),
    }


def granting(token: NewToken, written: Mapping[str, Any]) -> Stub:
    """A store that knows this token, and answers every write with the row that one left."""
    row = {
        "token_id": {"S": token.token_id},
        "namespace": {"S": token.namespace},
        "secret_hash": {"S": digest(token.secret)},
        "label": {"S": token.label},
        "scopes": {"S": " ".join(token.scopes)},
        "prefix": {"S": token.prefix},
        "created_at_ms": {"N": "0"},
        "expires_at_ms": {"N": "0"},
        "revoked_at_ms": {"N": "0"},
    }
    return Stub(
        {
            "UpdateItem": msgspec.json.encode({"Attributes": written}),
            "GetItem": msgspec.json.encode({"Item": row}),
        }
    )
