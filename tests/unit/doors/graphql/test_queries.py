"""What a query may be: its language, its literals, its variables, and what is said where something is wrong."""

import json
import logging
import time
from typing import Any

import pytest

from kapsoweb.doors import limits
from tests.support.toy_schema import ask, calls, raw, refused

SECRET = "secret text of an item"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", "query-syntax"),
        ("{", "query-syntax"),
        ("# nothing", "query-syntax"),
        ('{echo(text:"no end', "query-syntax"),
        (r'{echo(text:"\ud800")}', "query-syntax"),
        (r'{echo(text:"\u0000")}', "invalid-query"),
        (r'{echo(json:{a:["\u0000"]})}', "invalid-query"),
        ("{nobody{name}}", "invalid-query"),
        ("{row}", "invalid-query"),
        ("{row{name(x:1)}}", "invalid-query"),
        ("type A{b:Int}", "invalid-query"),
        ("fragment f on Row{name}", "invalid-query"),
        ("query A{row{name}} query A{row{name}}", "invalid-query"),
        ("mutation{row{name}}", "unknown-operation"),
        ("subscription{row{name}}", "unknown-operation"),
    ],
)
def test_what_is_no_query_of_the_schema_is_refused(query: str, found: str) -> None:
    assert refused(query)[0] == found


def test_a_fault_says_where_it_is() -> None:
    status, body = ask("{\n  row { nope }\n  nobody\n}")
    assert status == 400
    assert [error["locations"] for error in body["errors"]] == [
        [{"line": 2, "column": 9}],
        [{"line": 3, "column": 3}],
    ]


def test_a_refusal_names_a_few_faults_and_no_more() -> None:
    _, body = ask("{row{" + " ".join(f"nope{number}" for number in range(100)) + "}}")
    assert len(body["errors"]) == limits.GRAPHQL_ERRORS + 1  # the last says that there are more


def test_one_operation_is_executed_and_it_is_named_where_there_are_several() -> None:
    two = "query A{row{name}} query B{rows{nextCursor}}"
    assert refused(two)[0] == "unknown-operation"
    assert refused(two, operationName="C")[0] == "unknown-operation"
    assert refused("{row{name}}", operationName="A")[0] == "unknown-operation"
    assert ask(two, operationName="B")[1] == {"data": {"rows": {"nextCursor": None}}}
    assert calls == ["rows"]


BIG = 2**53 + 1
VALUES = [
    BIG,
    -(10**299),
    2**31,
    -(2**63),
    0,
    1.5,
    1e300,
    True,
    False,
    None,
    "",
    "é\u2028",
    [],
    {},
    {"a": [{"b": BIG}]},
]


@pytest.mark.parametrize("value", VALUES)
def test_json_is_exact_in_variables(value: Any) -> None:
    assert ask("query($v:JSON){echo(json:$v)}", {"v": value})[1] == {"data": {"echo": {"json": value}}}


