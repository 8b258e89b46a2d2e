import os
import subprocess
import sys

import pytest

from chalicelib.settings import SettingError, load
from infra import tables

TABLES = tables.names("test")


def test_defaults_are_those_of_the_readme() -> None:
    settings = load(TABLES)
    assert (settings.skew_margin_ms, settings.max_ttl_seconds, settings.held_shards) == (500, 3600, 4)
    assert settings.dynamodb_endpoint is None


@pytest.mark.parametrize("name", TABLES)
def test_a_missing_variable_is_named(name: str) -> None:
    for environ in ({key: value for key, value in TABLES.items() if key != name}, {**TABLES, name: ""}):
        with pytest.raises(SettingError, match=name):
            load(environ)


@pytest.mark.parametrize("name", ["SKEW_MARGIN_MS", "MAX_TTL_SECONDS", "HELD_SHARDS"])
@pytest.mark.parametrize("value", ["x", "-1", "1.5", "1e3", "999999999", "٣"])
def test_a_number_that_is_none_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingError, match=name):
        load({**TABLES, name: value})


def test_the_ceiling_of_a_ttl_is_a_day() -> None:
    assert load({**TABLES, "MAX_TTL_SECONDS": "86400"}).max_ttl_seconds == 86400
    with pytest.raises(SettingError):
        load({**TABLES, "MAX_TTL_SECONDS": "86401"})


def test_a_missing_variable_stops_the_start_with_its_name() -> None:
    environ = {key: value for key, value in os.environ.items() if key not in TABLES} | {
        "LEASES_TABLE": "leases",
        "SESSIONS_TABLE": "sessions",
    }
    started = subprocess.run([sys.executable, "-c", "import app"], env=environ, capture_output=True, text=True)
    assert started.returncode != 0
    assert "TOKENS_TABLE is not set" in started.stderr
