"""The secret of a lease. Its form tells whether a session binds the lease, so that a heartbeat need not read the row
to know which write it is: UUID version 8 if one does, version 4 if none does. Both have 122 random bits.

It is a hint and decides nothing: every condition asks the row itself.
"""

from uuid import UUID

_VERSION, _VARIANT = 0xF << 76, 0b11 << 62


def unbound(drawn: UUID) -> str:
    return _with_version(drawn, 4)


def bound(drawn: UUID) -> str:
    return _with_version(drawn, 8)


def seems_bound(lease_id: str) -> bool:
    return lease_id[14:15] == "8"


def _with_version(drawn: UUID, version: int) -> str:
    return str(UUID(int=drawn.int & ~(_VERSION | _VARIANT) | version << 76 | 0b10 << 62))
