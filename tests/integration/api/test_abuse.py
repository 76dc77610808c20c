"""What nobody means well by: refused at every address with an error's id, and nothing is changed."""

import json
from typing import Any

import pytest

from kapsoweb.accounts.roles import Role
from kapsoweb.doors.limits import DECISIONS_BODY_BYTES, JSON_BODY_BYTES, QUERY_CHARACTERS
from tests.support.api import API, Program, refusal
from tests.support.operations import OPERATIONS, Known, everything
from tests.support.whole_cyclotrons import Whole, whole_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db]

WRITING = [operation for operation in OPERATIONS.values() if operation.method != "GET"]
JSON_WRITING = [operation for operation in WRITING if operation.id != "uploadFile"]
DEEP = 100_000

BODIES: dict[str, bytes] = {
    "deep-lists": b"[" * DEEP + b"]" * DEEP,
    "deep-objects": b'{"values":' * DEEP + b"1" + b"}" * DEEP,
    "unclosed": b"[" * DEEP,
    "nul": b'{"name": "\\u0000", "label": "a\\u0000b", "itemId": "\\u0000"}',
    "raw-nul": b'{"name": "\x00"}',
    "lone-surrogate": b'{"name": "\\ud800", "label": "\\udfff"}',
    "nan": b'{"learnEvery": NaN, "propensity": Infinity}',
    "too-large-for-a-float": b'{"confirmedRequestBound": 1e999}',
    "gigantic-number": b'{"learnEvery": ' + b"9" * 1_000_000 + b"}",
    "duplicate-keys": b'{"label": "include", "label": "exclude"}',
    "latin-1": '{"name": "é"}'.encode("latin-1"),
    "utf-16": '{"name": "a"}'.encode("utf-16"),
    "byte-order-mark": b"\xef\xbb\xbf{}",
    "no-json": b"label=include",
    "two-documents": b"{}{}",
    "a-list": b"[]",
    "a-text": b'"text"',
    "a-number": b"1",
    "a-flag": b"true",
    "null": b"null",
    "unknown-keys": json.dumps({f"key-{number}": number for number in range(2000)}).encode(),
}


@pytest.fixture
def whole() -> Whole:
    return whole_cyclotron()


def send_raw(program: Program, operation: Known, ids: dict[str, str], raw: bytes, **given: Any) -> Any:
    where = operation.path
    for name in operation.parameters:
        where = where.replace("{" + name + "}", ids[name])
    return program.call(operation.method, where, raw=raw, **given)


def test_a_bad_body_is_refused_at_every_address(whole: Whole) -> None:
    program = Program(role=Role.OWNER)
    before = everything()
    for operation in JSON_WRITING:
        for name, body in BODIES.items():
            status, error = refusal(send_raw(program, operation, whole.ids, body))
            assert (status, error) in {(400, "unreadable-json"), (400, "invalid-request")}, (operation.id, name)
    assert everything() == before


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "text/plain", "application/xml", "multipart/mixed; boundary=x", "a/b"]
)
def test_a_body_of_a_strange_type_is_refused_at_every_address(whole: Whole, kind: str) -> None:
    program = Program(role=Role.OWNER)
    before = everything()
    for operation in WRITING:
        answer = send_raw(program, operation, whole.ids, b"label=include", kind=kind)
        assert refusal(answer) == (415, "unsupported-media-type"), operation.id
    assert everything() == before


def test_a_body_that_is_too_large_is_refused_at_every_address(whole: Whole) -> None:
    program = Program(role=Role.OWNER)
    before = everything()
    for operation in JSON_WRITING:
        most = DECISIONS_BODY_BYTES if operation.id == "importDecisions" else JSON_BODY_BYTES
        body = b'{"x": "' + b"y" * most + b'"}'
        assert refusal(send_raw(program, operation, whole.ids, body)) == (413, "body-too-large"), operation.id
    assert everything() == before


def test_an_item_of_ten_megabytes_is_refused_whichever_way_it_comes(whole: Whole) -> None:
    program = Program(role=Role.OPERATOR)
    where = f"{API}/cyclotrons/{whole.ids['cyclotronId']}/decisions"
    values = {"text": "x" * 10_000_000}
    before = everything()
    assert refusal(program.post(where, {"itemId": "large", "values": values})) == (413, "body-too-large")
    one = {
        "itemId": "large",
        "values": values,
        "outputs": {"screening": {"label": "include", "confidence": 0.5}},
        "sent": True,
        "reason": "audit",
        "propensity": 0.5,
    }
    assert refusal(program.post(f"{where}/import", {"decisions": [one]})) == (400, "invalid-item")
    assert everything() == before


@pytest.mark.parametrize(
    ("query", "refused"),
    [
        ("x=" + "y" * QUERY_CHARACTERS, (414, "query-too-long")),
        ("%FF=1", (400, "unreadable-query")),
        ("limit=%C3%28", (400, "unreadable-query")),
        ("a=1&a=2", (400, "unreadable-query")),
        ("token=kapso_x", (400, "invalid-request")),
        ("%00=1", (400, "invalid-request")),
    ],
)
def test_a_bad_query_is_refused_at_every_address(whole: Whole, query: str, refused: tuple[int, str]) -> None:
    program = Program(role=Role.OWNER)
    before = everything()
    for operation in OPERATIONS.values():
        where = operation.path
        for name in operation.parameters:
            where = where.replace("{" + name + "}", whole.ids[name])
        assert refusal(program.call(operation.method, f"{where}?{query}")) == refused, operation.id
    assert everything() == before


@pytest.mark.parametrize(
    "part", ["%00", "%FF%FE", "%ED%A0%80", "a" * 5000, "..%2F..", "%0A", "'%20OR%201=1--", "{id}", "*"]
)
def test_a_strange_id_is_that_of_nothing(whole: Whole, part: str) -> None:
    program = Program(role=Role.OWNER)
    before = everything()
    for operation in OPERATIONS.values():
        for name in operation.parameters:
            answer = operation.send(program, {**whole.ids, name: part})
            assert answer.status_code in ((404, 409) if name == "assignmentId" else (404,)), operation.id
            refusal(answer)
    assert everything() == before


def test_a_method_that_is_not_taken_is_refused_at_every_address(whole: Whole) -> None:
    program = Program(role=Role.OWNER)
    before = everything()
    taken: dict[str, set[str]] = {}
    for operation in OPERATIONS.values():
        taken.setdefault(operation.path, set()).add(operation.method)
    for path, methods in taken.items():
        where = path
        for name, value in whole.ids.items():
            where = where.replace("{" + name + "}", value)
        for method in {"GET", "POST", "PATCH", "DELETE", "PUT", "OPTIONS", "TRACE"} - methods:
            answer = program.call(method, where)
            assert refusal(answer) == (405, "method-not-allowed"), (method, path)
            allowed = set(answer.headers["Allow"].split(", "))
            assert allowed == methods | ({"HEAD"} if "GET" in methods else set())
        head = program.call("HEAD", where)
        assert (head.status_code == 200) is ("GET" in methods), path
        assert head.content == b""
    assert everything() == before
