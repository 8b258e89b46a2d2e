"""What EventBridge's schedule does, on a machine without AWS."""

import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from chalicelib import log
from infra.background import Emit, Wait
from infra.proxy_event import LambdaContext

PERIOD_SECONDS = 60.0

Task = Callable[[dict[str, Any], Any], Any]


def keep_schedule(task: Task, *, wait: Wait, emit: Emit, clock: Callable[[], float] = time.time) -> None:
    while not wait(PERIOD_SECONDS):
        try:
            task(scheduled_event(clock()), LambdaContext(str(uuid4())))
        except Exception:
            emit(log.fault("pump", "schedule_failed", traceback.format_exc()))


def scheduled_event(at_seconds: float) -> dict[str, Any]:
    """As EventBridge sends it: its time is in whole seconds, and never ahead."""
    return {
        "version": "0",
        "id": str(uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": "123456789012",
        "time": datetime.fromtimestamp(int(at_seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": "us-east-1",
        "resources": ["arn:aws:events:us-east-1:123456789012:rule/octolease-local"],
        "detail": {},
    }
