import threading

import pytest

from infra.background import Wait, in_background


def test_loops_run_beside_the_rest_and_end_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    before, started = threading.active_count(), threading.Barrier(3)

    def loop(wait: Wait) -> None:
        started.wait(timeout=10)
        while not wait(60):
            pass

    with in_background(loop, loop):
        started.wait(timeout=10)
        assert threading.active_count() == before + 2
    assert threading.active_count() == before
    assert capsys.readouterr() == ("", "")


def test_loops_end_also_where_the_rest_fails() -> None:
    before = threading.active_count()

    def loop(wait: Wait) -> None:
        wait(60)

    def fail() -> None:
        with in_background(loop):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert threading.active_count() == before
