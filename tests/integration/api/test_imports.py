"""CSV files by REST."""

from typing import Any

import pytest

from cyclotron.models import FileImport, Review
from kapsoweb.accounts.roles import Role
from kapsoweb.doors import limits
from tests.support.api import Program, refusal
from tests.support.held_cyclotrons import run_queued_jobs
from tests.support.operations import everything

pytestmark = [pytest.mark.services, pytest.mark.django_db]

CSV = b"record,title,decision\n1,Attention in children,I\n2,Asphalt on bridges,E\n3,,E\n4,Gravel roads,E\n"
COLUMNS = {
    "idColumn": "record",
    "textColumns": ["title"],
    "labelColumn": "decision",
    "mapping": {"I": "include", "E": "exclude"},
}
BOUNDARY = "kapsoweb-test"


def form(*parts: tuple[str, str, bytes]) -> bytes:
    """A multipart body; each part is its field, the name of its file (or nothing), and its content."""
    body = b""
    for field, filename, content in parts:
        name = f'; filename="{filename}"' if filename else ""
        body += (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"{name}\r\n\r\n'.encode() + content + b"\r\n"
        )
    return body + f"--{BOUNDARY}--\r\n".encode()


@pytest.fixture
def operator() -> Program:
    return Program(role=Role.OPERATOR)


@pytest.fixture
def where(operator: Program) -> str:
    classifier = {"name": "screening", "labels": ["include", "exclude"], "question": "Is it about attention?"}
    made = operator.post("cyclotrons", {"name": "adhd", "seed": "s", "classifiers": [classifier]})
    return f"cyclotrons/{made.json()['id']}"


def upload(program: Program, where: str, **given: Any) -> Any:
    return program.post(f"{where}/imports", raw=CSV, kind="text/csv", **given)


def send_form(program: Program, where: str, *parts: tuple[str, str, bytes]) -> Any:
    return program.post(f"{where}/imports", raw=form(*parts), kind=f"multipart/form-data; boundary={BOUNDARY}")


def test_a_file_is_received_previewed_and_brought_in(operator: Program, where: str) -> None:
    received = upload(operator, where, query={"filename": "adhd.csv"})
    assert received.status_code == 201
    body = received.json()
    assert (body["filename"], body["rowCount"], body["state"]) == ("adhd.csv", 4, "received")
    assert [column["name"] for column in body["fileColumns"]] == ["record", "title", "decision"]
    one = f"{where}/imports/{body['id']}"
    before = everything()
    preview = operator.post(f"{one}/preview", COLUMNS).json()
    assert everything() == before
    assert (preview["good"], preview["bad"], preview["labelCounts"]) == (3, 1, {"include": 1, "exclude": 2})
    assert preview["badRows"][0]["line"] == 4
    assert preview["values"] == [{"value": "E", "rows": 3}, {"value": "I", "rows": 1}]
    started = operator.post(f"{one}/start", COLUMNS)
    assert (started.status_code, started.json()["state"]) == (202, "queued")
    assert operator.post(f"{one}/start", COLUMNS).json()["jobId"] == started.json()["jobId"]
    run_queued_jobs()
    done = operator.get(one).json()
    assert (done["state"], done["recorded"], done["bad"]) == ("done", 3, 1)
    assert done["columns"]["mapping"] == COLUMNS["mapping"]
    assert Review.objects.count() == 3
    assert refusal(operator.delete(one)) == (409, "import-started")


def test_a_form_carries_a_file_too(operator: Program, where: str) -> None:
    answer = send_form(operator, where, ("file", "adhd.csv", CSV), ("classifier", "", b"screening"))
    assert (answer.status_code, answer.json()["filename"]) == (201, "adhd.csv")
    assert bytes(FileImport.objects.get().content) == CSV


def test_the_same_file_under_one_key_is_received_once(operator: Program, where: str) -> None:
    first, second = (upload(operator, where, Idempotency_Key="k") for _ in range(2))
    assert first.content == second.content
    other = operator.post(f"{where}/imports", raw=CSV + b"5,x,E\n", kind="text/csv", Idempotency_Key="k")
    assert refusal(other) == (409, "idempotency-key-reused")
    assert FileImport.objects.count() == 1


