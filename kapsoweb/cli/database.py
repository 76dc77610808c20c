"""The database that a command needs: reached, and up to date."""

import sqlite3

from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from kapsoweb.cli.output import say
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.starting import ready_home, set_up_django


class DatabaseNotReadyError(KapsoError):
    """The database cannot be reached, is behind the code, or does not do what it is asked."""

    id = "database-not-ready"
    kind = Kind.FAILED

    @classmethod
    def of(cls, error: Exception) -> "DatabaseNotReadyError":
        """What a database said, in words; what was committed before stays."""
        return cls(
            f"The database does not do what it is asked: {str(error).strip()}. What was recorded before is kept."
        )


def set_up(*, plain_logs: bool) -> None:
    """Set Django up (see `set_up_django`) and make sure that the tables are those of this version.

    The local lab's SQLite file is migrated here, since it belongs to whoever runs the command; any other database is
    migrated by its operator.
    """
    set_up_django(plain_logs=plain_logs)
    try:
        executor = MigrationExecutor(connection)
        behind = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if behind and connection.vendor == "sqlite":
            say(f"Bringing the lab's database in {ready_home()} up to date.")
            call_command("migrate", interactive=False, verbosity=0)
        elif behind:
            raise DatabaseNotReadyError("The database is behind this version; run `python manage.py migrate`.")
    except (DatabaseError, sqlite3.Error) as error:
        raise DatabaseNotReadyError.of(error) from error
