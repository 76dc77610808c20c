"""CSV files: bring one in, see what a choice of columns would make of it, start that, or throw the file away."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample
from rest_framework.request import Request
from rest_framework.response import Response

from cyclotron import queries
from cyclotron.api.base import (
    MOMENT,
    NAME_CHARACTERS,
    CyclotronView,
)
from cyclotron.api.import_forms import (
    ColumnsInput,
    ImportPage,
    ImportState,
    Preview,
    ReceivedFile,
    UploadForm,
    UploadQuery,
)
from cyclotron.core.imports import ImportColumns
from cyclotron.queries.file_imports import BAD_ROWS_SHOWN
from kapsoweb.accounts.roles import Role
from kapsoweb.doors import limits
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.rest.bodies import CsvParser, FormParser, SentFile
from kapsoweb.doors.rest.errors import invalid_fields
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.serializers import PageQuery, read_values

_TAG = "imports"
_COLUMNS = {
    "idColumn": "record",
    "textColumns": ["title", "abstract"],
    "labelColumn": "decision",
    "mapping": {"I": "include"},
    "otherwise": "exclude",
    "reviewRate": 1.0,
    "auditRate": 0.05,
    "lowConfidence": None,
}
_IMPORT = {
    "id": "imp_01jkm3x7e8r5v9z2q4t6w8y0ah",
    "classifier": "screening",
    "filename": "adhd.csv",
    "size": 1_500_000,
    "rowCount": 851,
    "state": "received",
    "columns": None,
    "jobId": "",
    "recorded": 0,
    "known": 0,
    "bad": 0,
    "badRows": [],
    "createdBy": "ada (token nightly)",
    "createdAt": MOMENT,
    "endedAt": None,
}


class ImportsView(CyclotronView):
    """`/cyclotrons/{id}/imports`."""

    body_bytes = limits.FILE_BYTES
    parser_classes: Any = (CsvParser, FormParser)

    @operation(
        Operation(
            id="listImports",
            tag=_TAG,
            summary="List imports",
            query=PageQuery,
            answer=ImportPage,
            gives={"items": [_IMPORT], "next": None},
        )
    )
    def get(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Newest first."""
        page = queries.import_page(self.store(cyclotron_id), after=self.cursor("imports"), limit=self.query["limit"])
        return self.page(page, "imports")

    @operation(
        Operation(
            id="uploadFile",
            tag=_TAG,
            summary="Send a CSV file",
            query=UploadQuery,
            answer=ReceivedFile,
            status=201,
            gives={
                **_IMPORT,
                "fileColumns": [{"name": "record", "examples": ["10027"], "usable": True}],
            },
            schema={
                "request": {
                    "text/csv": OpenApiTypes.STR,
                    "multipart/form-data": {
                        "type": "object",
                        "required": ["file"],
                        "properties": {
                            "file": {"type": "string", "format": "binary"},
                            "classifier": {"type": "string", "maxLength": NAME_CHARACTERS},
                        },
                        "additionalProperties": False,
                    },
                },
                "examples": [
                    OpenApiExample(
                        "request",
                        value="record,title,decision\n10027,A trial,I\n",
                        request_only=True,
                        media_type="text/csv",
                    ),
                ],
            },
        )
    )
    def post(self, request: Request, cyclotron_id: str) -> Response:
        """As the whole body (`text/csv`) or in a form's field `file`; UTF-8, commas, a header line. Nothing is brought
        in yet. Needs the role operator."""
        workspace = self.workspace
        workspace.open(cyclotron_id, needs=Role.OPERATOR)
        filename, data, classifier = _sent(request.data, self.query)
        received = workspace.upload(cyclotron_id, filename=filename, data=data, classifier=classifier)
        columns = queries.file_columns(self.store(cyclotron_id), received.id)
        return self.answer({**vars(received), "file_columns": columns})


