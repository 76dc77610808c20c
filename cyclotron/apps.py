"""Registers the room with Django."""

from django.apps import AppConfig


class CyclotronConfig(AppConfig):
    """The cyclotron room; label and tables are prefixed because hosts may have an app of the same name."""

    name = "cyclotron"
    label = "kapso_cyclotron"
    verbose_name = "Cyclotron"
    default_auto_field = "django.db.models.BigAutoField"
