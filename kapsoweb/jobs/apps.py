"""The jobs room as a Django app."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class JobsConfig(AppConfig):
    """Tables are prefixed `kapso_jobs_`. Loads the `jobs` module of every app, where handlers are registered."""

    name = "kapsoweb.jobs"
    label = "kapso_jobs"
    verbose_name = "Jobs"

    def ready(self) -> None:
        autodiscover_modules("jobs")
