"""The GraphQL schema: it is valid, every field that a request begins with has a rule, it changes on purpose alone."""

import os
import re
import subprocess
import sys
from pathlib import Path

import graphene
import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLScalarType,
    print_schema,
    validate_schema,
)

from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access_of
from kapsoweb.doors.graphql.fields import RootField, root_fields
from kapsoweb.doors.limits import PAGE_DEFAULT
from kapsoweb.schema import schema, view

SNAPSHOT = Path(__file__).with_name("schema.graphql")
RENEW = "KAPSOWEB_RENEW_SNAPSHOTS=1 python -m pytest tests/contract/test_graphql_schema.py"
SCHEMA = schema.graphql_schema
TYPES = {name: kind for name, kind in SCHEMA.type_map.items() if not name.startswith("__")}


def test_the_schema_is_the_one_that_was_agreed() -> None:
    text = print_schema(SCHEMA) + "\n"
    if os.environ.get("KAPSOWEB_RENEW_SNAPSHOTS"):
        SNAPSHOT.write_text(text, encoding="utf-8")
    agreed = SNAPSHOT.read_text(encoding="utf-8")
    assert text == agreed, f"the schema has changed; if that is meant, look at the difference after: {RENEW}"


def test_the_schema_is_valid() -> None:
    assert validate_schema(SCHEMA) == []


def test_the_two_operations_of_the_panel_are_written_as_hosts_expect_them() -> None:
    text = re.sub(r'""".*?"""', "", print_schema(SCHEMA), flags=re.DOTALL)
    plain = re.sub(r"\s+", " ", text)
    assert re.search(r"heldOutOverview\( ?cyclotronId: ID! classifier: String ?\): JSON ", plain)
    assert re.search(r"heldOutCommand\( ?action: String! payload: JSON! ?\): JSON ", plain.replace("!,", "!"))


@pytest.mark.parametrize("field", root_fields(SCHEMA), ids=lambda field: field.name)
def test_every_root_field_has_an_access_rule_and_can_be_null(field: RootField) -> None:
    assert field.access is not None
    assert field.access.needs is not None
    root = SCHEMA.query_type if field.operation == "query" else SCHEMA.mutation_type
    assert root is not None
    declared = root.fields[field.name]
    assert not str(declared.type).endswith("!"), "a field that is refused must not take others with it"
    named = {"id", "cyclotronId"} & set(declared.args)
    assert not named or field.access.record in named


def test_a_field_without_a_rule_would_be_found() -> None:
    class Query(graphene.ObjectType):
        open_to_all = graphene.String()

    (field,) = root_fields(graphene.Schema(query=Query).graphql_schema)
    assert field.access is None


def test_the_address_has_an_access_rule_like_any_other() -> None:
    rule = access_of(view)
    assert rule is not None
    assert rule.needs is Role.VIEWER


def test_everything_is_described_and_named_in_camel_case() -> None:
    own = (GraphQLObjectType, GraphQLInputObjectType, GraphQLInterfaceType, GraphQLEnumType, GraphQLScalarType)
    for name, kind in TYPES.items():
        assert isinstance(kind, own), name
        assert kind.description, name
        fields = getattr(kind, "fields", {})
        assert all("_" not in field for field in fields), name
        assert all("_" not in argument for field in fields.values() for argument in getattr(field, "args", {})), name


def test_every_list_by_pages_has_the_same_arguments_and_form() -> None:
    for name, kind in TYPES.items():
        if not isinstance(kind, GraphQLObjectType):
            continue
        assert ("nodes" in kind.fields) == name.endswith("Page")
        for field in kind.fields.values():
            if str(field.type).rstrip("!").endswith("Page"):
                assert field.args["first"].default_value == PAGE_DEFAULT
                assert "after" in field.args


def test_the_library_works_here_without_a_warning() -> None:
    """graphene-django declares support of an older Django than this."""
    code = (
        "import warnings; warnings.simplefilter('error'); "
        "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'kapsoweb.settings.test'; "
        "import django; django.setup(); "
        "import graphene_django.views; import kapsoweb.schema"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
