"""Reports: list them, read one as JSON or its items as CSV."""

from collections.abc import Mapping
from typing import Any

from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from cyclotron import queries
from cyclotron.api.base import (
    DIGEST_CHARACTERS,
    MADE_ID_CHARACTERS,
    MOMENT,
    NAME_CHARACTERS,
    ClassifierPageQuery,
    CyclotronView,
)
from cyclotron.core.report_format import report_example, report_schema
from cyclotron.core.report_text import report_csv
from cyclotron.core.verdict import Verdict
from kapsoweb.doors.rest.fields import NumberField, TextField, TimeField, WholeNumberField, WordField
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.schema import component
from kapsoweb.doors.rest.serializers import StrictSerializer, page_of

_TAG = "reports"
REPORT_ID = "rep_01jkm3x7e8r5v9z2q4t6w8y0ae"
REPORT = component("HeldOutReport", report_schema)


class ReportRow(StrictSerializer):
    """A report in a list: its headline, without its items."""

    id = TextField(max_length=MADE_ID_CHARACTERS)
    classifier = TextField(max_length=NAME_CHARACTERS)
    created_at = TimeField()
    held_out_set = TextField(max_length=DIGEST_CHARACTERS)
    scored = WholeNumberField()
    before = NumberField(min_value=0, max_value=1, help_text="Balanced accuracy of version 1.")
    after = NumberField(min_value=0, max_value=1, help_text="Balanced accuracy of what was active.")
    change_points = NumberField(min_value=-100, max_value=100, help_text="After less before, in percentage points.")
    verdict = WordField(Verdict)


ReportPage = page_of(ReportRow, "ReportPage")


class CsvRenderer(BaseRenderer):
    """Text that is CSV already."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None) -> bytes:  # noqa: ARG002
        """The text's bytes."""
        return str(data).encode()


class ReportsView(CyclotronView):
    """`/cyclotrons/{id}/reports`."""

    @operation(
        Operation(
            id="listReports",
            tag=_TAG,
            summary="List reports",
            query=ClassifierPageQuery,
            answer=ReportPage,
            gives={
                "items": [
                    {
                        "id": REPORT_ID,
                        "classifier": "screening",
                        "createdAt": MOMENT,
                        "heldOutSet": "ab" * 32,
                        "scored": 160,
                        "before": 0.61,
                        "after": 0.83,
                        "changePoints": 22.0,
                        "verdict": "improved",
                    }
                ],
                "next": None,
            },
        )
    )
    def get(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Newest first."""
        page = queries.reports(
            self.store(cyclotron_id),
            self.query.get("classifier"),
            after=self.cursor("reports"),
            limit=self.query["limit"],
        )
        return self.page(page.shown_as(_row(report.id, report.document) for report in page.rows), "reports")


class OneReportView(CyclotronView):
    """`/cyclotrons/{id}/reports/{reportId}`."""

    @operation(
        Operation(
            id="getReport", tag=_TAG, summary="Read a report", answer=OpenApiResponse(REPORT), gives=report_example()
        )
    )
    def get(self, request: Request, cyclotron_id: str, report_id: str) -> Response:  # noqa: ARG002
        """The document `cyclotron-held-out-report/v1`, whole, with its items. Identities and labels, no item text."""
        return self.answer(queries.report_record(self.store(cyclotron_id), report_id).document)


class ReportCsvView(CyclotronView):
    """`/cyclotrons/{id}/reports/{reportId}/csv`."""

    renderer_classes: Any = (CsvRenderer,)

    @operation(
        Operation(
            id="getReportItems",
            tag=_TAG,
            summary="Read a report's items as CSV",
            schema={"responses": {(200, "text/csv"): OpenApiTypes.STR}},
        )
    )
    def get(self, request: Request, cyclotron_id: str, report_id: str) -> Response:  # noqa: ARG002
        """RFC 4180 in UTF-8 with a header. A cell that a spreadsheet would run has an apostrophe in front."""
        held = self.workspace.open(cyclotron_id)
        document = queries.report_record(held.store, report_id).document
        name = content_disposition_header(as_attachment=True, filename=f"{held.name}-{report_id}.csv")
        return self.answer(report_csv(document), **{"Content-Disposition": str(name)})


def _row(report_id: str, document: Mapping[str, Any]) -> dict[str, Any]:
    headline = document["headline"]
    return {
        "id": report_id,
        "classifier": document["classifier"]["id"],
        "created_at": document["createdAt"],
        "held_out_set": document["heldOutSet"]["id"],
        "scored": document["heldOutSet"]["scored"],
        "before": headline["before"],
        "after": headline["after"],
        "change_points": headline["changePoints"],
        "verdict": document["change"]["verdict"],
    }
