"""Every address of the lab: health first, then the admin, then the rooms' own."""

from django.contrib import admin
from django.urls import path

from kapsoweb import health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("admin/", admin.site.urls),
]