class ImportView(CyclotronView):
    """`/cyclotrons/{id}/imports/{importId}`."""

    @operation(
        Operation(
            id="getImport",
            tag=_TAG,
            summary="Read what has become of an import",
            answer=ImportState,
            gives={**_IMPORT, "state": "done", "columns": _COLUMNS, "recorded": 851, "endedAt": MOMENT},
        )
    )
    def get(self, request: Request, cyclotron_id: str, import_id: str) -> Response:  # noqa: ARG002
        """Its state and its counts."""
        return self.answer(queries.file_import(self.store(cyclotron_id), import_id))

    @operation(Operation(id="discardImport", tag=_TAG, summary="Throw a file away", status=204))
    def delete(self, request: Request, cyclotron_id: str, import_id: str) -> Response:  # noqa: ARG002
        """Only one of which nothing was brought in. Needs the role operator."""
        self.no_body()
        self.workspace.discard_import(cyclotron_id, import_id)
        return self.answer()


class PreviewView(CyclotronView):
    """`/cyclotrons/{id}/imports/{importId}/preview`."""

    @operation(
        Operation(
            id="previewImport",
            tag=_TAG,
            summary="See what the chosen columns would bring in",
            body=ColumnsInput,
            answer=Preview,
            sends=_COLUMNS,
            gives={
                "good": 851,
                "known": 0,
                "bad": 0,
                "badRows": [],
                "labelCounts": {"include": 84, "exclude": 767},
                "values": [{"value": "E", "rows": 767}, {"value": "I", "rows": 84}],
                "otherValues": 0,
                "rows": [{"line": 2, "itemId": "10027", "text": "A trial", "label": "include"}],
                "requestBound": 851,
            },
        )
    )
    def post(self, request: Request, cyclotron_id: str, import_id: str) -> Response:  # noqa: ARG002
        """Nothing is written: a body carries the columns because an address is too short for them."""
        found = queries.import_preview(self.store(cyclotron_id), import_id, ImportColumns.from_json(self.body()))
        bad = [
            {"line": row.line, "column": row.column, "rule": row.rule, "message": row.sentence}
            for row in found.bad[:BAD_ROWS_SHOWN]
        ]
        values = [{"value": value, "rows": rows} for value, rows in found.values]
        return self.answer({**vars(found), "bad": len(found.bad), "bad_rows": bad, "values": values})


class StartImportView(CyclotronView):
    """`/cyclotrons/{id}/imports/{importId}/start`."""

    access = Access(needs=Role.OPERATOR, record="cyclotron_id")

    @operation(
        Operation(
            id="startImport",
            tag=_TAG,
            summary="Bring the rows in",
            body=ColumnsInput,
            answer=ImportState,
            status=202,
            sends=_COLUMNS,
            gives={**_IMPORT, "state": "queued", "columns": _COLUMNS, "jobId": "job_01jkm3x7e8r5v9z2q4t6w8y0aj"},
        )
    )
    def post(self, request: Request, cyclotron_id: str, import_id: str) -> Response:  # noqa: ARG002
        """A job decides each row and records its label; the same columns again are the same job. Needs the role
        operator, and model calls switched on."""
        columns = ImportColumns.from_json(self.body())
        return self.answer(self.workspace.start_import(cyclotron_id, import_id, columns=columns))


def _sent(sent: Any, query: dict[str, Any]) -> tuple[str, bytes, str | None]:
    """The name, the bytes and the classifier of an uploaded file."""
    if not isinstance(sent, SentFile):
        raise invalid_fields({"file": ["is required."]})
    fields = read_values(UploadForm, dict(sent.fields))
    both = set(fields) & set(query) | ({"filename"} if sent.filename and "filename" in query else set())
    if both:
        raise invalid_fields({name: ["stands in the form and in the query."] for name in both})
    named = {**query, **fields}
    return named.get("filename") or sent.filename or "upload.csv", sent.data, named.get("classifier")
