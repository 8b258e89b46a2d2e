"""What hangs on a session: counted for those who look, and ended when the session is deleted."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from chalicelib import names
from chalicelib.clock import Clock
from chalicelib.errors import RateLimited, UpstreamUnavailable
from chalicelib.leases import Leases
from chalicelib.store import Store
from chalicelib.verbs.ending import EndWithSession

KEYS_OF_A_PAGE = 100
WRITES_AT_ONCE = 8


class BoundLeases:
    def __init__(self, store: Store, leases: Leases) -> None:
        self._store = store
        self._leases = leases

    def count(self, session_id: str, clock: Clock) -> int:
        return self._store.count(clock, **_of_session(session_id, names.LOWEST_KEY))

    def end_all(self, session_id: str, clock: Clock) -> int:
        """How many were ended. The index lags, and time may run out: what is left is over with the session's end."""
        ended, low = 0, names.LOWEST_KEY
        with ThreadPoolExecutor(WRITES_AT_ONCE) as pool:
            while clock.allows_another_attempt():
                keys = self._keys(session_id, low, clock)
                ended += sum(pool.map(partial(self._end, session_id, clock), keys))
                if len(keys) < KEYS_OF_A_PAGE:
                    break
                low = names.just_after(keys[-1])
        return ended

    def _end(self, session_id: str, clock: Clock, key: str) -> bool:
        try:
            return self._leases.settle(EndWithSession(key, session_id), clock)
        except (UpstreamUnavailable, RateLimited):
            return False  # it is over with the session's end, and keeps nobody from the others

    def _keys(self, session_id: str, low: str, clock: Clock) -> Sequence[str]:
        found = self._store.query(clock, **_of_session(session_id, low), Limit=KEYS_OF_A_PAGE)
        return [item["key"]["S"] for item in found]


def _of_session(session_id: str, low: str) -> dict[str, Any]:
    return {
        "IndexName": "bound",
        "KeyConditionExpression": "session_id = :session AND #key >= :low",
        "ExpressionAttributeNames": {"#key": "key"},
        "ExpressionAttributeValues": {":session": {"S": session_id}, ":low": {"S": low}},
    }
