"""An update whose expressions are built once, by PynamoDB, and whose values each request fills in.

The expressions of a verb never change, only their values do. Building them anew for each request would cost nearly a
third of the DynamoDB call itself (the bench prints it), so a `Form` is compiled once, at the latest when it is first
used.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.operand import Value
from pynamodb.expressions.update import Action
from pynamodb.models import Model

Values = Mapping[str, str | int]
Returns = Literal["NONE", "ALL_OLD", "ALL_NEW"]

_placeholder = re.compile(r":\d+")


class Slot(str):
    """The name of a value that is not known before the request."""


def text(slot: str) -> Any:
    """Any: PynamoDB's operand of a value that has its type already, which its attributes' hints leave out."""
    return Value({"S": Slot(slot)})


def number(slot: str) -> Any:
    return Value({"N": Slot(slot)})


@dataclass(frozen=True, slots=True)
class Form:
    """A conditional update, complete but for its key and the values of its slots."""

    key_name: str
    static: Mapping[str, Any]
    constants: Mapping[str, Mapping[str, str]]
    slots: tuple[tuple[str, str, Slot], ...]

    def request(self, key: str, values: Values) -> dict[str, Any]:
        filled = dict(self.constants)
        for placeholder, kind, slot in self.slots:
            filled[placeholder] = {kind: str(values[slot])}
        return {**self.static, "Key": {self.key_name: {"S": key}}, "ExpressionAttributeValues": filled}


def compile_form(
    model: type[Model], *, condition: Condition, actions: Sequence[Action], returns: Returns = "NONE"
) -> Form:
    built = model("a key").get_update_kwargs_from_instance(
        actions=list(actions), condition=condition, return_values_on_condition_failure="ALL_OLD"
    )
    del built["TableName"]
    (key_name,) = built.pop("Key")
    constants, slots, renamed = _split(built.pop("ExpressionAttributeValues"))
    for expression in ("UpdateExpression", "ConditionExpression"):
        built[expression] = _placeholder.sub(lambda found: renamed[found[0]], built[expression])
    return Form(key_name, {**built, "ReturnValues": returns}, constants, slots)


def _split(
    built: Mapping[str, Mapping[str, str]],
) -> tuple[dict[str, Mapping[str, str]], tuple[tuple[str, str, Slot], ...], dict[str, str]]:
    """Parts the constants from the slots, and names each after its value, so that a value is sent once."""
    constants: dict[str, Mapping[str, str]] = {}
    slots: dict[str, tuple[str, str, Slot]] = {}
    renamed: dict[str, str] = {}
    for placeholder, typed in built.items():
        ((kind, value),) = typed.items()
        if isinstance(value, Slot):
            renamed[placeholder] = f":{value}"
            slots[f":{value}"] = (f":{value}", kind, value)
        else:
            renamed[placeholder] = f":{kind}_{value}"
            constants[f":{kind}_{value}"] = typed
    return constants, tuple(slots.values()), renamed


@dataclass(frozen=True, slots=True)
class Write:
    """A verb as a value: which form, on which row, with which values."""

    form: Form
    key: str
    values: Values

    def request(self) -> dict[str, Any]:
        return self.form.request(self.key, self.values)

    def in_transaction(self) -> dict[str, Any]:
        """A transaction returns no rows but those that refused it."""
        request = self.request()
        del request["ReturnValues"]
        return request
