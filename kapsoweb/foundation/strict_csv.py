"""The one strict reader of CSV files (RFC 4180, UTF-8 with or without a byte order mark, commas, any line ending).

A row that breaks a rule is listed with the line on which it starts and does not spoil its neighbours; a file whose
rows cannot be told apart or whose columns cannot be found is refused as a whole. Quotes are read as Python's `csv`
reads them, without its process-wide limit on the length of a cell. No message holds the content of a data cell.
"""

import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from kapsoweb.foundation.errors import KapsoError

_SURROGATES = re.compile("[\ud800-\udfff]")
# The three bytes that would encode half a surrogate pair, as `surrogateescape` decodes them.
_ENCODED_SURROGATE = re.compile("\udced[\udca0-\udcbf][\udc80-\udcbf]")
# Up to a quote that is not doubled, or to the end; matches everywhere, if only the empty text.
_UNTIL_CLOSED = re.compile('(?:[^"]++|"")*+')
_LONGEST_NAME_SHOWN = 64


class InvalidCsvError(KapsoError):
    """A CSV file that cannot be used as a whole; `detail` has `rule` and, where known, `line` and `column`."""

    id = "invalid-csv"


@dataclass(frozen=True)
class Limits:
    """What a file may hold at most: rows below the header, bytes in all, characters in a cell."""

    rows: int = 1_000_000
    file_bytes: int = 1 << 30
    cell_characters: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Row:
    """A good row: the physical line (from 1) on which it starts, and its cells by the names of their columns."""

    line: int
    cells: tuple[str, ...]
    positions: Mapping[str, int]

    def __getitem__(self, column: str) -> str:
        return self.cells[self.positions[column]]


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row of which nothing is kept: where it starts, the column if one is to blame, the rule (kebab-case) and a
    sentence that says what is wrong and what to do."""

    line: int
    column: str | None
    rule: str
    sentence: str


@dataclass(frozen=True)
class Table:
    """A file that was read: its header, its good rows and its bad rows, each in the order of the file."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    bad: tuple[BadRow, ...]


@dataclass(slots=True)
class _Record:
    """The cells of one row as they stand in the file, and the index of a cell that goes on after its closing quote."""

    line: int
    cells: list[str]
    torn: int | None = None


def read_rows(source: bytes | Path, required: Sequence[str], limits: Limits | None = None) -> Table:
    """Read a CSV file whose header must hold each of `required` exactly once; blank lines are skipped.

    Columns that nobody asked for may repeat a name; such a name is then not to be had from a row. Raises
    `InvalidCsvError` for a file that is not readable, empty, too large or too long, that lacks a required column or
    names it twice, or in which a quote is never closed.
    """
    limits = limits or Limits()
    with _open(source, limits) as stream:
        records = _Reader(stream).records()
        header = _header(next(records, None), required)
        uses = Counter(header)
        positions = {name: index for index, name in enumerate(header) if uses[name] == 1}
        rows: list[Row] = []
        bad: list[BadRow] = []
        for record in records:
            if len(rows) + len(bad) == limits.rows:
                raise InvalidCsvError(
                    f"the file has more than {limits.rows:,} rows (line {record.line} is one too many); split it.",
                    rule="too-many-rows",
                    line=record.line,
                )
            fault = _fault(record, header, limits)
            if fault is None:
                rows.append(Row(record.line, tuple(record.cells), positions))
            else:
                bad.append(fault)
    return Table(header, tuple(rows), tuple(bad))


def _open(source: bytes | Path, limits: Limits) -> io.TextIOWrapper:
    """The file as text in which each undecodable byte is a lone surrogate, and line endings are as they were."""
    if isinstance(source, bytes):
        raw: io.BytesIO | io.BufferedReader = io.BytesIO(source)
        size = len(source)
    else:
        try:
            if source.is_file():
                size = source.stat().st_size
                raw = source.open("rb")
            else:  # a pipe has no size, and might never end
                with source.open("rb") as pipe:
                    content = pipe.read(limits.file_bytes + 1)
                size = len(content)
                raw = io.BytesIO(content)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a usable path"
            raise InvalidCsvError(
                f"the file cannot be read ({reason}); check its path and permissions.", rule="not-readable"
            ) from None
    if size > limits.file_bytes:
        raw.close()
        raise InvalidCsvError(f"the file is larger than {limits.file_bytes:,} bytes; split it.", rule="file-too-large")
    return io.TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape", newline="")


