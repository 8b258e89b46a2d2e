"""Requests go first. On AWS the log is written by another function; here it shares one process with those who wait."""

import time
from collections.abc import Callable

from infra.background import Wait
from infra.gateway import App, Gateway
from infra.messages import HttpRequest, HttpResponse

# Nobody has asked for anything for so long: a client that works through a backlog is between two requests.
QUIET_SECONDS = 0.05
# However busy it is, the log begins to follow after this, and goes on until it has caught up.
LONGEST_SECONDS = 2.0


class WatchedGateway(Gateway):
    """Remembers when it was last asked for something."""

    def __init__(self, app: App, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(app)
        self._clock = clock
        self._last = clock() - QUIET_SECONDS

    def handle(self, request: HttpRequest) -> HttpResponse:
        self._last = self._clock()
        try:
            return super().handle(request)
        finally:
            self._last = self._clock()

    def when_quiet(self, wait: Wait) -> Wait:
        """The same wait, and then on until nobody is asking for anything, within reason."""

        def waits(seconds: float) -> bool:
            ended = wait(seconds)
            if not seconds:  # in the middle of a backlog, which would only grow
                return ended
            latest = self._clock() + LONGEST_SECONDS
            while not ended and self._quiet_in() > 0 and self._clock() < latest:
                ended = wait(self._quiet_in())
            return ended

        return waits

    def _quiet_in(self) -> float:
        return max(0.0, self._last + QUIET_SECONDS - self._clock())
