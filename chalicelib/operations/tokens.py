"""The routes of the token face."""

from chalicelib import errors
from chalicelib.operations import ALWAYS, WITH_BODY, Operation
from chalicelib.operations.examples import SOON
from chalicelib.wire import tokens as wire

TOKEN_EXAMPLE = {
    "id": "9f86d081884c7d65",
    "namespace": "default",
    "label": "ci",
    "scopes": ["claim"],
    "prefix": "ci/",
    "created_at": SOON,
    "expires_at": None,
    "revoked_at": None,
}
NEW_TOKEN_EXAMPLE = {**TOKEN_EXAMPLE, "token": "olt_9f86d081884c7d65_<64 hex digits>"}
CREATE = Operation(
    name="createToken",
    summary="Make a token in the caller's namespace, no wider than the caller's own",
    scope="admin",
    body=wire.CreateToken,
    body_example={"label": "ci", "scopes": ["claim"], "prefix": "ci/"},
    answers=((201, wire.NewToken),),
    examples=(NEW_TOKEN_EXAMPLE,),
    errors=(*ALWAYS, *WITH_BODY),
)
LIST = Operation(
    name="listTokens",
    summary="The tokens of the caller's namespace, without their secrets",
    scope="admin",
    query=("limit", "cursor"),
    answers=((200, wire.TokenPage),),
    examples=({"tokens": [TOKEN_EXAMPLE], "next_cursor": None},),
    errors=(*ALWAYS, errors.InvalidInput),
)
REVOKE = Operation(
    name="revokeToken",
    summary="End a token; refused everywhere within 30 seconds",
    scope="admin",
    answers=((204, None),),
    examples=(None,),
    errors=(*ALWAYS, errors.NotFound),
)
ROTATE = Operation(
    name="rotateToken",
    summary="Give the caller's own token a new secret; the old one ends within 30 seconds",
    scope="read",
    answers=((200, wire.NewToken),),
    examples=(NEW_TOKEN_EXAMPLE,),
    errors=ALWAYS,
)
