"""The strict CSV reader, with Python's own `csv` as the oracle for what a row holds."""

import csv
import io
import os
import threading
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kapsoweb.foundation.errors import Kind
from kapsoweb.foundation.strict_csv import InvalidCsvError, Limits, Table, read_rows

STORABLE = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
CELL = st.text(STORABLE, max_size=8) | st.text(st.sampled_from('",\r\n a\ufeffé'), max_size=8)


def written(rows: list[list[str]], ending: str = "\r\n") -> bytes:
    out = io.StringIO(newline="")
    # Python 3.11's writer leaves a line end unquoted when it is not the one that it writes.
    quoting: Literal[0, 1] = csv.QUOTE_MINIMAL if ending == "\r\n" else csv.QUOTE_ALL
    csv.writer(out, lineterminator=ending, quoting=quoting).writerows(rows)
    return out.getvalue().encode()


def cells(table: Table) -> list[list[str]]:
    return [list(row.cells) for row in table.rows]


def refusal(data: bytes | Path, *required: str, limits: Limits | None = None) -> InvalidCsvError:
    with pytest.raises(InvalidCsvError) as caught:
        read_rows(data, required, limits)
    assert caught.value.id == "invalid-csv"
    assert caught.value.kind is Kind.INVALID
    return caught.value


