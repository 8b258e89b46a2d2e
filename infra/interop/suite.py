"""`octostore-test`: OctoStore's integration test, which passes 16 of its 18 on OctoStore itself."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from infra.interop.checks import Check
from infra.interop.octostore import environment

# Where this service differs on purpose. If one of them passed, docs/octostore.md would be wrong.
DIFFERENT = ("Double Acquire (idempotent)", "SSE Watch API")
TESTS = 18
# One of its tests waits 16 s for a session to end.
MOST_SECONDS = 120

PASSED, FAILED = "passed", "failed"

_colour = re.compile(r"\x1b\[\d+m")
# ` ✅ Health Check ................ (  3ms)`, and below it, if it failed, the reason.
_result = re.compile(r"^ (?P<mark>✅|❌) (?P<name>.+?) \.* *\(\s*\d+ms\)$(?:\n    (?P<reason>.+))?", re.MULTILINE)


def checks(program: Path, *, url: str, token: str) -> list[Check]:
    results = list(_results(_output(program, url, token)))
    passed = sum(check.found == PASSED for check in results)
    return [*results, Check("octostore-test, passed of 18", str(passed), str(TESTS - len(DIFFERENT)))]


def _output(program: Path, url: str, token: str) -> str:
    """It takes the token from its command line alone; this one ends with the service, in a minute."""
    done = subprocess.run(  # noqa: S603 - no part comes from outside
        [program, "--url", url, "--token", token],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
    )
    return _colour.sub("", done.stdout)


def _results(output: str) -> Iterator[Check]:
    for found in _result.finditer(output):
        name = found["name"]
        yield Check(
            f"octostore-test, {name}",
            PASSED if found["mark"] == "✅" else FAILED,
            FAILED if name in DIFFERENT else PASSED,
            found["reason"] or "",
        )
