"""Setting Django up for a command on this machine, with errors that say what is wrong and what to do."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from logging.config import dictConfig
from pathlib import Path

import django
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from kapsoweb.foundation.errors import KapsoError
from kapsoweb.logs import logging_configuration
from kapsoweb.settings.home import prepare_home


class NotConfiguredError(KapsoError):
    """The settings do not hold what the lab needs, or its home cannot be used."""

    id = "not-configured"


def set_up_django(*, plain_logs: bool) -> None:
    """Set Django up, by default with the local lab's settings. Raises `NotConfiguredError`.

    `plain_logs`: a person reads standard error, so only warnings and errors are logged, in plain form, unless
    `KAPSOWEB_LOG_LEVEL` or `KAPSOWEB_LOG_FORMAT` asks for something else. Where Django is set up already, its host
    has seen to the logs.
    """
    if apps.ready:
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kapsoweb.settings.local")
    with _home_in_words():
        try:
            django.setup()
        except (ImproperlyConfigured, ValueError, KeyError) as error:
            raise NotConfiguredError(
                f"the settings do not hold what the lab needs: {error}. Settings come from the environment."
            ) from error
        except ModuleNotFoundError as error:
            if error.name is None or not os.environ["DJANGO_SETTINGS_MODULE"].startswith(error.name):
                raise  # a part of the lab is missing, which is no matter of settings
            raise NotConfiguredError(f"DJANGO_SETTINGS_MODULE names no module: there is no {error.name}.") from error
    if plain_logs:
        level = os.environ.get("KAPSOWEB_LOG_LEVEL", "WARNING")
        dictConfig(logging_configuration(level, os.environ.get("KAPSOWEB_LOG_FORMAT", "plain")))


def ready_home() -> Path:
    """The lab's home, made where it is missing. Raises `NotConfiguredError`."""
    with _home_in_words():
        return prepare_home(settings.KAPSOWEB_HOME)


@contextmanager
def _home_in_words() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotConfiguredError(
            f"The lab's home cannot be used ({error.strerror}: {error.filename}); set KAPSOWEB_HOME to a folder that "
            "this account may write."
        ) from error
