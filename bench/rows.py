"""What realistic rows weigh, and what a checkpoint does to the price of a heartbeat."""

from typing import Any

from bench import sizes
from bench.caller import NAME
from bench.figures import Figure, Section, below, exactly
from bench.job_calls import CHECKPOINT
from bench.jobs import REASON, Jobs, Sessions
from bench.stand import Stand

# The largest that a heartbeat may carry.
CHECKPOINT_BYTES = 4096

_WEIGHT_NOTES = (
    "Held, after an earlier lease: each attribute is filled. The job's last owner gave up with a reason, and its "
    "checkpoint is a pointer. One byte over 1,024 doubles the price of each heartbeat.",
)
_PRICE_NOTES = (
    "A write is charged by the size of the whole row, so each later heartbeat pays for the checkpoint too.",
)


def of_a_row(stand: Stand) -> Section:
    figures = (
        _weight("a lock", stand.row(NAME)),
        _weight("a job that a session carries", stand.row(_carried_job(stand))),
    )
    return Section("Weight of a row", "bytes", figures, _WEIGHT_NOTES)


def _carried_job(stand: Stand) -> str:
    """With a place for everything that a row may have while it is held."""
    name = f"{NAME}/carried"
    jobs, session = Jobs(stand.caller, name), Sessions(stand.caller).create(ttl_seconds=60)
    jobs.release(jobs.claim(), outcome="failed", reason=REASON)
    lease = jobs.claim(session_id=session["session_id"])
    jobs.heartbeat(lease, checkpoint=CHECKPOINT)
    jobs.steer("cancel", lease)
    return name


def _weight(what: str, row: dict[str, Any]) -> Figure:
    lengths = ", ".join(
        f"{attribute} {len(row[attribute]['S'])}"
        for attribute in ("key", "owner", "metadata", "checkpoint")
        if attribute in row
    )
    return Figure(what, f"{lengths} characters", sizes.item_bytes(row), below(sizes.WRITE_UNIT_BYTES))


def of_a_checkpoint(stand: Stand) -> Section:
    jobs = Jobs(stand.caller, f"{NAME}/checkpoint")
    lease, largest = jobs.claim(), "c" * (CHECKPOINT_BYTES - len('""'))

    def price(**body: Any) -> float:
        _, cost = stand.cost(lambda: jobs.heartbeat(lease, **body))
        return cost.table_writes

    figures = (
        Figure("no checkpoint", "write units", price(), exactly(1)),
        Figure("a checkpoint of 4 KB", "write units", price(checkpoint=largest), exactly(5)),
        Figure("none, on a row that has one of 4 KB", "write units", price(), exactly(5)),
    )
    return Section("Price of a heartbeat", "", figures, _PRICE_NOTES)
