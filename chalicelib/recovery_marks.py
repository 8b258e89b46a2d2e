"""Where the recovery of a shard goes on. Marks live beside the leases, under keys that no name can have."""

from pynamodb.attributes import UnicodeAttribute
from pynamodb.models import Model

from chalicelib.clock import Clock
from chalicelib.forms import Write, compile_form, text
from chalicelib.store import Store


class Mark(Model):
    class Meta:
        table_name = "leases"  # a placeholder: the store puts the stage's own name into each call
        region = "us-east-1"

    key = UnicodeAttribute(hash_key=True)
    after = UnicodeAttribute()


MOVE = compile_form(
    Mark,
    condition=Mark.key.does_not_exist() | (Mark.after == text("seen")) | Mark.after.does_not_exist(),
    actions=(Mark.after.set(text("after")),),
)


class Marks:
    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, shard: str, clock: Clock) -> str:
        """The last key that was looked at; nothing if the shard was finished, or somebody broke its mark."""
        raw = self._store.get({"key": {"S": _key(shard)}}, clock) or {}
        return str(raw.get("after", {}).get("S", ""))

    def move(self, shard: str, seen: str, after: str, clock: Clock) -> None:
        """Of two runs at once, one moves the mark; the other's page is only looked at twice."""
        if seen != after:
            write = Write(MOVE, _key(shard), {"seen": seen, "after": after})
            self._store.apply(lambda _now: write, clock)


def _key(shard: str) -> str:
    return f"#recovery/{shard}"
