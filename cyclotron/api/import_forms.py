"""The forms of file imports: a choice of columns, an import's state, a file's columns, a preview."""

from typing import Any

from cyclotron.api.base import LABEL_CHARACTERS, MADE_ID_CHARACTERS, NAME_CHARACTERS, identity_field
from cyclotron.core.imports import MAX_FILE_NAME
from kapsoweb.doors import limits
from kapsoweb.doors.rest.fields import (
    FlagField,
    ListField,
    MapField,
    NumberField,
    TextField,
    TimeField,
    WholeNumberField,
    WordField,
)
from kapsoweb.doors.rest.serializers import StrictSerializer, many, page_of

_COLUMN_CHARACTERS = 1000
_STATES = ("received", "queued", "running", "done", "failed", "cancelled", "discarded")


class ColumnsInput(StrictSerializer):
    """Which columns of a file hold what."""

    id_column = TextField(max_length=_COLUMN_CHARACTERS, help_text="Holds each item's identity.")
    text_columns = ListField(
        child=TextField(max_length=_COLUMN_CHARACTERS), min_length=1, max_length=limits.TEXT_COLUMNS_MOST
    )
    label_column = TextField(
        max_length=_COLUMN_CHARACTERS,
        allow_null=True,
        default=None,
        help_text="With it each row is decided and its label recorded as a review; without, what is sent waits.",
    )
    mapping = MapField(
        child=TextField(max_length=LABEL_CHARACTERS),
        max_length=limits.MAPPING_MOST,
        allow_null=True,
        default=None,
        help_text="Which label a value of the label column means; a value that is a label needs no entry.",
    )
    otherwise = TextField(
        max_length=LABEL_CHARACTERS, allow_null=True, default=None, help_text="The label of every other value."
    )
    review_rate = NumberField(min_value=0, max_value=1, default=1.0)
    audit_rate = NumberField(min_value=0, max_value=1, default=0.05)
    low_confidence = NumberField(min_value=0, max_value=1, allow_null=True, default=None)


class BadRow(StrictSerializer):
    """A row that cannot be brought in: where, by which rule, and a sentence; never a cell."""

    line = WholeNumberField()
    column = TextField(max_length=_COLUMN_CHARACTERS, allow_null=True)
    rule = TextField(max_length=64)
    message = TextField(max_length=2000)


class ImportState(StrictSerializer):
    """A file and what has become of it."""

    id = TextField(max_length=MADE_ID_CHARACTERS)
    classifier = TextField(max_length=NAME_CHARACTERS)
    filename = TextField(max_length=MAX_FILE_NAME)
    size = WholeNumberField(help_text="In bytes.")
    row_count = WholeNumberField()
    state = WordField(_STATES)
    columns = ColumnsInput(allow_null=True)
    job_id = TextField(max_length=MADE_ID_CHARACTERS, allow_blank=True, help_text="Empty until it is started.")
    recorded = WholeNumberField(help_text="Rows that are new.")
    known = WholeNumberField(help_text="Rows that were there before.")
    bad = WholeNumberField(help_text="Rows that were refused; `badRows` lists the first of them.")
    bad_rows = many(BadRow)
    created_by = TextField(max_length=limits.ID_CHARACTERS)
    created_at = TimeField()
    ended_at = TimeField(allow_null=True)


class FileColumn(StrictSerializer):
    """A column of the file, with the beginnings of its first cells; one whose name stands twice is not usable."""

    name = TextField(max_length=_COLUMN_CHARACTERS, allow_blank=True)
    examples = ListField(child=TextField(max_length=1000))
    usable = FlagField()


class ReceivedFile(ImportState):
    """A file that was just received, with its columns."""

    file_columns = many(FileColumn)


class ValueCount(StrictSerializer):
    """A value of the label column."""

    value = TextField(max_length=2**20, allow_blank=True)
    rows = WholeNumberField()


class PreviewRow(StrictSerializer):
    """A row as it would come in, its text shortened."""

    line = WholeNumberField()
    item_id = identity_field("The item's identity.")
    text = TextField(max_length=1000)
    label: Any = TextField(max_length=LABEL_CHARACTERS, allow_null=True)


class Preview(StrictSerializer):
    """What the chosen columns would bring in."""

    good = WholeNumberField()
    known = WholeNumberField(help_text="Good rows that are there already.")
    bad = WholeNumberField()
    bad_rows = many(BadRow, help_text="The first hundred.")
    label_counts = MapField(child=WholeNumberField(), max_length=1000)
    values = many(ValueCount, help_text="Of the label column, the most frequent.")
    other_values = WholeNumberField(help_text="Values beside those listed.")
    rows = many(PreviewRow, help_text="The first rows.")
    request_bound = WholeNumberField(help_text="The most model requests that deciding the rows takes.")


class UploadQuery(StrictSerializer):
    """Of a file that is the whole body; a form says the same in its fields."""

    filename = TextField(max_length=MAX_FILE_NAME, required=False)
    classifier = TextField(max_length=NAME_CHARACTERS, required=False)


class UploadForm(StrictSerializer):
    """The fields of a form beside its file."""

    classifier = TextField(max_length=NAME_CHARACTERS, required=False)


ImportPage = page_of(ImportState, "ImportPage")
