"""The words of the job face and of sessions, for a caller."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from bench.caller import METADATA, NAME, OWNER, Caller

JOB = f"{NAME}/review"
REASON = "the branch was merged in the meantime"


class Jobs:
    """Speaks of one job, unless it is told another."""

    def __init__(self, caller: Caller, name: str = JOB) -> None:
        self._caller = caller
        self._name = name

    def claim(self, **body: Any) -> Any:
        """By a contender of its own each time, unless it is given a key."""
        return self._post("claim", {**asked(), **body})

    def heartbeat(self, lease: Any, **body: Any) -> Any:
        return self._post("heartbeat", {"lease_id": lease["lease_id"], **body})

    def release(self, lease: Any, **body: Any) -> Any:
        return self._post("release", {"lease_id": lease["lease_id"], **body})

    def hand_over(self, lease: Any, **body: Any) -> Any:
        return self._post("handover", {"lease_id": lease["lease_id"], "to_owner": "runner-8/build-1842", **body})

    def steer(self, verb: str, lease: Any) -> Any:
        return self._post(verb, {"reason": REASON, "fencing_token": lease["fencing_token"]})

    def inspect(self) -> Any:
        return self._caller.send(self._caller.event("GET", "/jobs/{name}", name=self._name))

    def _post(self, verb: str, body: dict[str, Any]) -> Any:
        return self._caller.post(f"/jobs/{{name}}/{verb}", body, name=self._name)


class Several:
    """Claims over several names."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def any_of(self, names: Sequence[str], **body: Any) -> Any:
        return self._caller.post("/jobs/claim-any", {**asked(), "jobs": names, **body})

    def all_of(self, names: Sequence[str], **body: Any) -> Any:
        return self._caller.post("/jobs/claim-all", {**asked(), "jobs": names, **body})


class Sessions:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(self, *, ttl_seconds: int) -> Any:
        return self._caller.post("/sessions", {"ttl_seconds": ttl_seconds, "owner": OWNER, "metadata": METADATA})

    def keepalive(self, session: Any) -> Any:
        return self._caller.post("/sessions/{session_id}/keepalive", None, session_id=session["session_id"])

    def delete(self, session: Any) -> Any:
        event = self._caller.event("DELETE", "/sessions/{session_id}", session_id=session["session_id"])
        return self._caller.send(event)


def asked() -> dict[str, Any]:
    return {"owner": OWNER, "ttl_seconds": 120, "metadata": METADATA, "idempotency_key": str(uuid4())}
