"""Reads of file imports: what a file holds, what a choice of columns would make of it, and what has become of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from cyclotron.core.errors import CyclotronError, InvalidItemError
from cyclotron.core.imports import MAX_FILE_BYTES, MAX_FILE_ROWS, ImportColumns
from cyclotron.core.items import check_values
from cyclotron.core.replay import ReplayRow, contradiction, parse_replay, review_identity
from cyclotron.endpoints import definition_of
from cyclotron.models import Classifier, FileImport, Item, Review
from cyclotron.store import Store
from kapsoweb.foundation.canonical import digest, is_storable
from kapsoweb.foundation.errors import Kind
from kapsoweb.foundation.paging import Page
from kapsoweb.foundation.strict_csv import BadRow, Limits, Table, read_rows
from kapsoweb.jobs.models import JobState
from kapsoweb.jobs.queries import states_of

FILE_LIMITS = Limits(rows=MAX_FILE_ROWS, file_bytes=MAX_FILE_BYTES)
VALUES_SHOWN = 50
BAD_ROWS_SHOWN = 100  # of a preview, by the doors for programs; all are counted
_EXAMPLES = 3
_EXAMPLE_CHARACTERS = 80
_AT_ONCE = 400  # identities in one query: SQLite takes 999 parameters and more


class NoSuchImportError(CyclotronError):
    """The cyclotron has no such import."""

    id = "no-such-import"
    kind = Kind.MISSING


class ImportDiscardedError(CyclotronError):
    """The file's content is gone: it was thrown away, or brought in to its end."""

    id = "import-without-content"
    kind = Kind.CONFLICT


@dataclass(frozen=True)
class FileColumn:
    """A column of a file: its name, the first cells that are not blank (shortened), and whether a row can be read by it
    (a name that stands twice in the header cannot)."""

    name: str
    examples: tuple[str, ...]
    usable: bool


@dataclass(frozen=True)
class FileImportSummary:
    """An import as lists show it. `state`: received, queued, running, done, failed, cancelled or discarded.

    `recorded` rows are new, `known` ones were there before, `bad` ones were refused; `bad_rows` lists the first of
    them (line, column, rule, message).
    """

    id: str
    classifier: str
    filename: str
    size: int
    row_count: int
    state: str
    columns: ImportColumns | None
    job_id: str
    recorded: int
    known: int
    bad: int
    bad_rows: Sequence[Mapping[str, Any]]
    created_by: str
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True)
class PreviewRow:
    """A row as it would come in, its text shortened."""

    line: int
    item_id: str
    text: str
    label: str | None


@dataclass(frozen=True)
class ImportPreview:
    """What a choice of columns makes of a file, before anything is brought in.

    `values` are those of the label column with their counts, the 50 most frequent; `other_values` counts the rest.
    `request_bound` is the most model requests that deciding the rows takes: learning on the way comes on top.
    """

    good: int
    known: int
    bad: tuple[BadRow, ...]
    label_counts: Mapping[str, int]
    values: tuple[tuple[str, int], ...]
    other_values: int
    rows: tuple[PreviewRow, ...]
    request_bound: int


@dataclass(frozen=True)
class KnownRows:
    """How many rows are there in full, how many need no decision any more, and those that what is there contradicts."""

    known: int
    decided: int
    contradicted: tuple[BadRow, ...]


def file_imports(store: Store) -> list[FileImportSummary]:
    """The cyclotron's imports, newest first, one hundred at most."""
    return list(import_page(store, limit=100).rows)


def import_page(store: Store, *, after: str | None = None, limit: int = 50) -> Page[FileImportSummary]:
    """Imports, newest first, older than the one with the id `after`."""
    rows = store.all(FileImport).defer("content").select_related("classifier", "tally").order_by("-id")
    if after is not None:
        rows = rows.filter(id__lt=after)
    read = list(rows[: limit + 1])
    states = states_of([row.job_id for row in read])
    return Page.of([_summary(row, states) for row in read], limit)


def file_import(store: Store, import_id: str) -> FileImportSummary:
    """One import, without its file; raises `NoSuchImportError`."""
    found = _one(store.all(FileImport).defer("content"), import_id)
    return _summary(found, states_of([found.job_id]))


def file_import_record(store: Store, import_id: str) -> FileImport:
    """One import's row; raises `NoSuchImportError`."""
    return _one(store.all(FileImport), import_id)


def _one(rows: QuerySet[FileImport], import_id: str) -> FileImport:
    found = rows.select_related("classifier", "tally").filter(id=import_id).first() if is_storable(import_id) else None
    if found is None:
        raise NoSuchImportError("there is no such import.", importId=import_id)
    return found


@dataclass(frozen=True)
class OpenedFile:
    """A file that waits to be brought in, read once for all that is asked about it."""

    store: Store
    found: FileImport
    table: Table

    def columns(self) -> tuple[FileColumn, ...]:
        """Its columns, with examples."""
        uses = Counter(self.table.header)
        return tuple(_column(self.table, name, index, uses[name] == 1) for index, name in enumerate(self.table.header))

    def values(self, column: str) -> tuple[tuple[str, int], ...]:
        """What stands in a column that is there once, with its counts, the 50 most frequent."""
        return tuple(Counter(row[column] for row in self.table.rows).most_common(VALUES_SHOWN))

    def preview(self, columns: ImportColumns) -> ImportPreview:
        """What the chosen columns, each there once, would bring in. Nothing is written."""
        rows, bad = _rows(self.found, columns, self.table)
        there = known_rows(self.store, self.found.classifier, rows)
        wrong = {row.line for row in there.contradicted}
        rows = [row for row in rows if row.line not in wrong]
        values: Counter[str] = Counter()
        if columns.label_column is not None:
            values.update(row[columns.label_column] for row in self.table.rows)
        shown = values.most_common(VALUES_SHOWN)
        return ImportPreview(
            good=len(rows),
            known=there.known,
            bad=tuple(sorted((*bad, *there.contradicted), key=lambda row: row.line)),
            label_counts=Counter(row.label for row in rows if row.label is not None),
            values=tuple(shown),
            other_values=len(values) - len(shown),
            rows=tuple(PreviewRow(row.line, row.item_id, shortened(row.text), row.label) for row in rows[:5]),
            request_bound=(len(rows) - there.decided) * self.store.classifiers().count(),
        )


