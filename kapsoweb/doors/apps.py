"""The doors as a Django app: they keep which requests were carried out, so that one sent twice has one effect."""

from django.apps import AppConfig


class DoorsConfig(AppConfig):
    """Tables are prefixed `kapso_doors_`."""

    name = "kapsoweb.doors"
    label = "kapso_doors"
    verbose_name = "Doors"
