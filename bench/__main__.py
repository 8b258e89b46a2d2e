"""`make bench`: one run, one table. Ends with 1 if a figure is not what it must be."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import among_many, cpu, handler, job_calls, listing, lock_calls, rows, session_calls, table, throughput
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
    _say("Measuring for a minute or two: calls and capacity …")
    with ministack.running() as endpoint:
        stand = Stand(endpoint)
        yield lock_calls.of_each_verb(stand)
        yield job_calls.of_each_verb(stand)
        yield session_calls.of_each_verb(stand)
        yield rows.of_a_row(stand)
        yield rows.of_a_checkpoint(stand)
        yield listing.of_a_page(stand)
    with ministack.running() as endpoint:  # an empty one: a page of recovery reads whatever a shard holds
        yield among_many.of_a_page(Stand(endpoint))
    _say("CPU …")
    yield cpu.of_an_acquire()
    _say("the local service …")
    yield throughput.of_the_local_service()


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
