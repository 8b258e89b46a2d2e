import errno

import pytest

from infra import address
from infra.gateway import App, Gateway
from infra.options import Options
from infra.server import Server


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8080"),
        ("localhost", "http://localhost:8080"),
        ("::1", "http://[::1]:8080"),
        ("0.0.0.0", "http://127.0.0.1:8080"),  # noqa: S104 # nothing listens in this test
        ("::", "http://[::1]:8080"),
    ],
)
def test_the_url_can_be_connected_to(host: str, url: str) -> None:
    assert address.url(host, 8080) == url


def test_only_this_machine_is_loopback() -> None:
    hosts = ["127.0.0.1", "localhost", "::1", "0.0.0.0", "192.0.2.1"]  # noqa: S104
    assert [address.is_loopback(host) for host in hosts] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("number", "port", "advice"),
    [
        (errno.EADDRINUSE, 8080, "make run PORT=8081"),
        (errno.EADDRINUSE, 65535, "make run PORT=8080"),
        (errno.EACCES, 80, "make run PORT=8080"),
        (errno.EADDRNOTAVAIL, 8080, "127.0.0.1"),
    ],
)
def test_a_place_that_cannot_be_had_is_answered_with_another(number: int, port: int, advice: str) -> None:
    error = OSError(number, "why")
    assert advice in address.why_not(error, Options(host="192.0.2.1", port=port, endpoint=None))


@pytest.mark.parametrize("host", ["a" * 64, "a..b", ".", "\udcff"])
def test_a_host_that_cannot_even_be_looked_up_is_answered_with_another(host: str, app: App) -> None:
    with pytest.raises(UnicodeError) as refused:
        Server(Gateway(app), host=host, port=0, log=print)
    assert "127.0.0.1" in address.why_not(refused.value, Options(host=host, port=0, endpoint=None))