def literal(value: Any) -> str:
    """A value as a literal of the language."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{name}:{literal(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(literal, value)) + "]"
    return json.dumps(value)


@pytest.mark.parametrize("value", VALUES)
def test_json_is_exact_in_literals(value: Any) -> None:
    assert ask(f"{{echo(json:{literal(value)})}}")[1] == {"data": {"echo": {"json": value}}}


def test_a_json_literal_may_hold_variables() -> None:
    query = "query($v:JSON,$n:Int,$x:String){echo(json:{a:$v,b:[$n,$x]})}"
    assert ask(query, {"v": {"big": BIG}, "n": 7})[1] == {
        "data": {"echo": {"json": {"a": {"big": BIG}, "b": [7, None]}}}
    }


@pytest.mark.parametrize(
    "text",
    ["{a:1,a:2}", "{a:{b:1,b:1}}", "FOO", "[FOO]", "1e999", "[-1e999]", "1" + "0" * 300, "{a:[" + "9" * 400 + "]}"],
)
def test_a_json_literal_has_no_repeated_keys_bare_words_infinities_or_endless_numbers(text: str) -> None:
    assert refused(f"{{echo(json:{text})}}")[0] == "invalid-query"


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("whole:Int", True),
        ("whole:Int", "5"),
        ("whole:Int", 2**31),
        ("whole:Int", 1.5),
        ("whole:Int", 10**400),
        ("number:Float", True),
        ("number:Float", "1.5"),
        ("flag:Boolean", 1),
        ("flag:Boolean", "true"),
        ("text:String", 5),
        ("text:String", True),
        ("text:String", ["a"]),
        ("name:ID", True),
        ("name:ID", 1.5),
        ("big:BigInt", True),
        ("big:BigInt", "5"),
        ("big:BigInt", 1.5),
        ("time:Time", "2026-03-01T12:00:00Z"),
    ],
)
def test_nothing_is_converted(argument: str, value: Any) -> None:
    name, kind = argument.split(":")
    body = {"v": value}
    if value == 10**400:
        query = json.dumps(f"query($v:{kind}){{echo({name}:$v)}}")
        assert raw(f'{{"query": {query}, "variables": {{"v": 1{"0" * 400}}}}}') == "unreadable-json"
    else:
        found, detail = refused(f"query($v:{kind}){{echo({name}:$v)}}", body)
        assert (found, list(detail["variables"])) == ("invalid-variables", ["$v"])
    assert refused(f"{{echo({name}:{json.dumps(value)})}}")[0] == "invalid-query"


def test_whole_numbers_of_any_size_have_a_type_of_their_own() -> None:
    assert ask(f"{{echo(big:{2**80})}}")[1] == {"data": {"echo": {"big": 2**80}}}
    assert ask("query($v:BigInt){echo(big:$v)}", {"v": -(2**80)})[1] == {"data": {"echo": {"big": -(2**80)}}}


def test_variables_are_those_that_the_operation_declares() -> None:
    query = "query($a:Int!,$b:Float=2){echo(whole:$a,number:$b)}"
    assert refused(query, {})[1]["variables"] == {"$a": ["is required."]}
    assert refused(query, {"a": 1, "c": 1})[1]["variables"] == {
        "$c": ["is not declared by the operation; leave it out."]
    }
    assert refused(query, {"a": None})[0] == "invalid-variables"
    assert ask(query, {"a": 1})[1] == {"data": {"echo": {"whole": 1, "number": 2.0}}}


def test_a_variable_that_is_null_where_none_may_be_is_refused_at_its_field() -> None:
    query = "query($a:Boolean=true){row{name @include(if:$a)}}"
    status, body = ask(query, {"a": None})
    assert status == 200
    assert body["errors"][0]["extensions"]["id"] == "invalid-argument"


def test_many_values_in_variables_are_refused() -> None:
    for value in ([0] * limits.GRAPHQL_VARIABLE_VALUES, {"a": [[0] * 1000] * 251}, [[[]]] * 130_000):
        assert refused("query($v:JSON){echo(json:$v)}", {"v": value})[0] == "variables-too-large"


def test_commas_within_texts_are_no_values() -> None:
    text = ',"\\,' * limits.GRAPHQL_VARIABLE_VALUES
    assert ask("query($v:JSON){echo(json:$v)}", {"v": text})[1]["data"]["echo"]["json"] == text
    most = [0] * (limits.GRAPHQL_VARIABLE_VALUES - 1)
    assert ask("query($v:JSON){echo(json:$v)}", {"v": most}, operationName=None, extensions={})[0] == 200


@pytest.mark.parametrize("start", ['{"query": "', '{"query": "x", "variables": {"v": "', '"'])
@pytest.mark.parametrize("rest", [",", '\\",', '",', "\\\\,"])
def test_a_body_that_is_no_json_is_refused_as_fast(start: str, rest: str) -> None:
    began = time.monotonic()
    assert raw((start + rest * 3_000_000)[:12_000_000]) in ("unreadable-json", "variables-too-large")
    assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        (f'{{echo(whole:"{SECRET}")}}', {}),
        (f'{{echo(flag:["{SECRET}"])}}', {}),
        (f'{{echo("{SECRET}")}}', {}),
        (f'{{echo("""{SECRET}""")}}', {}),
        ("query($v:Int){echo(whole:$v)}", {"v": SECRET}),
        ("query($v:[Int]){row{name}}", {"v": [SECRET] * 100}),
        ("query($v:BigInt){echo(big:$v)}", {"v": {"a": SECRET}}),
        ("{fault{name}}", {}),
    ],
)
def test_no_refusal_repeats_a_text_that_was_sent_or_is_stored(query: str, variables: dict[str, Any]) -> None:
    _, body = ask(query, variables)
    assert body["errors"]
    assert SECRET not in json.dumps(body)


def test_an_error_of_a_room_keeps_its_id_and_detail_and_spoils_its_field_alone() -> None:
    status, body = ask("{torn{name} row{name}}")
    assert status == 200
    assert body["data"] == {"torn": None, "row": {"name": "a"}}
    assert body["errors"] == [
        {
            "message": "it is torn; mend it.",
            "path": ["torn"],
            "extensions": {"id": "torn", "detail": {"thread": 3}},
        }
    ]


def test_a_fault_of_the_lab_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "kapsoweb.doors.graphql"):
        status, body = ask("{again: fault{name}}")
    assert status == 200
    assert body["data"] == {"again": None}
    assert body["errors"][0]["extensions"] == {"id": "internal-error", "detail": {}}
    (record,) = caplog.records
    assert record.getMessage() == "the field again failed"
    assert record.exc_info
