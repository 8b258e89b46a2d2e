"""`make token`: the first admin token of a stage, written straight into its table and shown once."""

import os
import re
import sys
from collections.abc import Mapping

from botocore.exceptions import BotoCoreError

from chalicelib import names, service, settings, tokens
from chalicelib.errors import ServiceError
from chalicelib.service import Service
from chalicelib.tokens import NewToken
from infra import tables
from infra.options import CannotStart, read_endpoint

LONGEST_LABEL = 64
_stage = re.compile("[a-z][a-z0-9-]{0,31}")


class Refused(Exception):
    """The message is for the person at the keyboard, and says what to do."""


def main() -> int:
    try:
        made = mint(stage_service(os.environ), namespace=_namespace(os.environ), label=_label(os.environ))
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    print(made)
    print(f"This is shown once: keep it now. To end it: DELETE /tokens/{made.split('_')[1]}", file=sys.stderr)
    return 0


def mint(made_for: Service, *, namespace: str, label: str) -> str:
    new = NewToken(
        token_id=tokens.new_id(),
        secret=tokens.new_secret(),
        namespace=namespace,
        label=label,
        scopes=["admin"],
        prefix="",
        lifetime_ms=None,
    )
    try:
        made_for.tokens.create(new, made_for.clock(None))
    except ServiceError as error:
        raise Refused(f"The token was not made: {error.logged or error.message}") from error
    return new.bearer


def revoke(made_for: Service, bearer: str) -> None:
    _, token_id, _ = bearer.split("_")
    made_for.tokens.revoke(token_id, made_for.clock(None))


def stage_service(environ: Mapping[str, str]) -> Service:
    """Needs the credentials of somebody who may write the stage's token table."""
    stage = environ.get("STAGE") or "dev"
    if not _stage.fullmatch(stage):
        raise Refused(f"STAGE={stage!r} is no stage: use small letters, digits and -, as in STAGE=prod.")
    try:
        environment = {**tables.names(f"octolease-{stage}"), "DYNAMODB_ENDPOINT": read_endpoint(environ) or ""}
        chosen = settings.load({**environ, **environment})
        return service.build(chosen, service.connect(chosen))
    except (settings.SettingError, CannotStart) as error:
        raise Refused(str(error)) from error
    except BotoCoreError as error:
        raise Refused(
            f"AWS cannot be reached: {error} Set AWS_DEFAULT_REGION and credentials, as for the AWS CLI."
        ) from error


def _label(environ: Mapping[str, str]) -> str:
    label = environ.get("LABEL") or "admin"
    if len(label) > LONGEST_LABEL:
        raise Refused(f"LABEL has {len(label)} characters: use at most {LONGEST_LABEL}.")
    return label


def _namespace(environ: Mapping[str, str]) -> str:
    namespace = environ.get("NAMESPACE") or "default"
    if not names.is_namespace(namespace):
        raise Refused(f"NAMESPACE={namespace!r}: use 1 to 32 small letters, digits and -, as in NAMESPACE=team-a.")
    return namespace


if __name__ == "__main__":
    sys.exit(main())
