"""Django's admin on the lab's own site."""

from django.contrib.admin.apps import AdminConfig


class LabAdminConfig(AdminConfig):
    """Has the tables registered with `LabAdminSite`, which knows who may see which rows."""

    default_site = "kapsoweb.admin_site.LabAdminSite"
