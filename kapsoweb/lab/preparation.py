"""What has to be true before web and worker start. Imported once Django is set up."""

from collections.abc import Callable

from django.core.management import call_command
from django.db import OperationalError

from cyclotron.demonstration.loading import load_demonstration
from kapsoweb.lab.errors import HomeUnusable


def prepare(say: Callable[[str], None]) -> None:
    """Bring the database up to date and load the demonstration; where nothing is left to do, do nothing.

    Both go on where an earlier start was interrupted. Raises `HomeUnusable` when the database does not answer.
    """
    try:
        call_command("migrate", interactive=False, verbosity=0)
        load_demonstration(say)
    except OperationalError as error:
        raise HomeUnusable(
            f"The database does not do what it is asked: {str(error).strip()}. Check DATABASE_URL, or the disk "
            "that KAPSOWEB_HOME is on, and start again; nothing is lost."
        ) from error