def open_file(store: Store, import_id: str, required: Sequence[str] = ()) -> OpenedFile:
    """The file of an import; `InvalidCsvError` when a required column is not there once, and for content that is gone
    `ImportDiscardedError`."""
    found = file_import_record(store, import_id)
    return OpenedFile(store, found, _table(found, required))


def file_columns(store: Store, import_id: str) -> tuple[FileColumn, ...]:
    """The columns of a file that waits to be brought in, with examples."""
    return open_file(store, import_id).columns()


def import_preview(store: Store, import_id: str, columns: ImportColumns) -> ImportPreview:
    """What the chosen columns would bring in; raises as `start_file_import` does. Nothing is written."""
    return open_file(store, import_id, columns.names).preview(columns)


def columns_of(found: FileImport) -> ImportColumns | None:
    """The columns that were chosen when the import was started."""
    return None if found.columns is None else ImportColumns.from_json(found.columns)


def rows_of(found: FileImport, columns: ImportColumns) -> tuple[list[ReplayRow], list[BadRow]]:
    """The rows that can be brought in, and those that cannot, in the order of their lines."""
    return _rows(found, columns, _table(found, columns.names))


def known_rows(store: Store, classifier: Classifier, rows: Sequence[ReplayRow]) -> KnownRows:
    """How many of the rows are there: with their text decided, and with its review where a row has a label."""
    known = decided = 0
    contradicted = []
    field = definition_of(classifier).input_field
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        items = store.all(Item).filter(identity__in=[row.item_id for row in some])
        columns = items.values_list("identity", "values_digest", "selected_because", "propensity")
        there = {identity: (values, because != "", share) for identity, values, because, share in columns}
        identities = {row.item_id: review_identity(classifier.name, row.item_id) for row in some}
        reviews = store.all(Review).filter(identity__in=identities.values())
        labels = dict(reviews.values_list("identity", "label"))
        for row in some:
            if row.item_id not in there:
                continue
            values, sent, propensity = there[row.item_id]
            label = labels.get(identities[row.item_id])
            wrong = contradiction(row, same_values=values == digest({field: row.text}), label=label)
            if wrong is not None:
                contradicted.append(wrong)
                continue
            there_in_full = propensity is not None if row.label is None else label is not None
            known += there_in_full
            decided += there_in_full or (sent and propensity == 1.0)
    return KnownRows(known, decided, tuple(contradicted))


def shortened(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _EXAMPLE_CHARACTERS else f"{line[: _EXAMPLE_CHARACTERS - 1]}…"


def _rows(found: FileImport, columns: ImportColumns, table: Table) -> tuple[list[ReplayRow], list[BadRow]]:
    rows, unfit = parse_replay(
        table.rows,
        id_column=columns.id_column,
        text_columns=columns.text_columns,
        label_column=columns.label_column,
        mapping=columns.mapping or {},
        otherwise=columns.otherwise,
        labels=definition_of(found.classifier).labels,
    )
    field = definition_of(found.classifier).input_field
    kept = []
    for row in rows:
        try:
            check_values({field: row.text})
        except InvalidItemError as error:
            unfit.append(BadRow(row.line, None, error.id, error.message))
        else:
            kept.append(row)
    return kept, sorted((*table.bad, *unfit), key=lambda row: row.line)


def _table(found: FileImport, required: Sequence[str]) -> Table:
    if not found.content:
        raise ImportDiscardedError(
            "the file's content is no longer kept: it was thrown away, or brought in to its end.", importId=found.id
        )
    return read_rows(bytes(found.content), required, FILE_LIMITS)


def _column(table: Table, name: str, index: int, usable: bool) -> FileColumn:
    filled = (shortened(row.cells[index]) for row in table.rows if row.cells[index].strip())
    return FileColumn(name, tuple(islice(filled, _EXAMPLES)), usable)


def _summary(found: FileImport, states: Mapping[str, JobState]) -> FileImportSummary:
    tally = getattr(found, "tally", None)  # none of one that was started before there were tallies, or not started
    return FileImportSummary(
        id=found.id,
        classifier=found.classifier.name,
        filename=found.filename,
        size=found.size,
        row_count=found.row_count,
        state=_state(found, states.get(found.job_id)),
        columns=columns_of(found),
        job_id=found.job_id,
        recorded=tally.recorded if tally else found.recorded,
        known=found.known,
        bad=found.bad,
        bad_rows=found.bad_rows,
        created_by=found.created_by,
        created_at=found.created_at,
        ended_at=found.ended_at,
    )


def _state(found: FileImport, job: JobState | None) -> str:
    if found.ended_at is not None:
        return "done"
    if found.discarded_at is not None:
        return "discarded"
    if not found.job_id:
        return "received"
    return "failed" if job is None else str(job)  # an import whose job is gone goes nowhere