FORMS = {
    "no-file": [("classifier", "", b"screening")],
    "two-files": [("file", "a.csv", CSV), ("other", "b.csv", CSV)],
    "file-twice": [("file", "a.csv", CSV), ("file", "a.csv", CSV)],
    "file-as-text": [("file", "", CSV)],
    "classifier-twice": [("file", "a.csv", CSV), ("classifier", "", b"a"), ("classifier", "", b"b")],
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_of_another_shape_is_refused(operator: Program, where: str, name: str) -> None:
    assert refusal(send_form(operator, where, *FORMS[name])) == (400, "unreadable-form")
    assert not FileImport.objects.exists()


@pytest.mark.parametrize(
    ("raw", "kind", "status", "error"),
    [
        (b"", "text/csv", 400, "invalid-request"),
        (b"\n", "text/csv", 400, "invalid-csv"),
        (b"a,b\n", "text/csv", 400, "invalid-import"),
        (b'a,b\n"x,y\n', "text/csv", 400, "invalid-csv"),
        (b"a\x00,b\n1,2\n", "text/csv", 400, "invalid-csv"),
        ("a,b\n1,2\n".encode("utf-16"), "text/csv", 400, "invalid-csv"),
        (b"a,b\n1,2\n", "text/csv; charset=latin-1", 415, "unsupported-media-type"),
        (b"a=b", "application/x-www-form-urlencoded", 415, "unsupported-media-type"),
        (b"{}", "application/json", 415, "unsupported-media-type"),
        (b"nonsense", "multipart/form-data", 400, "unreadable-form"),
        (b"nonsense", "multipart/form-data; boundary=x", 400, "unreadable-form"),
        (b"a,b\n" + b"1,2\n" * (limits.FILE_BYTES // 4), "text/csv", 413, "body-too-large"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_file_that_cannot_be_read_is_not_kept(
    operator: Program, where: str, raw: bytes, kind: str, status: int, error: str
) -> None:
    assert refusal(operator.post(f"{where}/imports", raw=raw, kind=kind)) == (status, error)
    assert not FileImport.objects.exists()


def test_what_is_said_of_a_file_is_said_once_and_known(operator: Program, where: str) -> None:
    bad = [
        upload(operator, where, query={"filename": ""}),
        upload(operator, where, query={"name": "x"}),
        send_form(operator, where, ("file", "a.csv", CSV), ("unknown", "", b"x")),
        operator.post(
            f"{where}/imports",
            raw=form(("file", "a.csv", CSV)),
            kind=f"multipart/form-data; boundary={BOUNDARY}",
            query={"filename": "b.csv"},
        ),
    ]
    assert [refusal(answer) for answer in bad] == [(400, "invalid-request")] * 4
    assert refusal(upload(operator, where, query={"classifier": "other"})) == (404, "no-such-classifier")
    assert not FileImport.objects.exists()


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"idColumn": "nothing"}, "invalid-csv"),
        ({"textColumns": []}, "invalid-request"),
        ({"textColumns": "title"}, "invalid-request"),
        ({"labelColumn": None}, "invalid-import"),
        ({"mapping": {"I": "other"}}, "invalid-replay"),
        ({"mapping": {"I": 5}}, "invalid-request"),
        ({"reviewRate": 0, "auditRate": 0}, "invalid-import"),
        ({"unknown": 1}, "invalid-request"),
    ],
)
def test_columns_that_break_a_rule_start_nothing(operator: Program, where: str, changed: Any, error: str) -> None:
    one = f"{where}/imports/{upload(operator, where).json()['id']}"
    before = everything()
    for verb in ("preview", "start"):
        status, found = refusal(operator.post(f"{one}/{verb}", COLUMNS | changed))
        assert (status, found) == (400, error)
    assert everything() == before


def test_a_file_can_be_thrown_away(operator: Program, where: str) -> None:
    one = f"{where}/imports/{upload(operator, where).json()['id']}"
    assert operator.delete(one).status_code == 204
    assert operator.get(one).json()["state"] == "discarded"
    assert refusal(operator.post(f"{one}/preview", COLUMNS)) == (409, "import-without-content")


def test_imports_are_listed_newest_first(operator: Program, where: str) -> None:
    ids = [upload(operator, where).json()["id"] for _ in range(3)]
    page = operator.get(f"{where}/imports", limit=2).json()
    rest = operator.get(f"{where}/imports", limit=2, cursor=page["next"]).json()
    assert [row["id"] for row in page["items"] + rest["items"]] == ids[::-1]
    assert rest["next"] is None
