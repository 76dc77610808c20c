"""How much a query may ask for: whatever is hostile is refused at once, with an id, before anything runs."""

import time

import pytest
from graphql import get_introspection_query, parse

from kapsoweb.doors import limits
from kapsoweb.doors.graphql.errors import QueryTooLargeError
from kapsoweb.doors.graphql.fields import costs
from kapsoweb.doors.graphql.sizes import check_sizes
from tests.support.toy_schema import ask, refused, schema

SECONDS = 1.0  # a refusal takes milliseconds; the machine may be busy


def fan_out(count: int, inside: str = "row{name}", on: str = "Query") -> str:
    """Fragments of which each spreads the next one twice: 2 to the power of `count` when written out."""
    chain = "".join(f"fragment f{i} on {on}{{...f{i + 1} ...f{i + 1}}}" for i in range(count))
    return f"{chain} fragment f{count} on {on}{{{inside}}}"


TOO_LARGE = {
    "20,000 aliases": ("{" + " ".join(f"a{i}:row{{name}}" for i in range(20_000)) + "}", "characters"),
    "many tokens": ("{row{" + "name " * 2_000 + "}}", "tokens"),
    "many comments": ("#\n" * 10_001 + "{row{name}}", "characters"),
    "100,000 deep": ("{row" + "{child" * 100_000 + "}" * 100_000 + "}", "characters"),
    "deep within the text's limit": ("{row" + "{child" * 900 + "{name}" + "}" * 900 + "}", "levels of brackets"),
    "a literal that is deep": ("{echo(json:" + "[" * 900 + "]" * 900 + ")}", "levels of brackets"),
    "a literal of objects that is deep": ("{echo(json:" + "{a:" * 300 + "1" + "}" * 300 + ")}", "levels of brackets"),
    "a type that is deep": ("query($a:" + "[" * 900 + "Int" + "]" * 900 + "){row{name}}", "levels of brackets"),
    "brackets that never close": ("{" * 1_000, "levels of brackets"),
    "deeper than fields may be": ("{row" + "{child" * 17 + "{name}" + "}" * 17 + "}", "levels of fields"),
    "deep by a chain of fragments": (
        "{row{...f0}}"
        + "".join(f"fragment f{i} on Row{{child{{...f{i + 1}}}}}" for i in range(40))
        + "fragment f40 on Row{name}",
        "levels of fields",
    ),
    "many fragments": (
        "{row{...f0}}" + "".join(f"fragment f{i} on Row{{name}}" for i in range(51)),
        "fragments",
    ),
    "exponential fragments at the root": ("{...f0}" + fan_out(49), "fields"),
    "exponential fragments": ("{row{...f0}}" + fan_out(40, "name", "Row"), "fields"),
    "exponential fragments of aliases": ("{row{...f0}}" + fan_out(8, "a:name", "Row"), "aliases"),
    "fragments that nobody uses": ("{row{name}}" + fan_out(40, "name", "Row"), "fields"),
    "many root fields": (
        "{" + " ".join(f"a{i}:row{{name}}" for i in range(21)) + "}",
        "fields of the operation itself",
    ),
    "many aliases": ("{row{" + " ".join(f"a{i}:name" for i in range(51)) + "}}", "aliases"),
    "one field again and again": ("{row{" + "name " * 501 + "}}", "fields"),
    "many directives": ("{row{name " + "@a" * 600 + "}}", "fields"),
    "lists in lists": ("{row" + "{children" * 7 + "{name}" + "}" * 7 + "}", "units of cost (fields times rows)"),
    "documents of many rows": (
        "{rows(first:200){nodes{document again:document}}}",
        "units of cost (fields times rows)",
    ),
    "an operation that is not asked for": (
        "query A{row{name}} query B{rows(first:200){nodes{a:document document}}}",
        "units of cost (fields times rows)",
    ),
    "two whole introspections": (
        get_introspection_query().replace("__schema", "again: __schema", 1).replace("{", "{ __schema {...S} ", 1)
        + " fragment S on __Schema { types { ...FullType } directives { name args { ...InputValue } } }",
        "units of cost (fields times rows)",
    ),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_hostile_query_is_refused_at_once(name: str) -> None:
    query, measure = TOO_LARGE[name]
    began = time.monotonic()
    found, detail = refused(query, operationName="A" if "query A" in query else None)
    assert (found, detail["measure"]) == ("query-too-large", measure)
    assert time.monotonic() - began < SECONDS


@pytest.mark.parametrize(
    "query",
    [
        "{...a} fragment a on Query{...a}",
        "{...a} fragment a on Query{...b} fragment b on Query{row{name} ...a}",
        "{row{name}} fragment a on Row{child{...b}} fragment b on Row{child{...a}}",
    ],
)
def test_fragments_in_a_circle_are_refused(query: str) -> None:
    assert refused(query)[0] == "invalid-query"


def test_what_is_within_the_limits_is_answered() -> None:
    for query in (
        "{" + " ".join(f"a{i}:row{{name}}" for i in range(20)) + "}",
        "{row{" + " ".join(f"a{i}:name" for i in range(50)) + "}}",
        "{row" + "{child" * 14 + "{name}" + "}" * 14 + "}",
        "{row{...f0}}" + fan_out(8, "name", "Row"),
        "{rows(first:200){nodes{name child{name} document} nextCursor}}",
        "{echo(json:" + "[" * 61 + "]" * 61 + ")}",
    ):
        status, body = ask(query)
        assert (status, "errors" in body) == (200, False), body


def test_one_introspection_is_within_the_limits_and_is_counted() -> None:
    for query in (
        get_introspection_query(),
        get_introspection_query(
            specified_by_url=True,
            directive_is_repeatable=True,
            schema_description=True,
            input_value_deprecation=True,
            input_object_one_of=True,
        ),
    ):
        status, body = ask(query)
        assert (status, "errors" in body) == (200, False), body["errors"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "GRAPHQL_COST", 5_000)
        assert refused(get_introspection_query())[0] == "query-too-large"


def test_the_names_of_types_can_be_asked_for_anywhere() -> None:
    assert ask("{__typename row{__typename}}")[1] == {"data": {"__typename": "Query", "row": {"__typename": "Row"}}}


@pytest.mark.parametrize("first", ["0", "-1", "201", "9" * 500])
def test_a_page_has_one_to_two_hundred_rows(first: str) -> None:
    assert refused(f"{{rows(first:{first}){{nodes{{name}}}}}}")[0] == "invalid-page-size"


@pytest.mark.parametrize("variables", [{"n": 0}, {"n": 201}, {"n": 10**30}, {}])
def test_a_page_size_in_a_variable_is_held_to_the_same(variables: dict[str, int]) -> None:
    assert refused("query($n:Int=999){rows(first:$n){nodes{name}}}", variables)[0] == "invalid-page-size"


def test_a_page_size_in_a_variable_counts_in_the_cost() -> None:
    query = "query($n:Int=1){...p} fragment p on Query{rows(first:$n){nodes{document again:document}}}"
    assert ask(query)[0] == 200
    assert refused(query, {"n": 200})[1]["measure"].startswith("units of cost")


def test_a_page_size_of_another_type_is_left_to_the_rules() -> None:
    assert refused('{rows(first:"5"){nodes{name}}}')[0] == "invalid-query"
    assert refused("query($n:Int){rows(first:$n){nodes{name}}}", {"n": True})[0] == "invalid-variables"
    assert ask("query($n:Int){rows(first:$n){nodes{name}}}", {"n": None})[0] == 200


def test_a_field_may_declare_what_it_counts() -> None:
    document = parse("{row{name}}")
    check_sizes(schema.graphql_schema, document, {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema.graphql_schema.query_type.fields["row"], "resolve", costs(25_000)(lambda *_: None))
        with pytest.raises(QueryTooLargeError):
            check_sizes(schema.graphql_schema, document, {})
