"""The pages are true: what they name is there, and what they show comes out when it is run."""

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pynamodb.models import Model

from chalicelib import errors, events, settings, verbs
from chalicelib.event_log import LoggedEvent
from chalicelib.row import Lease
from chalicelib.sessions import Session
from infra import tables
from tests.infra.test_local import started

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
README, DESIGN, FAULTS = (ROOT / name for name in ("README.md", "docs/design.md", "docs/faults.md"))
TABLES = tables.names("test")

LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
NAMED_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
ID_TIME_OR_WAIT = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|(?<=try again in )\d+ s"
)
COMMAND_OR_ANSWER = re.compile(r"^```(sh|json)\n(.*?)^```$", flags=re.M | re.S)
# A machine that is under test may be slower than the one that a person sits at.
SLEEPS_LONGER = "sleep() { command sleep $(($1 + 1)); }\n"
BETWEEN_BLOCKS = "between two blocks"
# Attempts and revs are below, milliseconds and fences above.
SMALLEST_THAT_DIFFERS = 1000


def section(page: Path, heading: str) -> str:
    """From a heading to the next one of the same rank."""
    rank = heading.split()[0]
    return re.split(rf"^{rank} ", page.read_text().split(f"\n{heading}\n")[1], maxsplit=1, flags=re.M)[0]


def rows(text: str) -> Iterator[list[str]]:
    """The rows of its tables whose first cell is code."""
    for line in text.splitlines():
        if line.startswith("| `"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def first_cells(text: str) -> list[str]:
    return [row[0].strip("`") for row in rows(text)]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.M)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def functions_in(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


def test_every_fault_names_a_test_and_every_named_test_exists() -> None:
    faults = [line for line in FAULTS.read_text().splitlines() if line.startswith("|") and not line.startswith("|---")]
    assert [line for line in faults if not NAMED_TEST.search(line) and "shown by" not in line] == []
    named = set(NAMED_TEST.findall(FAULTS.read_text()))
    assert {(path, test) for path, test in named if test not in functions_in(ROOT / path)} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text()):
        led_to = (page.parent / target).resolve() if target else page
        assert led_to.exists(), target
        assert not anchor or anchor in anchors(led_to), f"{target}#{anchor}"


@pytest.mark.parametrize(("page", "heading"), [(README, "## Routes"), (DESIGN, "## HTTP")], ids=["README", "design"])
def test_the_routes_of_the_page_are_those_of_the_app(page: Path, heading: str) -> None:
    calls = [node for node in ast.walk(ast.parse((ROOT / "app.py").read_text())) if isinstance(node, ast.Call)]
    served = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "serves"]
    in_app = [" ".join(ast.literal_eval(part) for part in call.args[:2]) for call in served]
    assert sorted(first_cells(section(page, heading))) == sorted(in_app)


def test_the_error_codes_of_the_readme_are_those_of_the_service() -> None:
    kinds = [kind for kind in vars(errors).values() if hasattr(kind, "code") and hasattr(kind, "status")]
    documented = {code.strip("`"): int(status) for code, status, _ in rows(section(README, "## Errors"))}
    assert documented == {kind.code: kind.status for kind in kinds}


def test_the_settings_of_the_readme_are_those_of_the_service() -> None:
    source = ast.parse(Path(settings.__file__).read_text())
    constants = [node.value for node in ast.walk(source) if isinstance(node, ast.Constant)]
    read = {value for value in constants if isinstance(value, str) and re.fullmatch("[A-Z][A-Z_]+", value)}
    of_the_service, _ = section(README, "## Settings").split("| make variable |")
    documented = {row[0].strip("`"): row[1] for row in rows(of_the_service)}
    assert set(documented) == read
    defaults = settings.load(TABLES)
    numbers = {name: int(default) for name, default in documented.items() if default.isdigit()}
    assert numbers == {name: getattr(defaults, name.lower()) for name in numbers}
    assert len(numbers) == 6
    assert documented["LOG_HEARTBEATS"] == str(defaults.log_heartbeats).lower()
    assert {name for name, default in documented.items() if default == "required"} == set(TABLES)


def test_the_make_variables_of_the_readme_are_those_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    exported = re.findall(r"^export (.*)$", makefile, flags=re.M)[0].split()
    defaulted = re.findall(r"^(\w+) \?=", makefile, flags=re.M)
    _, of_make = section(README, "## Settings").split("| make variable |")
    assert sorted(first_cells(of_make)) == sorted(exported + defaulted)


