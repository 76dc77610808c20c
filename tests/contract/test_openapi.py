"""The schema of the REST door: it is whole, it has no warnings, and it changes only when somebody means it to."""

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import URLPattern, URLResolver, get_resolver

from kapsoweb.doors.access_rules import access_of
from kapsoweb.doors.rest.operations import operation_of
from kapsoweb.doors.rest.schema import schema_document

SNAPSHOT = Path(__file__).with_name("openapi.v1.json")
RENEW = "KAPSOWEB_RENEW_SNAPSHOTS=1 python -m pytest tests/contract/test_openapi.py"
DOCUMENT = schema_document()
OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
}


def test_the_schema_is_the_one_that_was_agreed() -> None:
    text = json.dumps(DOCUMENT, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("KAPSOWEB_RENEW_SNAPSHOTS"):
        SNAPSHOT.write_text(text, encoding="utf-8")
    agreed = SNAPSHOT.read_text(encoding="utf-8")
    assert text == agreed, f"the schema has changed; if that is meant, look at the difference after: {RENEW}"


def test_the_generator_has_nothing_to_complain_of_and_the_schema_is_valid() -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", format="openapi-json", stdout=io.StringIO())


def test_every_operation_has_a_name_of_its_own() -> None:
    names = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(names) == len(set(names))
    assert all(name[0].islower() and name.isalnum() for name in names)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_described_with_examples_and_all_its_refusals(name: str) -> None:
    operation = OPERATIONS[name]
    assert operation["summary"]
    assert operation["description"]
    assert len(operation["tags"]) == 1
    statuses = set(operation["responses"])
    assert {"400", "405", "406", "414", "500"} <= statuses
    assert statuses & {"200", "201", "202", "204"}
    if name != "GET /api/v1/schema":
        assert operation["security"] == [{"bearer": []}]
        assert {"401", "403"} <= statuses
    if "{" in name:
        assert "404" in statuses
    if not name.startswith("GET"):
        assert {"409", "413", "415"} <= statuses
        assert [p["name"] for p in operation["parameters"] if p["in"] == "header"] == ["Idempotency-Key"]
    for status, answer in operation["responses"].items():
        if int(status) >= 400:
            assert answer["$ref"].startswith("#/components/responses/")
        elif status != "204" and name not in WITHOUT_EXAMPLE:
            assert examples_in(answer), f"{status} has no example"
    if "requestBody" in operation:
        assert examples_in(operation["requestBody"]), "the body has no example"


WITHOUT_EXAMPLE = {"GET /api/v1/schema", "GET /api/v1/cyclotrons/{cyclotronId}/reports/{reportId}/csv"}


def examples_in(part: dict[str, Any]) -> bool:
    return any(content.get("examples") or "example" in content for content in part["content"].values())


def test_every_refusal_has_the_one_shape() -> None:
    for name, answer in DOCUMENT["components"]["responses"].items():
        (content,) = answer["content"].values()
        assert content["schema"] == {"$ref": "#/components/schemas/Error"}, name
        assert set(content["example"]["error"]) == {"id", "message", "detail"}, name


def test_bodies_are_closed_and_named_in_camel_case() -> None:
    for name, schema in DOCUMENT["components"]["schemas"].items():
        if name.endswith("Request"):
            assert schema["additionalProperties"] is False, name
        for key in schema.get("properties", {}):
            assert "_" not in key, f"{name}.{key}"


def patterns(resolver: URLResolver, prefix: str = "") -> list[tuple[str, URLPattern]]:
    found: list[tuple[str, URLPattern]] = []
    for entry in resolver.url_patterns:
        where = prefix + str(entry.pattern)
        found += patterns(entry, where) if isinstance(entry, URLResolver) else [(where, entry)]
    return found


API_PATTERNS = [(where, entry) for where, entry in patterns(get_resolver()) if where.startswith("api/v1/")]


def test_every_address_of_the_door_has_an_access_rule_and_is_in_the_schema() -> None:
    shown = set()
    for where, entry in API_PATTERNS:
        view: Any = entry.callback
        assert access_of(view) is not None, where
        for method in ("get", "post", "patch", "delete"):
            declared = operation_of(getattr(view.cls, method, None))
            if hasattr(view.cls, method):
                assert declared is not None, f"{method} {where} is not declared as an operation"
                shown.add(declared.id)
    assert shown == {operation["operationId"] for operation in OPERATIONS.values()}
