"""What the REST door takes and refuses, whatever the address."""

import json
from typing import Any

import pytest
from django.test import override_settings

from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.limits import JSON_BODY_BYTES, PAGE_MOST, QUERY_CHARACTERS
from tests.support.api import Program, refusal
from tests.support.sample_api import ACTION

pytestmark = [pytest.mark.services, pytest.mark.django_db, pytest.mark.urls("tests.support.sample_api")]


@pytest.fixture
def program() -> Program:
    return Program()


def done() -> int:
    return AuditEntry.objects.filter(action=ACTION).count()


def test_what_is_well_formed_is_done_and_answered(program: Program) -> None:
    values = {"name": " x ", "howMany": 3, "share": 1, "sure": False, "values": {"a": [None]}, "parts": [{"words": []}]}
    answer = program.post("sample", values)
    assert answer.status_code == 201
    assert answer.json()["name"] == " x "
    assert answer.headers["Cache-Control"] == "no-store"
    assert done() == 1


UNREADABLE = {
    "duplicate-key": b'{"name": "a", "name": "b"}',
    "nul": b'{"name": "a\\u0000"}',
    "surrogate": b'{"name": "\\ud800"}',
    "not-finite": b'{"name": "a", "share": NaN}',
    "long-number": b'{"name": "a", "howMany": ' + b"9" * 100_000 + b"}",
    "depth": b'{"name": "a", "values": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "syntax": b'{"name": "a"',
    "encoding": '{"name": "é"}'.encode("latin-1"),
}


@pytest.mark.parametrize("rule", UNREADABLE)
def test_json_that_breaks_a_rule_is_refused_by_that_rule(program: Program, rule: str) -> None:
    answer = program.post("sample", raw=UNREADABLE[rule])
    assert refusal(answer) == (400, "unreadable-json")
    assert answer.json()["error"]["detail"]["rule"] == rule
    assert done() == 0


@pytest.mark.parametrize("body", ['{"name": "é"}'.encode("utf-16"), b"\xef\xbb\xbf" + b'{"name": "a"}'])
def test_json_in_another_encoding_is_refused(program: Program, body: bytes) -> None:
    assert refusal(program.post("sample", raw=body)) == (400, "unreadable-json")
    assert done() == 0


FIELDS = [
    ({}, "name"),
    ({"name": None}, "name"),
    ({"name": ""}, "name"),
    ({"name": 5}, "name"),
    ({"name": True}, "name"),
    ({"name": ["a"]}, "name"),
    ({"name": "x" * 21}, "name"),
    ({"name": "a", "howMany": True}, "howMany"),
    ({"name": "a", "howMany": 1.0}, "howMany"),
    ({"name": "a", "howMany": "1"}, "howMany"),
    ({"name": "a", "howMany": -1}, "howMany"),
    ({"name": "a", "howMany": 10**250}, "howMany"),
    ({"name": "a", "how_many": 1}, "how_many"),
    ({"name": "a", "share": False}, "share"),
    ({"name": "a", "share": "0.5"}, "share"),
    ({"name": "a", "share": 1.5}, "share"),
    ({"name": "a", "sure": 1}, "sure"),
    ({"name": "a", "sure": "true"}, "sure"),
    ({"name": "a", "sure": None}, "sure"),
    ({"name": "a", "values": []}, "values"),
    ({"name": "a", "values": "{}"}, "values"),
    ({"name": "a", "parts": {}}, "parts"),
    ({"name": "a", "parts": [{"words": ["ok", 5]}]}, "parts[0].words[1]"),
    ({"name": "a", "parts": [{}, {"words": ["a"] * 4}]}, "parts[1].words"),
    ({"name": "a", "parts": [{"unknown": 1}]}, "parts[0].unknown"),
    ({"name": "a", "parts": ["text"]}, "parts[0]"),
    ([], ""),
    ("text", ""),
    (None, ""),
    (5, ""),
]


@pytest.mark.parametrize(("body", "field"), FIELDS, ids=[json.dumps(body)[:40] for body, _ in FIELDS])
def test_a_field_that_breaks_a_rule_is_named(program: Program, body: Any, field: str) -> None:
    answer = program.post("sample", raw=json.dumps(body).encode())
    assert refusal(answer) == (400, "invalid-request")
    assert list(answer.json()["error"]["detail"]["fields"]) == [field]
    assert done() == 0


def test_every_bad_field_is_named_at_once_and_no_value_is_repeated(program: Program) -> None:
    answer = program.post("sample", {"name": 1, "secret-thing": "hidden words", "sure": "hidden words"})
    assert set(answer.json()["error"]["detail"]["fields"]) == {"name", "secret-thing", "sure"}
    assert b"hidden words" not in answer.content


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-www-form-urlencoded", b"name=a"),
        ("multipart/form-data; boundary=x", b"--x--"),
        ("text/plain", b'{"name": "a"}'),
        ("text/csv", b"name\na\n"),
        ("application/json; charset=utf-16", '{"name": "a"}'.encode("utf-16")),
        ("application/xml", b"<name>a</name>"),
        ("nonsense", b'{"name": "a"}'),
        ("*/*", b'{"name": "a"}'),
        ("application/*", b'{"name": "a"}'),
        ("application/json\x0b", b'{"name": "a"}'),
        ("", b'{"name": "a"}'),
    ],
)
def test_a_body_of_another_type_is_refused(program: Program, kind: str, body: bytes) -> None:
    assert refusal(program.post("sample", raw=body, kind=kind)) == (415, "unsupported-media-type")
    assert done() == 0


