"""What the service does not do: to let PynamoDB build the same update again for each request."""

import runpy
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model

from chalicelib import forms
from chalicelib.row import Lease
from chalicelib.verbs import claim


def builder_of_an_acquire(key: str) -> Callable[[], dict[str, Any]]:
    """The condition and the actions are made once, so this is the least that building anew could cost."""
    with patch.object(forms, "compile_form", _not_compiled):
        condition, actions = runpy.run_path(claim.__file__)["form"](seen="nothing", bound=False)
    return lambda: Lease(key).get_update_kwargs_from_instance(
        actions=list(actions), condition=condition, return_values_on_condition_failure="ALL_OLD"
    )


def _not_compiled(
    _model: type[Model], *, condition: Condition, actions: Sequence[Action], **_: Any
) -> tuple[Condition, Sequence[Action]]:
    return condition, actions
