"""The compiled forms against what PynamoDB builds for the same update."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from chalicelib import recovery_marks, sessions, tokens
from chalicelib.forms import Form, compile_form, number, text
from chalicelib.row import Lease
from chalicelib.verbs import claim, ending, handover, heartbeat, release, steering
from tests.world import World


def forms_in(value: object) -> Iterator[Form]:
    if isinstance(value, Form):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from forms_in(inner)


def shapes() -> Iterator[heartbeat.Shape]:
    for bound, looked, carries, ordered, checkpoint, metadata, logged in product([False, True], repeat=7):
        for end in ("given", "own", "stays"):
            if bound or not (looked or carries):
                yield heartbeat.Shape(bound, looked, carries, end, ordered, checkpoint, metadata, logged)


MODULES = (tokens, sessions, recovery_marks, release, ending, steering)
NAMED = {
    f"{module.__name__.split('.')[-1]}.{name}-{number}": form
    for module in MODULES
    for name, value in vars(module).items()
    for number, form in enumerate(forms_in(value))
}
CLAIMS = {
    f"claim-{seen}-{bound}": claim.form(seen, bound)
    for seen in ("nothing", "fence", "dead holder")
    for bound in (False, True)
}
HANDOVERS = {
    f"handover-{number}": handover.form(given=given, looked=looked, checkpoint=checkpoint)
    for number, (given, looked, checkpoint) in enumerate(product([False, True], repeat=3))
}
HEARTBEATS = {f"heartbeat-{number}": heartbeat.form(shape) for number, shape in enumerate(shapes())}
FORMS = {**NAMED, **CLAIMS, **HANDOVERS, **HEARTBEATS}


def test_no_verb_is_left_out() -> None:
    assert {name.split(".")[0] for name in NAMED} == {module.__name__.split(".")[-1] for module in MODULES}
    verbs_with_forms = {
        file.stem for file in Path(claim.__file__).parent.glob("*.py") if "compile_form" in file.read_text()
    }
    assert verbs_with_forms == {"claim", "heartbeat", "handover", "release", "ending", "steering"}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_write_carries_a_condition_and_asks_for_the_row_that_refuses(form: Form) -> None:
    assert form.static["ConditionExpression"]
    assert form.static["ReturnValuesOnConditionCheckFailure"] == "ALL_OLD"


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_no_form_deletes_a_row_or_sends_a_value_that_it_does_not_use(form: Form) -> None:
    expressions = form.static["UpdateExpression"] + form.static["ConditionExpression"]
    for placeholder in [*form.constants, *(placeholder for placeholder, _, _ in form.slots)]:
        assert placeholder in expressions
    assert "DELETE" not in form.static["UpdateExpression"]


def test_a_value_used_twice_is_sent_once() -> None:
    form = compile_form(
        Lease,
        condition=(Lease.owner == text("who")) & (Lease.fence < number("fence")),
        actions=(Lease.owner.set(text("who")), Lease.fence.set(number("fence")), Lease.rev.set(Lease.rev + 1)),
    )
    values = form.request("ns/name", {"who": "me", "fence": 7})["ExpressionAttributeValues"]
    assert values == {":who": {"S": "me"}, ":fence": {"N": "7"}, ":N_1": {"N": "1"}}


def test_a_missing_value_is_an_error_and_no_null() -> None:
    form = compile_form(Lease, condition=Lease.key.exists(), actions=(Lease.owner.set(text("who")),))
    with pytest.raises(KeyError):
        form.request("ns/name", {})


def test_each_verb_is_one_write_when_it_is_alone(world: World) -> None:
    lease = world.claimed()
    world.claim()
    world.renew(lease.lease_id)
    world.release(lease.lease_id)
    assert world.transport.calls == ["UpdateItem"] * 4
    world.transport.forget()
    world.inspect()
    assert world.transport.calls == ["GetItem"]


def test_a_realistic_row_stays_under_a_kilobyte(world: World) -> None:
    """One byte more doubles the price of each heartbeat; the bench prints how much is left."""
    name = "repo/octolease/issue-1842"
    for _ in range(2):
        key = "0b0e9f0e-9a6e-4b1c-8d0e-2f4b1c9a6e11"
        world.time.advance(seconds=600)
        world.claimed(name, owner="agent-7@runner-12", idempotency_key=key + str(_), metadata_json='"' + "m" * 60 + '"')
    raw = world.raw_row(name) or {}
    assert sum(len(attribute) + len(str(next(iter(value.values())))) for attribute, value in raw.items()) < 1024