@settings(max_examples=300)
@given(
    rows=st.lists(st.lists(CELL, min_size=3, max_size=3), max_size=8),
    ending=st.sampled_from(["\r\n", "\n", "\r"]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_rows_come_back_as_the_csv_module_wrote_them(rows: list[list[str]], ending: str, mark: bytes) -> None:
    table = read_rows(mark + written([["id", "text", "label"], *rows], ending), ["id", "text", "label"])
    assert table.header == ("id", "text", "label")
    assert cells(table) == rows
    assert table.bad == ()


@settings(max_examples=500)
@given(
    st.binary(max_size=200) | st.lists(st.sampled_from([b'"', b",", b"\r", b"\n", b"a", b"\xff", b"\0"])).map(b"".join)
)
def test_any_bytes_give_a_table_or_one_refusal(data: bytes) -> None:
    try:
        table = read_rows(b"a,b\n" + data, ["a", "b"])
    except InvalidCsvError as error:
        assert error.detail["rule"] == "unclosed-quote"  # noqa: PT017 - the other outcome is as good
        return
    lines = [row.line for row in table.rows] + [row.line for row in table.bad]
    assert len(set(lines)) == len(lines)
    for row in table.rows:
        assert len(row.cells) == 2
        assert "\0" not in "".join(row.cells)
        "".join(row.cells).encode()


@settings(max_examples=500)
@given(st.lists(st.sampled_from(['"', '""', ",", "\r\n", "\n", "\r", "a", " "]), max_size=30).map("".join))
def test_every_row_that_the_csv_module_sees_is_kept_or_listed_once(text: str) -> None:
    text = "a,b\n" + text
    try:
        table = read_rows(text.encode(), [])
    except InvalidCsvError:
        assert list(csv.reader(io.StringIO(text + "\nlast", newline="")))[-1] != ["last"]  # the open cell took it
        return
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row][1:]
    kept = {row.line: list(row.cells) for row in table.rows}
    listed = {row.line for row in table.bad}
    assert not kept.keys() & listed
    assert len(kept) + len(listed) == len(expected)
    in_order = [kept.get(line) for line in sorted([*kept, *listed])]
    for found, row in zip(in_order, expected, strict=True):
        assert found is None or found == row


@pytest.mark.parametrize(
    ("row", "column", "rule"),
    [
        (b"1,\xff\xfe,x", "text", "not-utf-8"),
        (b"1,caf\xe9,x", "text", "not-utf-8"),
        (b"1,\xed\xa0\x80,x", "text", "lone-surrogate"),
        (b"1,\xed\xa0\x80\xff,x", "text", "not-utf-8"),
        (b"1,a\x00b,x", "text", "nul"),
        (b"1,a", None, "too-few-cells"),
        (b"1,a,b,c", None, "too-many-cells"),
        (b'1,"a"b,x', "text", "text-after-quote"),
        (b"1," + b"a" * 21 + b",x", "text", "cell-too-long"),
    ],
)
def test_a_bad_row_is_listed_and_its_neighbours_are_kept(row: bytes, column: str | None, rule: str) -> None:
    data = b"id,text,label\n0,before,x\n" + row + b"\n2,after,x\n"
    table = read_rows(data, ["id"], Limits(cell_characters=20))
    assert [kept["text"] for kept in table.rows] == ["before", "after"]
    (bad,) = table.bad
    assert (bad.line, bad.column, bad.rule) == (3, column, rule)
    assert bad.sentence.endswith(".")


def test_a_cell_exactly_at_its_limit_is_kept() -> None:
    assert len(read_rows(b"a\n" + b"x" * 20, ["a"], Limits(cell_characters=20)).rows) == 1


def test_lines_are_physical_lines_and_blank_ones_are_no_rows() -> None:
    data = b'id,text\r\n\r\n1,"one\r\ntwo\n\nfour"\r\n\n2,x\r\n'
    table = read_rows(data, ["id", "text"])
    assert [(row.line, row["text"]) for row in table.rows] == [(3, "one\r\ntwo\n\nfour"), (8, "x")]


def test_a_quote_inside_an_unquoted_cell_is_a_character() -> None:
    assert read_rows(b'a,b\n5" disk,"say ""hi"""\n', ["a"]).rows[0].cells == ('5" disk', 'say "hi"')


def test_an_unclosed_quote_is_refused_with_the_line_on_which_it_opened() -> None:
    error = refusal(b'a,b\n1,2\n3,"open\n4,5\n6,7\n', "a")
    assert error.detail == {"rule": "unclosed-quote", "line": 3}
    assert "line 3" in error.message


@pytest.mark.parametrize("data", [b"", b"\n\r\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(data: bytes) -> None:
    assert refusal(data, "a").detail["rule"] == "empty"


def test_a_missing_column_is_refused_with_the_nearest_one_named() -> None:
    assert "'Abstract '" in refusal(b"ID,Abstract ,Label\n", "abstracts").message


def test_a_missing_column_without_a_near_one_shows_no_cell() -> None:
    error = refusal(b"17,secret sentence,include\n", "abstracts")
    assert "secret" not in error.message
    assert "3 columns" in error.message


@pytest.mark.parametrize(("mark", "word"), [(b";", "semicolons"), (b"\t", "tabs")])
def test_another_separator_is_recognised(mark: bytes, word: str) -> None:
    assert word in refusal(mark.join([b"id", b"text"]), "id").message


def test_a_required_column_that_is_named_twice_is_refused_and_another_is_not() -> None:
    data = b"id,note,note\n1,a,b\n"
    assert refusal(data, "note").detail["rule"] == "duplicate-column"
    row = read_rows(data, ["id"]).rows[0]
    assert row["id"] == "1"
    with pytest.raises(KeyError):
        row["note"]


@pytest.mark.parametrize("data", ["id,text\n".encode("utf-16"), b"i\x00d,text\n", b"\xffid,text\n", b'"id"x,text\n'])
def test_a_header_that_is_no_text_is_refused(data: bytes) -> None:
    assert refusal(data, "id").detail["rule"] == "header-not-text"


def test_too_many_rows_are_refused_and_bad_rows_count() -> None:
    data = b"a,b\n1,2\n3\n4,5\n"
    assert len(read_rows(data, ["a"], Limits(rows=3)).rows) == 2
    error = refusal(data, "a", limits=Limits(rows=2))
    assert error.detail == {"rule": "too-many-rows", "line": 4}


def test_a_file_over_its_limit_is_refused_from_bytes_path_and_pipe(tmp_path: Path) -> None:
    data = b"a,b\n1,2\n"
    path = tmp_path / "rows.csv"
    path.write_bytes(data)
    limits = Limits(file_bytes=len(data))
    assert len(read_rows(path, ["a"], limits).rows) == len(read_rows(data, ["a"], limits).rows) == 1
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def through_pipe() -> threading.Thread:
        writer = threading.Thread(target=pipe.write_bytes, args=(data,))
        writer.start()
        return writer

    writer = through_pipe()
    assert len(read_rows(pipe, ["a"], limits).rows) == 1
    writer.join()
    small = Limits(file_bytes=len(data) - 1)
    writer = through_pipe()
    assert {refusal(source, "a", limits=small).detail["rule"] for source in (data, path, pipe)} == {"file-too-large"}
    writer.join()


def test_a_path_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.csv", Path("nul\0name")):
        assert refusal(path, "a").detail["rule"] == "not-readable"


def test_cells_beyond_the_csv_modules_limit_are_read_and_that_limit_is_left_alone() -> None:
    before = csv.field_size_limit()
    (row,) = read_rows(b"a\n" + b"x" * (before + 1) + b"\n", ["a"]).rows
    assert len(row["a"]) == before + 1
    assert csv.field_size_limit() == before