class _Reader:
    """Tells the rows of a file apart, and counts its physical lines from 1."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream = stream
        self._number = 0
        self._rest = ""
        self._at = 0

    def records(self) -> Iterator[_Record]:
        """Every row, blank lines left out; raises `InvalidCsvError` for a quote that is never closed."""
        while self._next_line():
            if '"' in self._rest:
                yield self._quoted_record()
            elif body := self._rest.rstrip("\r\n"):
                yield _Record(self._number, body.split(","))

    def _next_line(self) -> bool:
        try:
            self._rest = self._stream.readline()
        except OSError as error:
            raise InvalidCsvError(
                f"the file cannot be read to its end ({error.strerror or 'read error'}).", rule="not-readable"
            ) from None
        self._number += 1
        self._at = 0
        return self._rest != ""

    def _quoted_record(self) -> _Record:
        """The row that starts on this line, one of whose cells at least holds a quote."""
        record = _Record(self._number, [])
        while True:
            quoted = self._rest.startswith('"', self._at)
            cell = self._quoted_cell() if quoted else ""
            comma = self._rest.find(",", self._at)
            tail = self._rest[self._at : comma] if comma >= 0 else self._rest[self._at :].rstrip("\r\n")
            if quoted and tail and record.torn is None:
                record.torn = len(record.cells)
            record.cells.append(cell + tail)
            if comma < 0:
                return record
            self._at = comma + 1

    def _quoted_cell(self) -> str:
        """What stands between the quote at the present place and the one that closes it, perhaps lines further on."""
        opened = self._number
        parts: list[str] = []
        self._at += 1
        while True:
            end = _UNTIL_CLOSED.match(self._rest, self._at).end()  # type: ignore[union-attr]
            parts.append(self._rest[self._at : end].replace('""', '"'))
            self._at = end + 1
            if end < len(self._rest):
                return "".join(parts)
            if not self._next_line():
                raise InvalidCsvError(
                    f"the quote that opens on line {opened} is never closed; close or double it.",
                    rule="unclosed-quote",
                    line=opened,
                )


def _header(record: _Record | None, required: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns, once every required one is there exactly once."""
    if record is None:
        raise InvalidCsvError("the file is empty; it needs a header line with the columns' names.", rule="empty")
    names = tuple(record.cells)
    for name in names:
        if _SURROGATES.search(name) or "\x00" in name:
            raise InvalidCsvError(
                f"the header on line {record.line} is not UTF-8 text; save the file as CSV in UTF-8.",
                rule="header-not-text",
                line=record.line,
            )
    if record.torn is not None:
        raise InvalidCsvError(
            f"a name in the header on line {record.line} goes on after its closing quote; correct its quotes.",
            rule="header-not-text",
            line=record.line,
        )
    for column in required:
        if names.count(column) > 1:
            raise InvalidCsvError(
                f"the header names the column {column!r} {names.count(column)} times; rename all but one.",
                rule="duplicate-column",
                line=record.line,
                column=column,
            )
        if column not in names:
            raise InvalidCsvError(
                f"the header has no column {column!r}; {_nearest(column, names)}.",
                rule="missing-column",
                line=record.line,
                column=column,
            )
    return names


def _nearest(column: str, names: Sequence[str]) -> str:
    """What to do about a missing column. A file without a header shows its first row here only where that row holds
    something like the column's name."""
    if len(names) == 1:
        for mark, what in ((";", "semicolons"), ("\t", "tabs")):
            if mark in names[0]:
                return f"its cells seem to be separated by {what}; save the file with commas"
    by_folded = {name.strip().casefold(): name for name in reversed(names) if len(name) <= _LONGEST_NAME_SHOWN}
    near = get_close_matches(column.strip().casefold(), list(by_folded), n=1, cutoff=0.5)
    if near:
        return f"the nearest is {by_folded[near[0]]!r}"
    return f"none of its {len(names)} columns is named like it; check that the first line is a header"


def _fault(record: _Record, header: Sequence[str], limits: Limits) -> BadRow | None:
    """The first rule that a row breaks, if any."""
    if len(record.cells) < len(header):
        rule, advice = "too-few-cells", "add the missing ones"
    elif len(record.cells) > len(header):
        rule, advice = "too-many-cells", "put quotes around a cell that holds a comma"
    elif record.torn is not None:
        sentence = "a cell goes on after its closing quote; double each quote inside a quoted cell."
        return BadRow(record.line, header[record.torn], "text-after-quote", sentence)
    else:
        for column, cell in zip(header, record.cells, strict=True):
            broken = _broken_cell(cell, limits)
            if broken is not None:
                return BadRow(record.line, column, *broken)
        return None
    sentence = f"the row has {len(record.cells)} cells and the header {len(header)}; {advice}."
    return BadRow(record.line, None, rule, sentence)


def _broken_cell(cell: str, limits: Limits) -> tuple[str, str] | None:
    """The rule that a cell breaks, if any, and the sentence about it."""
    if len(cell) > limits.cell_characters:
        return "cell-too-long", f"a cell has {len(cell):,} characters; {limits.cell_characters:,} are allowed."
    if "\x00" in cell:
        return "nul", "a cell holds a NUL character; remove it."
    if cell.isascii() or not _SURROGATES.search(cell):
        return None
    if _SURROGATES.search(_ENCODED_SURROGATE.sub("", cell)):
        return "not-utf-8", "a cell is not valid UTF-8; save the file as UTF-8."
    return "lone-surrogate", "a cell holds half of a surrogate pair, which is not valid text; remove it."
