"""The OpenAPI 3.1 page, generated from the types that parse and render, so that it cannot drift from them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from chalicelib import errors, names, parse
from chalicelib.call import Answer
from chalicelib.operations import Operation
from chalicelib.operations.service import SENTENCES
from chalicelib.settings import TTL_CEILING_SECONDS, Settings
from chalicelib.version import VERSION
from chalicelib.wire import service as wire

Routes = Mapping[tuple[str, str], Operation]
Schema = dict[str, Any]

_REF = "#/components/schemas/{name}"
_REQUEST_ID = "req_0123456789abcdef0123456789abcdef"
_NAME = {"type": "string", "maxLength": names.LONGEST_NAME, "pattern": names.NAME_PATTERN}
_PATH_PARAMETERS: dict[str, Schema] = {
    "name": {"schema": _NAME, "example": "deploy-main", "description": "One path segment: write / as %2F."},
    "session_id": {"schema": {"type": "string", "format": "uuid"}, "example": "8d3f0c1e-52f1-4d0a-9a55-0a4a4a7a2f10"},
    "token_id": {"schema": {"type": "string", "pattern": "^[0-9a-f]{16}$"}, "example": "9f86d081884c7d65"},
}
_QUERY_PARAMETERS: dict[str, Schema] = {
    "owner": {
        "schema": {"type": "string", "maxLength": 256},
        "example": "agent-3",
        "description": "Only what this owner holds. An owner is a label: several may share it.",
    },
    "prefix": {
        "schema": {"type": "string", "maxLength": names.LONGEST_NAME, "pattern": "^[A-Za-z0-9._:@/-]*$"},
        "example": "repo/acme/",
        "description": "Only names that start with it.",
    },
    "limit": {
        "schema": {"type": "integer", "minimum": 1, "maximum": parse.LARGEST_PAGE, "default": parse.DEFAULT_PAGE},
        "example": parse.DEFAULT_PAGE,
        "description": "The size of a page. A page may have fewer although there is a next one.",
    },
    "since": {
        "schema": {"type": "string", "format": "date-time"},
        "example": "2026-11-18T12:00:00Z",
        "description": "Only what was logged at this time or later. Without it: from the oldest event that is kept.",
    },
    "cursor": {
        "schema": {"type": "string"},
        "example": "ZGVwbG95LW1haW4",
        "description": "`next_cursor` of the page before.",
    },
}


def page(routes: Routes, settings: Settings) -> Answer:
    return Answer(document(routes, settings))


def document(routes: Routes, settings: Settings) -> Schema:
    shapes = sorted({shape for operation in routes.values() for shape in _shapes(operation)}, key=str)
    # One call for all, in which equal types become one component; `schemas` is in the order of `shapes`.
    _, components = msgspec.json.schema_components(shapes, ref_template=_REF)
    _set_ttl_ceiling(components, settings.max_ttl_seconds)
    paths: dict[str, Schema] = defaultdict(dict)
    for (method, path), operation in routes.items():
        paths[path][method.lower()] = _operation(path, operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Octolease",
            "version": VERSION,
            "summary": "One owner for every job",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "olt_<id>_<secret>"}},
        },
    }


def _shapes(operation: Operation) -> Iterable[type[msgspec.Struct]]:
    yield wire.Error
    if operation.body is not None:
        yield operation.body
    yield from (shape for _, shape in operation.answers if shape is not None)


def _set_ttl_ceiling(components: dict[str, Schema], ceiling: int) -> None:
    """The types know the highest ceiling that a stage may set; the page tells of the one that it has set."""
    for component in components.values():
        ttl = component.get("properties", {}).get("ttl_seconds", {})
        for option in ttl.get("anyOf", ()):
            if option.get("maximum") == TTL_CEILING_SECONDS:
                option["maximum"] = ceiling


def _operation(path: str, operation: Operation) -> Schema:
    described: Schema = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_path_parameters(path), *_query_parameters(operation)],
        "responses": _responses(operation),
        "security": [] if operation.scope is None else [{"token": []}],
    }
    if operation.scope is not None:
        described["description"] = f"Needs the scope `{operation.scope}`."
    if operation.body is not None:
        described["requestBody"] = {
            "required": True,
            "content": _json(_reference(operation.body), operation.body_example),
        }
    return described


def _path_parameters(path: str) -> list[Schema]:
    return [
        {"name": name, "in": "path", "required": True, **described}
        for name, described in _PATH_PARAMETERS.items()
        if f"{{{name}}}" in path
    ]


def _query_parameters(operation: Operation) -> list[Schema]:
    return [{"name": name, "in": "query", "required": False, **_QUERY_PARAMETERS[name]} for name in operation.query]


def _responses(operation: Operation) -> Schema:
    by_status: dict[int, list[tuple[str, Schema, Any]]] = defaultdict(list)
    for (code, shape), example in zip(operation.answers, operation.examples, strict=True):
        by_status[code].append((_title(shape), _schema(shape), example))
    for error in operation.errors:
        by_status[error.status].append((error.code, _error_schema(error), _error_example(error)))
    return {str(code): _response(code, choices) for code, choices in sorted(by_status.items())}


def _response(code: int, choices: list[tuple[str, Schema, Any]]) -> Schema:
    described: Schema = {
        "description": " or ".join(title for title, _, _ in choices),
        "headers": {"X-Request-Id": {"schema": {"type": "string", "pattern": "^req_[0-9a-f]{32}$"}}},
    }
    if code in (429, 503):
        described["headers"]["Retry-After"] = {"schema": {"type": "integer", "minimum": 1}}
    if code != 204:
        schemas = [schema for _, schema, _ in choices]
        described["content"] = {
            "application/json": {
                "schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas},
                "examples": {title: {"value": example} for title, _, example in choices},
            }
        }
    return described


def _title(shape: type[msgspec.Struct] | None) -> str:
    return "ok" if shape is None else shape.__name__.lower()


def _schema(shape: type[msgspec.Struct] | None) -> Schema:
    return {} if shape is None else _reference(shape)


def _reference(shape: type[msgspec.Struct]) -> Schema:
    return {"$ref": _REF.format(name=shape.__name__)}


def _json(schema: Schema, example: Any) -> Schema:
    return {"application/json": {"schema": schema, "examples": {"example": {"value": example}}}}


def _error_schema(error: type[errors.ServiceError]) -> Schema:
    return {"allOf": [_reference(wire.Error), {"properties": {"code": {"const": error.code}}}]}


def _error_example(error: type[errors.ServiceError]) -> Schema:
    return {
        "error": SENTENCES[error.code],
        "code": error.code,
        "details": None,
        "request_id": _REQUEST_ID,
    }
