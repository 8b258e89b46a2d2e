"""`make interop`: OctoStore's own programs against the service of `make run`. Ends with 1 if one is let down."""

import subprocess
import sys

from bench import local_service
from infra.interop import hold, octostore, suite
from infra.interop.checks import Check, table


def main() -> int:
    try:
        checks = _checks(octostore.installed())
    except (octostore.CannotInstall, local_service.NotStarted, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return 1
    print(table(checks))
    return 0 if all(check.holds for check in checks) else 1


def _checks(programs: octostore.Programs) -> list[Check]:
    with local_service.running() as service:
        _say("octostore-test, half a minute …")
        tested = suite.checks(programs.octostore_test, url=service.url, token=service.token)
        _say("octostore lock hold, a quarter of a minute …")
        return [*tested, *hold.checks(programs.octostore, url=service.url, token=service.token)]


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