def test_a_body_beyond_the_limit_is_refused(program: Program) -> None:
    body = b'{"name": "' + b"a" * JSON_BODY_BYTES + b'"}'
    assert refusal(program.post("sample", raw=body)) == (413, "body-too-large")
    assert done() == 0


def test_a_body_where_none_is_taken_is_refused(program: Program) -> None:
    assert refusal(program.delete("sample", body={"all": True})) == (400, "invalid-request")
    assert program.delete("sample").status_code == 204
    assert done() == 1


def test_an_unknown_address_has_the_same_shape_as_every_refusal(program: Program) -> None:
    for address in ("nothing", "sample/deeper", "/api/", "/api/v2/sample", "sample%00", "%FF%FE", "../../etc"):
        assert refusal(program.get(address)) == (404, "not-found"), address
        assert refusal(Program("").get(address)) == (404, "not-found"), address


@pytest.mark.parametrize("method", ["PUT", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
def test_a_method_that_an_address_does_not_take_is_refused_with_those_it_takes(program: Program, method: str) -> None:
    answer = program.call(method, "sample")
    assert refusal(answer) == (405, "method-not-allowed")
    assert answer.headers["Allow"] == "GET, HEAD, POST, PATCH, DELETE"


def test_head_is_get_without_a_body(program: Program) -> None:
    answer = program.call("HEAD", "sample")
    assert (answer.status_code, answer.content) == (200, b"")


def test_a_form_of_answer_that_is_not_there_is_refused(program: Program) -> None:
    assert refusal(program.call("GET", "sample", Accept="application/xml")) == (406, "not-acceptable")
    assert program.call("GET", "sample", Accept="text/html, */*;q=0.1").status_code == 200


def test_a_fault_tells_nothing_of_itself(program: Program) -> None:
    answer = program.get("faulty")
    assert refusal(answer) == (500, "internal-error")
    assert b"ZeroDivision" not in answer.content


def test_a_request_for_a_strange_host_is_refused_in_the_same_shape(program: Program) -> None:
    assert refusal(program.call("GET", "sample", Host="elsewhere.example")) == (400, "bad-request")


@override_settings(MIDDLEWARE=["tests.integration.api.test_requests.broken_middleware"])
def test_a_fault_outside_a_view_has_the_same_shape(program: Program) -> None:
    assert refusal(program.get("sample")) == (500, "internal-error")


def broken_middleware(get_response: Any) -> Any:
    def handle(request: Any) -> Any:
        raise ZeroDivisionError

    return handle


@pytest.mark.parametrize(
    ("query", "status", "error"),
    [
        ("limit=0", 400, "invalid-request"),
        (f"limit={PAGE_MOST + 1}", 400, "invalid-request"),
        ("limit=1.0", 400, "invalid-request"),
        ("limit=%31%00", 400, "invalid-request"),
        ("limit=１", 400, "invalid-request"),
        ("limit=", 400, "invalid-request"),
        ("limit", 400, "invalid-request"),
        ("limit=true", 400, "invalid-request"),
        ("unknown=1", 400, "invalid-request"),
        ("format=xml", 400, "invalid-request"),
        ("cursor=made-up", 400, "invalid-cursor"),
        ("cursor=", 400, "invalid-request"),
        ("limit=1&limit=2", 400, "unreadable-query"),
        ("limit=%FF", 400, "unreadable-query"),
        ("%ED%A0%80=1", 400, "unreadable-query"),
        ("a=" + "b" * QUERY_CHARACTERS, 414, "query-too-long"),
        ("&".join(f"a{number}=" for number in range(1000)), 400, "invalid-request"),
    ],
)
def test_a_query_is_read_strictly(program: Program, query: str, status: int, error: str) -> None:
    assert refusal(program.get(f"sample?{query}")) == (status, error)


def test_pages_follow_one_another_by_cursors_until_null(program: Program) -> None:
    for number in range(5):
        program.post("sample", {"name": f"n{number}"})
    names, cursor, pages = [], None, 0
    while pages == 0 or cursor is not None:
        given = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = program.get("sample", **given).json()
        names += [row["name"] for row in page["items"]]
        cursor = page["next"]
        pages += 1
    assert (names, pages) == ([f"n{number}" for number in range(5)], 3)


def test_another_accounts_cursor_is_no_cursor(program: Program) -> None:
    for number in range(2):
        program.post("sample", {"name": f"n{number}"})
    cursor = program.get("sample", limit=1).json()["next"]
    assert program.get("sample", cursor=cursor).status_code == 200
    from tests.support.people import other_account

    stranger = Program(account=other_account(), role=Role.OWNER)
    assert refusal(stranger.get("sample", cursor=cursor)) == (400, "invalid-cursor")
