"""`/api/v1/`: the rooms' own addresses beside the account's. Nothing is decided here."""

from django.urls import URLPattern

from cyclotron.api.urls import urlpatterns as cyclotron_addresses
from kapsoweb.doors.rest.account_views import MeView, SchemaView
from kapsoweb.doors.rest.routes import route

app_name = "api"
urlpatterns: list[URLPattern] = [
    *route("schema", SchemaView.as_view(), "schema"),
    *route("me", MeView.as_view(), "me"),
    *cyclotron_addresses,
]
