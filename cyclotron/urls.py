"""Addresses of the cyclotron's pages."""

from django.urls import path

from cyclotron.views import creating, events, imports, items, lists, panel, reports, reviewing

app_name = "cyclotron"
urlpatterns = [
    path("cyclotrons/", lists.cyclotron_list, name="list"),
    path("cyclotrons/new/", creating.create, name="create"),
    path("cyclotrons/<slug:cyclotron_id>/", panel.detail, name="detail"),
    path("cyclotrons/<slug:cyclotron_id>/freeze/", panel.freeze, name="freeze"),
    path("cyclotrons/<slug:cyclotron_id>/evaluate/", panel.evaluate, name="evaluate"),
    path("cyclotrons/<slug:cyclotron_id>/evaluations/<slug:evaluation_id>/", panel.progress, name="progress"),
    path("cyclotrons/<slug:cyclotron_id>/evaluations/<slug:evaluation_id>/cancel/", panel.cancel, name="cancel"),
    path("cyclotrons/<slug:cyclotron_id>/reports/<slug:report_id>/", reports.report, name="report"),
    path("cyclotrons/<slug:cyclotron_id>/items/", items.items, name="items"),
    path("cyclotrons/<slug:cyclotron_id>/items/<int:key>/", items.item, name="item"),
    path("cyclotrons/<slug:cyclotron_id>/items/<int:key>/review/", items.review, name="item-review"),
    path("cyclotrons/<slug:cyclotron_id>/items/<int:key>/undo/", items.undo, name="item-undo"),
    path("cyclotrons/<slug:cyclotron_id>/review/", reviewing.review, name="review"),
    path("cyclotrons/<slug:cyclotron_id>/review/take/", reviewing.take, name="review-take"),
    path("cyclotrons/<slug:cyclotron_id>/review/undo/", reviewing.undo, name="review-undo"),
    path("cyclotrons/<slug:cyclotron_id>/review/<slug:assignment_id>/answer/", reviewing.answer, name="review-answer"),
    path("cyclotrons/<slug:cyclotron_id>/review/<slug:assignment_id>/skip/", reviewing.skip, name="review-skip"),
    path("cyclotrons/<slug:cyclotron_id>/import/", imports.imports, name="imports"),
    path("cyclotrons/<slug:cyclotron_id>/import/<slug:import_id>/", imports.import_, name="import"),
    path("cyclotrons/<slug:cyclotron_id>/import/<slug:import_id>/start/", imports.start, name="import-start"),
    path("cyclotrons/<slug:cyclotron_id>/import/<slug:import_id>/discard/", imports.discard, name="import-discard"),
    path("cyclotrons/<slug:cyclotron_id>/import/<slug:import_id>/cancel/", imports.cancel, name="import-cancel"),
    path("cyclotrons/<slug:cyclotron_id>/import/<slug:import_id>/go-on/", imports.go_on, name="import-go-on"),
    path("cyclotrons/<slug:cyclotron_id>/import/<slug:import_id>/bad-rows.csv", imports.bad_rows, name="import-bad"),
    path("cyclotrons/<slug:cyclotron_id>/events/", events.events, name="events"),
]
