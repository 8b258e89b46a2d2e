"""Requests go first, and the log follows."""

from infra.gateway import HttpRequest
from infra.quiet import LONGEST_SECONDS, QUIET_SECONDS, WatchedGateway
from tests.infra.tiny_app import tiny_app


class Moment:
    """A clock that moves as it is waited for, and a crowd that may ask again meanwhile."""

    def __init__(self, *, crowd: bool) -> None:
        self.seconds = 100.0
        self.gateway = WatchedGateway(tiny_app(), clock=lambda: self.seconds)
        self._crowd = crowd

    def ask(self) -> None:
        self.gateway.handle(HttpRequest("GET", "/nothing", (), b""))

    def wait(self, seconds: float) -> bool:
        self.seconds += seconds
        if self._crowd:
            self.ask()
        return False

    def waited(self, seconds: float) -> float:
        before = self.seconds
        assert self.gateway.when_quiet(self.wait)(seconds) is False
        return self.seconds - before


def test_where_nobody_asks_the_log_waits_no_longer_than_it_would() -> None:
    assert Moment(crowd=False).waited(0.2) < 0.2001


def test_after_a_request_the_log_waits_until_it_is_quiet() -> None:
    moment = Moment(crowd=False)
    moment.ask()
    assert abs(moment.waited(0.01) - QUIET_SECONDS) < 1e-9


def test_a_crowd_that_never_rests_does_not_keep_the_log_waiting_for_ever() -> None:
    moment = Moment(crowd=True)
    moment.ask()
    assert LONGEST_SECONDS <= moment.waited(0.01) < LONGEST_SECONDS + 2 * QUIET_SECONDS


def test_the_end_is_told_at_once() -> None:
    moment = Moment(crowd=False)
    moment.ask()
    assert moment.gateway.when_quiet(lambda _seconds: True)(5) is True


def test_in_the_middle_of_a_backlog_the_log_goes_on() -> None:
    moment = Moment(crowd=True)
    moment.ask()
    assert moment.waited(0) == 0