def test_every_make_target_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.M))
    for page in PAGES:
        assert set(re.findall(r"(?:^|`)make (\w+)", page.read_text(), flags=re.M)) <= targets, page


@pytest.mark.parametrize(
    ("heading", "model"),
    [("## The row", Lease), ("## Sessions", Session), ("## The event log", LoggedEvent)],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_the_attributes_of_the_design_are_those_of_the_row(heading: str, model: type[Model]) -> None:
    assert sorted(first_cells(section(DESIGN, heading))) == sorted(model.get_attributes())


def test_the_types_of_events_are_those_that_are_logged() -> None:
    assert first_cells(section(DESIGN, "## Events")) == list(events.TYPES)
    (told,) = re.findall(r"^- Types: (.*?)\.", section(README, "## The event log"), flags=re.M | re.S)
    assert re.findall(r"`(\w+)`", told) == list(events.TYPES)


def test_the_state_machine_of_the_design_is_that_of_the_verbs() -> None:
    (drawn,) = (block for block in blocks(DESIGN, "text") if block.startswith("How the row stands"))
    assert drawn in (verbs.__doc__ or "")


def test_the_resource_of_the_readme_refuses_the_one_who_paused() -> None:
    (source,) = blocks(README, "python")
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout in blocks(README, "text")
    assert done.stdout.split() == ["True", "True", "False", "done"]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_commands_of_the_readme_are_answered_as_it_shows(tmp_path: Path, shell: str) -> None:
    if not (shutil.which(shell) and shutil.which("curl")):
        pytest.skip(f"{shell} and curl are needed")
    commands = list(commands_and_what_is_shown(README))
    with started(tmp_path):
        answered = answers_to([command for command, _ in commands], shell, tmp_path)
    for (command, shown), answers in zip(commands, answered, strict=True):
        assert not shown or scrubbed(answers) == scrubbed(shown), command
        assert [answer for answer in answers if isinstance(answer, dict) and "code" in answer] == [], command
    assert sum(bool(shown) for _, shown in commands) >= 7
    first, again = one_answered(commands, answered, "idempotency_key")
    assert (first["status"], first["lease_id"]) == ("claimed", again["lease_id"])
    (token,) = one_answered(commands, answered, "/tokens")
    assert token["prefix"] == "ci/"


def commands_and_what_is_shown(page: Path) -> Iterator[tuple[str, list[Any]]]:
    """Each block of commands, with the answers that stand directly below it."""
    blocks_in_order = COMMAND_OR_ANSWER.findall(page.read_text())
    for (kind, block), (next_kind, next_block) in pairwise([*blocks_in_order, ("", "")]):
        if kind == "sh":
            yield block, list(values_in(next_block)) if next_kind == "json" else []


def answers_to(commands: list[str], shell: str, folder: Path) -> list[list[Any]]:
    """Of each block, run one after the other by one shell that stops at the first failure."""
    script = SLEEPS_LONGER + "set -eu\n" + f"echo '\"{BETWEEN_BLOCKS}\"'\n".join(commands)
    done = subprocess.run([shell, "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    groups: list[list[Any]] = [[]]
    for value in values_in(done.stdout):
        if value == BETWEEN_BLOCKS:
            groups.append([])
        else:
            groups[-1].append(value)
    return groups


def one_answered(commands: list[tuple[str, list[Any]]], answered: list[list[Any]], having: str) -> list[Any]:
    """What came of the one block that has this word in it."""
    (found,) = (answers for (command, _), answers in zip(commands, answered, strict=True) if having in command)
    return found


def values_in(text: str) -> Iterator[Any]:
    while text := text.strip():
        value, end = json.JSONDecoder().raw_decode(text)
        text = text[end:]
        yield value


def scrubbed(value: Any) -> Any:
    """Without what differs from run to run: ids, times and amounts."""
    match value:
        case dict():
            return {name: scrubbed(inner) for name, inner in value.items()}
        case list():
            return [scrubbed(inner) for inner in value]
        case str():
            return ID_TIME_OR_WAIT.sub("…", value)
        case int() if not isinstance(value, bool) and value >= SMALLEST_THAT_DIFFERS:
            return "a number"
        case _:
            return value
