"""How a request that was applied before is known again: its answer got lost, and it is sent once more."""

from dataclasses import dataclass

from chalicelib.errors import IdempotencyKeyReused
from chalicelib.row import Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeatable:
    principal: str
    # Ours, new for each request: without a key of the caller's it tells our repeated write from a contender's.
    request_key: str
    idempotency_key: str | None
    body_hash: str

    @property
    def retry_key(self) -> str:
        return self.idempotency_key or self.request_key

    @property
    def stored_hash(self) -> str:
        return self.body_hash if self.idempotency_key else ""

    def wrote(self, row: Lease) -> bool:
        return (row.idempotency_key, row.principal) == (self.retry_key, self.principal)

    def require_same_body(self, row: Lease) -> None:
        if row.body_hash != self.stored_hash:
            raise IdempotencyKeyReused(
                "This idempotency_key was used for this name with another request. "
                "Repeat a request unchanged, or choose a new key for a new one.",
                field="idempotency_key",
            )
