"""The page is complete, and says what the service does: it is generated from the types that do it."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from chalicelib import errors
from chalicelib.operations import Operation
from tests.http.client import Client, application

OPERATIONS = list(application().operations.values())


@pytest.fixture
def page(client: Client) -> dict[str, Any]:
    response = client.send("GET", "/openapi.json", headers={})
    assert response.status == 200
    document: dict[str, Any] = response.json()
    return document


def described(page: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in page["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_route_of_the_app_is_on_the_page_and_no_other(page: dict[str, Any]) -> None:
    routes = {f"{method} {path}" for path, methods in application().routes.items() for method in methods}
    assert {route for route, _ in described(page)} == routes


def test_every_reference_leads_somewhere(page: dict[str, Any]) -> None:
    def references(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            yield from (value for key, value in node.items() if key == "$ref")
            for value in node.values():
                yield from references(value)
        elif isinstance(node, list):
            for value in node:
                yield from references(value)

    found = set(references(page))
    assert found
    assert found <= {f"#/components/schemas/{name}" for name in page["components"]["schemas"]}


def test_every_field_that_is_parsed_is_on_the_page(page: dict[str, Any]) -> None:
    for operation in OPERATIONS:
        if operation.body is not None:
            schema = page["components"]["schemas"][operation.body.__name__]
            assert tuple(schema["properties"]) == operation.body.__struct_fields__


def test_the_limits_on_the_page_are_the_ones_that_refuse(client: Client, page: dict[str, Any]) -> None:
    properties = page["components"]["schemas"]["Acquire"]["properties"]
    ttl = next(option for option in properties["ttl_seconds"]["anyOf"] if option.get("type") == "integer")
    assert client.acquire("lowest", ttl_seconds=ttl["minimum"])["status"] == "acquired"
    assert client.acquire("highest", ttl_seconds=ttl["maximum"])["status"] == "acquired"
    assert client.acquire("job", ttl_seconds=ttl["minimum"] - 1)["code"] == "invalid_ttl"
    assert client.acquire("job", ttl_seconds=ttl["maximum"] + 1)["code"] == "invalid_ttl"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_example_is_of_its_type(operation: Operation) -> None:
    assert len(operation.answers) == len(operation.examples)
    for (_, shape), example in zip(operation.answers, operation.examples, strict=True):
        if shape is not None:
            msgspec.json.decode(msgspec.json.encode(example), type=shape)
            assert set(example) >= {name for name in shape.__struct_fields__ if name != "warnings"}
    if operation.body is not None:
        msgspec.json.decode(msgspec.json.encode(operation.body_example), type=operation.body)


def test_every_answer_and_error_has_an_example(page: dict[str, Any]) -> None:
    for route, operation in described(page):
        for status, response in operation["responses"].items():
            if status != "204":
                assert response["content"]["application/json"]["examples"], (route, status)


def test_every_error_code_is_on_the_page(page: dict[str, Any]) -> None:
    on_the_page = {
        title
        for _, operation in described(page)
        for response in operation["responses"].values()
        for title in response.get("content", {}).get("application/json", {}).get("examples", {})
    }
    codes = {kind.code for kind in all_errors()}
    # The gateway answers these two itself, for no route in particular.
    assert codes - {"method_not_allowed"} <= on_the_page


def all_errors() -> Iterator[type[errors.ServiceError]]:
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.ServiceError) and hasattr(kind, "code"):
            yield kind


def test_real_answers_have_just_the_fields_of_the_page(client: Client, page: dict[str, Any]) -> None:
    lease = client.acquire()
    answers = {
        "Acquired": lease,
        "Held": client.acquire(),
        "Renewed": client.post("/locks/job/renew", {"lease_id": lease["lease_id"]}).json(),
        "Lock": client.get("/locks/job").json(),
        "LockPage": client.get("/locks").json(),
        "TokenPage": client.get("/tokens").json(),
        "NewToken": client.post("/tokens", {}).json(),
        "Error": client.get("/locks/-").json(),
    }
    for name, answer in answers.items():
        schema = page["components"]["schemas"][name]
        assert set(schema["required"]) <= set(answer) <= set(schema["properties"]), name
