"""Addresses of the cyclotron's pages."""

from django.urls import path

from cyclotron import views

app_name = "cyclotron"
urlpatterns = [
    path("cyclotrons/", views.cyclotron_list, name="list"),
    path("cyclotrons/<slug:cyclotron_id>/", views.detail, name="detail"),
    path("cyclotrons/<slug:cyclotron_id>/freeze/", views.freeze, name="freeze"),
    path("cyclotrons/<slug:cyclotron_id>/evaluate/", views.evaluate, name="evaluate"),
    path("cyclotrons/<slug:cyclotron_id>/evaluations/<slug:evaluation_id>/", views.progress, name="progress"),
    path("cyclotrons/<slug:cyclotron_id>/evaluations/<slug:evaluation_id>/cancel/", views.cancel, name="cancel"),
    path("cyclotrons/<slug:cyclotron_id>/reports/<slug:report_id>/", views.report, name="report"),
]
