"""A file that is brought in, as its pages show it: its columns, what would come of it, how far it is, what came."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cyclotron.core.csv_text import csv_text
from cyclotron.core.imports import MAX_FILE_BYTES, MAX_FILE_ROWS
from cyclotron.core.wording import counted, grouped
from cyclotron.presentation.figures import elapsed, quoted
from cyclotron.presentation.report_page import Fact
from cyclotron.queries import FileColumn, FileImportSummary, ImportPreview, LearnedMeanwhile
from kapsoweb.foundation.wording import sentence_case

BAD_ROW_COLUMNS = ("line", "column", "rule", "message")
LIMITS = (
    f"A CSV file in UTF-8 with commas and a header line: at most {MAX_FILE_BYTES // 2**20} MiB "
    f"and {MAX_FILE_ROWS:,} rows."
)
STATES = {
    "received": "not begun",
    "queued": "waiting",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "cancelled": "stopped",
    "discarded": "thrown away",
}


@dataclass(frozen=True)
class ColumnChoice:
    """A column to choose from; `off` says why it cannot be chosen."""

    name: str
    shown: str
    examples: Sequence[str]
    off: str
    is_id: bool
    is_text: bool
    is_label: bool


@dataclass(frozen=True)
class Meaning:
    """A value of the label column, and the label that it is said to mean (or none)."""

    shown: str
    count: str
    label: str


@dataclass(frozen=True)
class PreviewView:
    """What would come in: in a sentence, by label, and with the button that has it come."""

    sentence: str
    notes: Sequence[str]
    labels: Sequence[Fact]
    button: str
    new: int


def column_choices(
    columns: Sequence[FileColumn], *, id_column: str, text_columns: Sequence[str], label_column: str
) -> list[ColumnChoice]:
    """The file's columns, with what each is used for."""
    choices = []
    for column in columns:
        off = "" if column.usable and column.name else _why_unusable(column)
        choices.append(
            ColumnChoice(
                name=column.name,
                shown=column.name or "(no name)",
                examples=column.examples,
                off=off,
                is_id=not off and column.name == id_column,
                is_text=not off and column.name in text_columns,
                is_label=not off and column.name == label_column,
            )
        )
    return choices


def _why_unusable(column: FileColumn) -> str:
    return "Its name stands twice in the header." if column.name else "It has no name."


def meanings_of(values: Sequence[tuple[str, int]], labels: Sequence[str]) -> list[Meaning]:
    """The values of the label column in order, with what each is said to mean; `labels` has one for each value."""
    return [
        Meaning(_shortened(value) if value.strip() else "(empty)", grouped(count), label)
        for (value, count), label in zip(values, labels, strict=True)
    ]


