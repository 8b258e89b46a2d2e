"""`make run`: the whole service in one process on this machine, until Ctrl-C."""

import os
import signal
import sys
from typing import Any

from infra.options import CannotStart, read_options

ENDS = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


class Ended(BaseException):
    """Somebody asked for the end. No error, so nothing on the way up may take it for one."""


def main() -> int:
    try:
        for number in ENDS:
            signal.signal(number, _end)
        options = read_options(os.environ)
        # Imported late: it takes a second, and Ctrl-C must be quiet already.
        from infra import laptop

        laptop.run(options)
    except CannotStart as error:
        print(error, file=sys.stderr)
        return 1
    except Ended:
        pass
    return 0


def _end(_number: int, _frame: Any) -> None:
    for number in ENDS:
        signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not break off the tidying up
    raise Ended


if __name__ == "__main__":
    sys.exit(main())
