"""Files that are brought in, as the schema shows them, and which of their columns hold what."""

from collections.abc import Mapping
from typing import Any

from graphene import ID, Boolean, Field, Float, InputObjectType, Int, ObjectType, String

from cyclotron.api.import_forms import ColumnsInput
from cyclotron.core.imports import ImportColumns
from cyclotron.graphql.definition_types import LabelCount, counts
from cyclotron.queries import FileImportSummary
from cyclotron.queries import ImportPreview as FoundPreview
from cyclotron.queries.file_imports import BAD_ROWS_SHOWN
from kapsoweb.doors.graphql.fields import as_sent, many, many_given
from kapsoweb.doors.graphql.scalars import JSON, Time
from kapsoweb.doors.rest.serializers import read_values


class BadRow(ObjectType):
    """A row that was refused: where it starts, which column is to blame if one is, and why."""

    line = Int(required=True)
    column = String()
    rule = String(required=True)
    message = String(required=True)


class FileColumn(ObjectType):
    """A column of a file with its first cells; `usable` is false for a name that stands twice in the header."""

    name = String(required=True)
    examples = many(String)
    usable = Boolean(required=True)


class ChosenColumns(ObjectType):
    """Which columns hold what, as it was chosen when the import was started."""

    id_column = String(required=True)
    text_columns = many(String)
    label_column = String()
    mapping = Field(JSON, description="An object from values of the label column to labels.")
    otherwise = String(description="The label of all other values.")
    review_rate = Float(required=True)
    audit_rate = Float(required=True)
    low_confidence = Float()


class FileImport(ObjectType):
    """A CSV file and what became of it."""

    id = ID(required=True)
    classifier = String(required=True)
    filename = String(required=True)
    size = Int(required=True, description="In bytes.")
    row_count = Int(required=True)
    state = String(required=True, description="received, queued, running, done, failed, cancelled or discarded.")
    columns = Field(ChosenColumns, description="Null until the import is started.")
    job_id = ID(description="Null until the import is started.")
    recorded = Int(required=True, description="Rows that were new.")
    known = Int(required=True, description="Rows that were there before.")
    bad = Int(required=True, description="Rows that were refused.")
    bad_rows = many(BadRow, "The first of those that were refused.")
    created_by = String(required=True)
    created_at = Time(required=True)
    ended_at = Time()


class PreviewRow(ObjectType):
    """A row as it would come in, its text shortened."""

    line = Int(required=True)
    item_id = String(required=True)
    text = String(required=True)
    label = String()


class ImportPreview(ObjectType):
    """What a choice of columns makes of a file, before anything is brought in."""

    good = Int(required=True, description="Rows that can be brought in.")
    known = Int(required=True, description="Of these, the ones that are there already.")
    bad = Int(required=True, description="Rows that would be refused.")
    bad_rows = many(BadRow, "The first 100 of those that would be refused.")
    label_counts = many(LabelCount)
    values = many(LabelCount, "The most frequent values of the label column.")
    other_values = Int(required=True, description="How many further values it has.")
    rows = many(PreviewRow)
    request_bound = Int(required=True, description="The most model requests that deciding the rows takes.")


class ImportColumnsInput(InputObjectType):
    """Which columns hold what. Without a label column the rows wait for reviews."""

    id_column = String(required=True)
    text_columns = many_given(String, required=True)
    label_column = String()
    mapping = JSON(description="An object from values of the label column to labels; a label stands for itself.")
    otherwise = String(description="The label of all other values.")
    review_rate = Float(description="From 0 to 1; 1 without.")
    audit_rate = Float(description="From 0 to 1; 0.05 without.")
    low_confidence = Float(description="A decision whose lowest confidence is below this is always sent.")


def columns_in(given: Mapping[str, Any]) -> ImportColumns:
    """The choice of columns, held to the one form of every door.

    Raises `InvalidRequestError`, or what `ImportColumns` raises.
    """
    sent = {name: value for name, value in as_sent(given).items() if value is not None}  # null is as good as nothing
    return ImportColumns.from_json(read_values(ColumnsInput, sent))


def import_shown(found: FileImportSummary) -> dict[str, Any]:
    """An import as the schema shows it."""
    return {**vars(found), "job_id": found.job_id or None}


def preview_shown(found: FoundPreview) -> dict[str, Any]:
    """A preview as the schema shows it."""
    return {
        **vars(found),
        "bad": len(found.bad),
        "bad_rows": [{**vars(row), "message": row.sentence} for row in found.bad[:BAD_ROWS_SHOWN]],
        "label_counts": counts(found.label_counts),
        "values": [{"label": value, "count": count} for value, count in found.values],
    }