def _shortened(value: str, most: int = 80) -> str:
    line = " ".join(value.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def preview_view(preview: ImportPreview, labels: Sequence[str], *, with_labels: bool) -> PreviewView:
    """What a choice of columns would bring in."""
    new = preview.good - preview.known
    bound = counted(preview.request_bound, "model request")
    notes = []
    if preview.known:
        notes.append(f"{_rows_are(preview.known)} there already and will be passed over.")
    if preview.bad:
        rules = Counter(row.rule for row in preview.bad).most_common()
        broken = ", ".join(f"{grouped(count)} {rule}" for rule, count in rules)
        notes.append(f"{_rows_are(len(preview.bad))} bad and left out ({broken}); each is below.")
    if not with_labels:
        notes.append("The rows have no labels: those that are sent wait in the review queue.")
    elif preview.good:
        notes.append("Each label is recorded as a review. Learning on the way may ask the model more.")
    return PreviewView(
        sentence=f"{grouped(preview.good)} of {counted(preview.good + len(preview.bad), 'row')} can come in.",
        notes=notes,
        labels=[Fact(label, grouped(preview.label_counts.get(label, 0))) for label in labels] if with_labels else [],
        button=f"Import {counted(new, 'row')} (up to {bound})",
        new=new,
    )


def _rows_are(count: int) -> str:
    return f"{counted(count, 'row')} {'is' if count == 1 else 'are'}"


@dataclass(frozen=True)
class ImportRow:
    """An import in the list of a cyclotron's imports."""

    id: str
    filename: str
    rows: str
    state: str
    tone: str
    recorded: str
    known: str
    bad: str
    summary: FileImportSummary


def import_row(found: FileImportSummary) -> ImportRow:
    """An import in words and numbers; what has not begun has no numbers yet."""
    counted_yet = found.state in {"done", "cancelled"}
    return ImportRow(
        id=found.id,
        filename=found.filename,
        rows=grouped(found.row_count),
        state=STATES[found.state],
        tone={"failed": "bad", "cancelled": "warn", "discarded": "muted"}.get(found.state, ""),
        recorded=grouped(found.recorded) if counted_yet else "–",
        known=grouped(found.known) if counted_yet else "–",
        bad=grouped(found.bad) if counted_yet else "–",
        summary=found,
    )


def size_text(size: int) -> str:
    """Bytes as `812 bytes`, `3.4 KiB` or `31.9 MiB`."""
    if size < 2**10:
        return counted(size, "byte")
    return f"{size / 2**10:.1f} KiB" if size < 2**20 else f"{size / 2**20:.1f} MiB"


def chosen_facts(found: FileImportSummary) -> list[Fact]:
    """What was chosen for an import that has begun, in words."""
    columns = found.columns
    if columns is None:
        return []
    facts = [
        Fact("Identity", columns.id_column),
        Fact("Text", ", ".join(columns.text_columns)),
        Fact("Label", columns.label_column if columns.label_column is not None else "none: sent to review"),
    ]
    facts += [Fact(f"{quoted(value)} means", label) for value, label in (columns.mapping or {}).items()]
    if columns.otherwise is not None:
        facts.append(Fact("Any other value means", columns.otherwise))
    if columns.label_column is None:
        facts += [Fact("Review rate", f"{columns.review_rate:g}"), Fact("Audit rate", f"{columns.audit_rate:g}")]
        if columns.low_confidence is not None:
            facts.append(Fact("Low confidence", f"below {columns.low_confidence:g}"))
    return facts


@dataclass(frozen=True)
class ImportProgress:
    """An import that waits or runs. `quarter` (0 to 4) grows with what is done; screen readers hear of each."""

    title: str
    done: int
    total: int
    text: str
    elapsed: str
    note: str
    can_cancel: bool
    quarter: int
    announcement: str


def import_progress(
    *, done: int, total: int, started_at: datetime | None, stopping: bool, now: datetime, worker_alive: bool
) -> ImportProgress:
    """How far an import has come; `started_at` is None for one that waits for a worker."""
    quarter = done * 4 // total if total else 0
    title = "Import stopping" if stopping else "Import running" if started_at else "Import waiting"
    return ImportProgress(
        title=title,
        done=done,
        total=total,
        text=f"{grouped(done)} of {counted(total, 'row')}",
        elapsed=elapsed(started_at, now) if started_at else "",
        note="" if worker_alive else "No worker is alive; it goes on as soon as one is.",
        can_cancel=not stopping,
        quarter=quarter,
        announcement=f"{title}: {quarter * 25}% done." if quarter else f"{title}.",
    )


def what_is_left(preview: ImportPreview, recorded: int) -> str:
    """Of an import that stopped: the rows that it recorded, which are kept, what is left, and what that would cost."""
    left = preview.good - preview.known
    cost = counted(preview.request_bound, "model request")
    return f"{counted(recorded, 'row')} recorded and kept. {counted(left, 'row')} left, for up to {cost}."


def learned_sentence(learned: LearnedMeanwhile) -> str:
    """What was learned while a file came in."""
    if not learned.steps:
        return "Nothing was learned on the way: no learning step was due."
    came = []
    if learned.promoted:
        came.append(counted(learned.promoted, "new version"))
    if learned.refitted:
        came.append(f"the ML model fitted anew {counted(learned.refitted, 'time')}")
    what = " and ".join(came) if came else "what was active is kept"
    return f"{counted(learned.steps, 'learning step')} on the way: {what}."


@dataclass(frozen=True)
class BadRowShown:
    """A row that cannot come in: where it starts, the column to blame (or none), what is wrong, and the rule."""

    line: str
    column: str
    sentence: str
    rule: str


def bad_row(line: int, column: str | None, rule: str, sentence: str) -> BadRowShown:
    """A bad row of a preview, or of an import's record."""
    return BadRowShown(grouped(line), column or "", sentence_case(sentence), rule)


def bad_rows_csv(rows: Sequence[Mapping[str, object]]) -> str:
    """The bad rows: where each starts, the column to blame, the rule that it breaks, and what is wrong."""
    return csv_text(BAD_ROW_COLUMNS, ([row[column] for column in BAD_ROW_COLUMNS] for row in rows))
