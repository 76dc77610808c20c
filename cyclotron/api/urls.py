"""The cyclotron's addresses below `/api/v1/`."""

from django.urls import URLPattern

from cyclotron.api import cyclotrons, decisions, evaluations, events, held_out, imports, items, queue, reports, reviews
from kapsoweb.doors.rest.routes import route

_ONE = "cyclotrons/<str:cyclotron_id>"
_ASSIGNMENT = f"{_ONE}/assignments/<str:assignment_id>"
_EVALUATION = f"{_ONE}/evaluations/<str:evaluation_id>"
_IMPORT = f"{_ONE}/imports/<str:import_id>"
_REPORT = f"{_ONE}/reports/<str:report_id>"

urlpatterns: list[URLPattern] = [
    *route("cyclotrons", cyclotrons.CyclotronsView.as_view(), "cyclotrons"),
    *route(_ONE, cyclotrons.OneCyclotronView.as_view(), "cyclotron"),
    *route(f"{_ONE}/items", items.ItemsView.as_view(), "items"),
    *route(f"{_ONE}/items/<str:item_key>", items.ItemView.as_view(), "item"),
    *route(f"{_ONE}/decisions", decisions.DecisionsView.as_view(), "decisions"),
    *route(f"{_ONE}/decisions/import", decisions.DecisionsImportView.as_view(), "import-decisions"),
    *route(f"{_ONE}/reviews", reviews.ReviewsView.as_view(), "reviews"),
    *route(f"{_ONE}/reviews/undo", reviews.UndoReviewView.as_view(), "undo-review"),
    *route(f"{_ONE}/queue", queue.QueueView.as_view(), "queue"),
    *route(f"{_ONE}/queue/take", queue.TakeView.as_view(), "take"),
    *route(f"{_ONE}/queue/undo-last", queue.UndoLastView.as_view(), "undo-last"),
    *route(f"{_ASSIGNMENT}/answer", queue.AnswerView.as_view(), "answer"),
    *route(f"{_ASSIGNMENT}/skip", queue.SkipView.as_view(), "skip"),
    *route(f"{_ONE}/imports", imports.ImportsView.as_view(), "imports"),
    *route(_IMPORT, imports.ImportView.as_view(), "import"),
    *route(f"{_IMPORT}/preview", imports.PreviewView.as_view(), "preview-import"),
    *route(f"{_IMPORT}/start", imports.StartImportView.as_view(), "start-import"),
    *route(f"{_ONE}/held-out", held_out.HeldOutView.as_view(), "held-out"),
    *route(f"{_ONE}/held-out/freeze", held_out.FreezeView.as_view(), "freeze"),
    *route(f"{_ONE}/held-out/evaluate", held_out.EvaluateView.as_view(), "evaluate"),
    *route(_EVALUATION, evaluations.EvaluationView.as_view(), "evaluation"),
    *route(f"{_EVALUATION}/cancel", evaluations.CancelEvaluationView.as_view(), "cancel-evaluation"),
    *route(f"{_ONE}/reports", reports.ReportsView.as_view(), "reports"),
    *route(_REPORT, reports.OneReportView.as_view(), "report"),
    *route(f"{_REPORT}/csv", reports.ReportCsvView.as_view(), "report-csv"),
    *route(f"{_ONE}/events", events.EventsView.as_view(), "events"),
]
