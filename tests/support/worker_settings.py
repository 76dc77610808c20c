"""The local lab's settings for worker processes under test, with the sample jobs installed."""

from kapsoweb.settings.local import *  # noqa: F403 - Django reads one module
from kapsoweb.settings.local import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.support.sample_jobs"]
