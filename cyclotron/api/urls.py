"""The cyclotron's addresses below `/api/v1/`."""

from django.urls import URLPattern

from cyclotron.api import cyclotrons, evaluations, events, reports
from kapsoweb.doors.rest.routes import route

_ONE = "cyclotrons/<str:cyclotron_id>"

urlpatterns: list[URLPattern] = [
    *route("cyclotrons", cyclotrons.CyclotronsView.as_view(), "cyclotrons"),
    *route(_ONE, cyclotrons.OneCyclotronView.as_view(), "cyclotron"),
    *route(f"{_ONE}/evaluations/<str:evaluation_id>", evaluations.EvaluationView.as_view(), "evaluation"),
    *route(
        f"{_ONE}/evaluations/<str:evaluation_id>/cancel",
        evaluations.CancelEvaluationView.as_view(),
        "cancel-evaluation",
    ),
    *route(f"{_ONE}/reports", reports.ReportsView.as_view(), "reports"),
    *route(f"{_ONE}/reports/<str:report_id>", reports.OneReportView.as_view(), "report"),
    *route(f"{_ONE}/reports/<str:report_id>/csv", reports.ReportCsvView.as_view(), "report-csv"),
    *route(f"{_ONE}/events", events.EventsView.as_view(), "events"),
]
