"""Every address of the lab: health first, then the admin, the REST and the GraphQL door, then the rooms' own."""

from django.contrib import admin
from django.urls import include, path, re_path

from kapsoweb import health, schema

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("admin/", admin.site.urls),
    path("api/v1/", include("kapsoweb.api")),
    re_path(r"^graphql/?$", schema.view, name="graphql"),  # with and without a slash: no redirect loses a body
    path("", include("kapsoweb.pages.urls")),
    path("", include("cyclotron.urls")),
]

handler400 = "kapsoweb.pages.errors.bad_request"
handler403 = "kapsoweb.pages.errors.forbidden"
handler404 = "kapsoweb.pages.errors.not_found"
handler500 = "kapsoweb.pages.errors.server_error"
