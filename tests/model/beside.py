"""The stand-in and moto side by side: each call goes to both, and both must answer alike."""

from typing import Any

from botocore.exceptions import ClientError

from tests.model.dynamodb import InMemory
from tests.model.expressions import Row

KEYS = {"leases": "key", "sessions": "session_id"}
Answer = dict[str, Any]


class Beside(InMemory):
    """Its index does not lag, because moto's doesn't."""

    def __init__(self, moto: Any) -> None:
        super().__init__(lag=None)
        self._moto = moto
        self.compared = 0

    def update_item(self, **request: Any) -> Answer:
        return self._both("update_item", request)

    def transact_write_items(self, **request: Any) -> Answer:
        return self._both("transact_write_items", request)

    def get_item(self, **request: Any) -> Answer:
        return self._both("get_item", request)

    def batch_get_item(self, **request: Any) -> Answer:
        return self._both("batch_get_item", request)

    def query(self, **request: Any) -> Answer:
        return self._both("query", request)

    def remove(self, table: str, key: str) -> None:
        super().remove(table, key)
        self._moto.delete_item(TableName=table, Key={KEYS[table]: {"S": key}})

    def _both(self, call: str, request: Answer) -> Answer:
        theirs = self._answer(getattr(self._moto, call), request)
        ours = self._answer(getattr(super(), call), request)
        assert _told(ours) == _told(theirs), f"{call} {request}"
        self.compared += 1
        if isinstance(ours, ClientError):
            raise ours
        return ours

    def _answer(self, call: Any, request: Answer) -> Answer | ClientError:
        try:
            answer: Answer = call(**request)
        except ClientError as error:
            return error
        return answer

    def empty(self) -> None:
        for table, rows in self.tables.items():
            for key in list(rows):
                self.remove(table, key)

    def rows_differ(self) -> list[str]:
        """The keys of those rows that are not the same on both sides."""
        differing = []
        for table, rows in self.tables.items():
            theirs = {item[KEYS[table]]["S"]: item for item in self._moto.scan(TableName=table)["Items"]}
            differing += [key for key in rows.keys() | theirs.keys() if rows.get(key) != theirs.get(key)]
        return differing


def _told(answer: Answer | ClientError) -> object:
    """What the service makes use of."""
    if isinstance(answer, ClientError):
        reasons = [(one.get("Code"), one.get("Item")) for one in answer.response.get("CancellationReasons", [])]
        return answer.response["Error"]["Code"], answer.response.get("Item"), reasons
    return answer.get("Attributes"), answer.get("Item"), _keys(answer.get("Items", [])), _rows(answer)


def _keys(items: list[Row]) -> list[str]:
    return [item["key"]["S"] for item in items]


def _rows(answer: Answer) -> list[str]:
    """A batch comes in any order."""
    return sorted(repr(sorted(row.items())) for rows in answer.get("Responses", {}).values() for row in rows)
