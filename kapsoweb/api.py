"""`/api/v1/`: the rooms' own addresses beside the account's. Nothing is decided here."""

from django.urls import URLPattern

from cyclotron.api.urls import urlpatterns as cyclotron_addresses
from kapsoweb.doors.rest.account_views import MeView, SchemaView
from kapsoweb.doors.rest.job_views import CancelJobView, JobsView, JobView, RetryJobView
from kapsoweb.doors.rest.routes import route
from kapsoweb.doors.rest.token_views import TokensView, TokenView

app_name = "api"
urlpatterns: list[URLPattern] = [
    *route("schema", SchemaView.as_view(), "schema"),
    *route("me", MeView.as_view(), "me"),
    *route("tokens", TokensView.as_view(), "tokens"),
    *route("tokens/<str:token_id>", TokenView.as_view(), "token"),
    *route("jobs", JobsView.as_view(), "jobs"),
    *route("jobs/<str:job_id>", JobView.as_view(), "job"),
    *route("jobs/<str:job_id>/cancel", CancelJobView.as_view(), "cancel-job"),
    *route("jobs/<str:job_id>/retry", RetryJobView.as_view(), "retry-job"),
    *cyclotron_addresses,
]
