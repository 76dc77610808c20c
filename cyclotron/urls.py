"""Addresses of the cyclotron's pages."""

from django.urls import path

from cyclotron.views import creating, events, lists, panel, reports

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
    path("cyclotrons/<slug:cyclotron_id>/events/", events.events, name="events"),
]
