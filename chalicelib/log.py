"""One line for each request that is log and metric at once (CloudWatch's embedded metric format)."""

import sys
from collections.abc import Mapping
from typing import Any

import msgspec

_BY_OPERATION = [
    {
        "Namespace": "Octolease",
        "Dimensions": [["op"]],
        "Metrics": [{"Name": "ms", "Unit": "Milliseconds"}],
    }
]
_BY_CODE = [*_BY_OPERATION, {"Namespace": "Octolease", "Dimensions": [["code"]], "Metrics": [{"Name": "errors"}]}]

_encode = msgspec.json.Encoder().encode


def request(entry: Mapping[str, Any], *, at_ms: int) -> dict[str, Any]:
    if "code" not in entry:
        return {"_aws": {"Timestamp": at_ms, "CloudWatchMetrics": _BY_OPERATION}, **entry}
    return {"_aws": {"Timestamp": at_ms, "CloudWatchMetrics": _BY_CODE}, **entry, "errors": 1}


def fault(request_id: str, code: str, what: str) -> dict[str, Any]:
    return {"level": "ERROR", "id": request_id, "code": code, "what": what}


def sweep(*, recovered: int, examined: int, complete: bool) -> dict[str, Any]:
    return {"op": "sweep", "recovered": recovered, "examined": examined, "complete": complete}


def to_stdout(line: Mapping[str, Any]) -> None:
    """JSON escapes every control character, so nothing that a caller sends can start a line of its own."""
    sys.stdout.write(_encode(line).decode() + "\n")
    sys.stdout.flush()
