"""Bringing a CSV file in: receive it, start the job that does it row by row, or throw it away."""

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime

from django.db.models import F

from cyclotron.actions.asking import Asker
from cyclotron.actions.events import append_event
from cyclotron.actions.replaying import Rates, replay_rows
from cyclotron.adapters.decision_model import DecisionModel
from cyclotron.core.errors import CyclotronError
from cyclotron.core.imports import MAX_BAD_ROWS, MAX_FILE_BYTES, MAX_FILE_NAME, ImportColumns, InvalidImportError
from cyclotron.core.replay import ReplayRow
from cyclotron.models import FileImport, ImportTally
from cyclotron.queries.file_imports import FILE_LIMITS, columns_of, file_import_record, known_rows, rows_of
from cyclotron.store import Store
from kapsoweb.foundation.canonical import check_text
from kapsoweb.foundation.errors import Kind
from kapsoweb.foundation.identifiers import new_id
from kapsoweb.foundation.strict_csv import BadRow, read_rows
from kapsoweb.jobs.actions import enqueue

JOB_KIND = "cyclotron.import"


class ImportStartedError(CyclotronError):
    """The import was started or thrown away already."""

    id = "import-started"
    kind = Kind.CONFLICT


def receive_file(
    store: Store, *, filename: str, data: bytes, created_by: str, now: datetime, classifier: str | None = None
) -> FileImport:
    """Keep a CSV file of 32 MiB and 200,000 rows at most, of which nothing is brought in yet.

    Raises `InvalidCsvError` for a file that cannot be read as a whole, `InvalidImportError` for one without rows.
    """
    if not filename or len(check_text(filename, "the file's name")) > MAX_FILE_NAME:
        raise InvalidImportError(f"the file's name must have 1 to {MAX_FILE_NAME} characters.", field="filename")
    if len(data) > MAX_FILE_BYTES:
        raise InvalidImportError(
            f"the file is larger than {MAX_FILE_BYTES // 2**20} MiB; split it.", field="file", bytes=len(data)
        )
    table = read_rows(data, [], FILE_LIMITS)
    rows = len(table.rows) + len(table.bad)
    if not rows:
        raise InvalidImportError("the file has a header and no rows.", field="file")
    row = store.classifier(classifier)
    return store.rows(FileImport).create(
        id=new_id("imp"),
        cyclotron_id=store.cyclotron_id,
        classifier=row,
        filename=filename,
        content=data,
        content_digest=hashlib.sha256(data).hexdigest(),
        size=len(data),
        header=list(table.header),
        row_count=rows,
        created_by=created_by,
        created_at=now,
    )


def start_file_import(
    store: Store, import_id: str, *, columns: ImportColumns, account_id: str, now: datetime
) -> FileImport:
    """Queue the job that brings the rows in. The same choice twice is one job; another is `ImportStartedError`.

    Raises `InvalidImportError`, `InvalidReplayError` or `InvalidCsvError` for columns or labels that are not there.
    """
    with store.transaction():
        store.lock()
        found = file_import_record(store, import_id)
        if found.job_id and columns_of(found) == columns:
            return found
        if found.job_id or found.discarded_at is not None:
            raise ImportStartedError(
                "this file was brought in or thrown away already; upload it again to do something else with it.",
                importId=import_id,
            )
        rows, _ = rows_of(found, columns)
        found.columns = columns.as_json()
        found.known = known_rows(store, found.classifier, rows).known
        payload = {"store": store.using, "cyclotron": store.cyclotron_id, "import": found.id}
        found.job_id = enqueue(
            kind=JOB_KIND, payload=payload, account_id=account_id, record_id=store.cyclotron_id, now=now
        ).id
        found.save(using=store.using, update_fields=["columns", "known", "job_id"])
        store.rows(ImportTally).create(file_import=found)
    return found


def run_file_import(
    store: Store,
    import_id: str,
    *,
    model: DecisionModel,
    clock: Callable[[], datetime],
    stop: Callable[[], bool],
    progress: Callable[[int, int], None],
    hold: Callable[[], None],
) -> FileImport:
    """Bring the rows in, one by one; what is there already is passed over, so a stopped import goes on where it stood.

    `stop` is asked before each row. `hold` raises unless this run is still the one that holds the job; it is called in
    the transaction that writes the end.
    """
    found = file_import_record(store, import_id)
    columns = columns_of(found)
    if found.ended_at is not None or columns is None:
        return found
    rows, unfit = rows_of(found, columns)
    # One that was started before there were tallies has what it counted when it last stopped.
    tally, _ = store.rows(ImportTally).get_or_create(file_import=found, defaults={"recorded": found.recorded})

    def count() -> None:
        store.rows(ImportTally).filter(pk=tally.pk).update(recorded=F("recorded") + 1)

    done = replay_rows(
        Asker(store, model, clock),
        rows,
        classifier=found.classifier.name,
        reviewer=found.created_by,
        rates=Rates(columns.review_rate, columns.audit_rate, columns.low_confidence),
        progress=progress,
        stop=stop,
        count=count,
    )
    with store.transaction():
        locked = store.lock()
        hold()
        _count(store, found, rows, sorted((*unfit, *done.bad), key=lambda row: row.line))
        if not done.stopped:
            found.content, found.ended_at = b"", clock()
            append_event(
                store,
                locked,
                kind="file-imported",
                detail={"import": found.id, "recorded": found.recorded, "known": found.known, "bad": found.bad},
                now=found.ended_at,
            )
        found.save(using=store.using)
    return found


def discard_import(store: Store, import_id: str, *, now: datetime) -> bool:
    """Throw away a file of which nothing was brought in; raises `ImportStartedError` when it was.

    False when it had been thrown away already.
    """
    with store.transaction():
        store.lock()
        found = file_import_record(store, import_id)
        if found.job_id:
            raise ImportStartedError(
                "rows of this file were brought in, so its import stays on record.", importId=import_id
            )
        if found.discarded_at is not None:
            return False
        found.content, found.discarded_at = b"", now
        found.save(using=store.using, update_fields=["content", "discarded_at"])
    return True


def _count(store: Store, found: FileImport, rows: Sequence[ReplayRow], bad: Sequence[BadRow]) -> None:
    """What came of it by now, whichever run did it: the rows that it recorded, and the others that are there."""
    found.recorded = store.rows(ImportTally).get(file_import=found).recorded
    found.known = known_rows(store, found.classifier, rows).known - found.recorded
    found.bad = len(bad)
    found.bad_rows = [
        {"line": row.line, "column": row.column, "rule": row.rule, "message": row.sentence}
        for row in bad[:MAX_BAD_ROWS]
    ]
