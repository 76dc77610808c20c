"""Setting Django up for a command, and bringing the local lab's own database up to date."""

import os
import sqlite3

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from kapsoweb.cli.output import say
from kapsoweb.foundation.errors import KapsoError, Kind


class DatabaseNotReadyError(KapsoError):
    """The database cannot be reached or is behind the code."""

    id = "database-not-ready"
    kind = Kind.FAILED


class NotConfiguredError(KapsoError):
    """The settings do not hold what the lab needs."""

    id = "not-configured"


def set_up() -> None:
    """Set Django up and make sure that the tables are those of this version.

    The local lab's SQLite file is migrated here, since it belongs to whoever runs the command; any other database is
    migrated by its operator.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kapsoweb.settings.local")
    try:
        django.setup()
    except ImproperlyConfigured as error:
        raise NotConfiguredError(str(error)) from error
    except OSError as error:
        raise NotConfiguredError(
            f"The lab's home cannot be used ({error.strerror}: {error.filename}); set KAPSOWEB_HOME to a folder that "
            "this account may write."
        ) from error
    try:
        executor = MigrationExecutor(connection)
        behind = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if behind and connection.vendor == "sqlite":
            settings.KAPSOWEB_HOME.mkdir(mode=0o700, parents=True, exist_ok=True)
            say(f"Bringing the lab's database in {settings.KAPSOWEB_HOME} up to date.")
            call_command("migrate", interactive=False, verbosity=0)
        elif behind:
            raise DatabaseNotReadyError("The database is behind this version; run `python manage.py migrate`.")
    except (DatabaseError, sqlite3.Error) as error:
        raise DatabaseNotReadyError(f"The database does not do what it is asked: {str(error).strip()}") from error
