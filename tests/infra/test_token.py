import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from chalicelib import settings
from infra import embedded, tables, token

REPOSITORY = Path(__file__).parents[2]


def refused(**variables: str) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    made = subprocess.run(
        [sys.executable, "-m", "infra.token"],
        env={**environ, "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull, **variables},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 1
    assert made.stdout == ""
    assert "Traceback" not in made.stderr
    return made.stderr


@pytest.fixture
def stage() -> Iterator[None]:

    with embedded.dynamodb():
        tables.create_missing(boto3.client("dynamodb"), settings.load(tables.names("octolease-dev")))
        yield


@pytest.mark.usefixtures("stage")
def test_the_first_token_of_a_stage_is_printed_alone_and_works(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAMESPACE", "team-a")
    assert token.main() == 0
    printed = capsys.readouterr()
    bearer = printed.out.strip()
    made = token.stage_service(os.environ)
    principal = made.authenticator.authenticate(f"Bearer {bearer}", made.clock(None))
    assert (principal.namespace, principal.label) == ("team-a", "admin")
    assert "admin" in principal.scopes
    assert bearer not in printed.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STAGE", "Prod!"),
        ("NAMESPACE", "a/b"),
        ("LABEL", "x" * 65),
        ("SKEW_MARGIN_MS", "abc"),
        ("ENDPOINT", "http://[::1"),
    ],
)
def test_a_bad_variable_is_named(name: str, value: str) -> None:
    assert name in refused(**{name: value, "AWS_DEFAULT_REGION": "us-east-1"})


def test_a_missing_region_is_told_with_the_variable_to_set() -> None:
    assert "AWS_DEFAULT_REGION" in refused()


def test_missing_credentials_are_told() -> None:
    """The look-up of credentials on the machine's own network address is shut, so that it ends at once."""
    assert "credentials" in refused(AWS_DEFAULT_REGION="us-east-1", AWS_EC2_METADATA_DISABLED="true").lower()
