"""`make bench`: one run, one table. Ends with 1 if a figure is not what it must be."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import calls, cpu, handler, listing, table, throughput
from bench.figures import Section
from bench.stand import Stand
from infra.standins import ministack


def main() -> int:
    asked = _arguments()
    try:
        sections = _shown(_measured())
    except ministack.MiniStackError as error:
        print(error, file=sys.stderr)
        return 1
    print(table.verdict(sections))
    if asked.json:
        asked.json.write_text(json.dumps(table.as_json(sections), indent=2) + "\n")
    return 1 if any(section.missed for section in sections) else 0


def _shown(measured: Iterator[Section]) -> list[Section]:
    """Each as soon as it is there: what was measured is not lost if a later part fails."""
    sections, screen = list[Section](), sys.stdout
    with handler.sealed():
        for section in measured:
            print(table.as_text(section), end="\n\n", file=screen, flush=True)
            sections.append(section)
    return sections


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file as well")
    return parser.parse_args()


def _measured() -> Iterator[Section]:
    _say("Measuring for about a minute: calls and capacity …")
    with ministack.running() as endpoint:
        stand = Stand(endpoint)
        yield calls.of_each_verb(stand)
        yield calls.of_a_row(stand)
        yield listing.of_a_page(stand)
    _say("CPU …")
    yield cpu.of_an_acquire()
    _say("the local service …")
    yield throughput.of_the_local_service()


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
