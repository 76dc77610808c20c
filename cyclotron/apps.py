"""Registers the room with Django."""

from django.apps import AppConfig


class CyclotronConfig(AppConfig):
    """The cyclotron room; label and tables are prefixed because hosts may have an app of the same name."""

    name = "cyclotron"
    label = "kapso_cyclotron"
    verbose_name = "Cyclotron"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Give the room's jobs their words on pages."""
        from cyclotron.views import job_words  # noqa: PLC0415 - models are there only now

        job_words.register()
