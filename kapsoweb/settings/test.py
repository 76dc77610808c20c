"""The suite's own settings: a home that is gone afterwards, a database file that threads can share, fast hashing."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from kapsoweb.settings.base import *  # noqa: F403 - Django reads one module
from kapsoweb.settings.base import broker, database

KAPSOWEB_HOME = Path(tempfile.mkdtemp(prefix="kapsoweb-test-"))
atexit.register(shutil.rmtree, KAPSOWEB_HOME, ignore_errors=True)

SECRET_KEY = "only-for-tests-" + "x" * 50
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
KAPSOWEB_ALLOW_LIVE = True
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_USE_FINDERS = True

DATABASES = {"default": database(KAPSOWEB_HOME)}
# A file where it is SQLite, because tests use threads. On a server it is a database of its own: Django puts test_ in
# front of the name in DATABASE_URL, and a URL that names the server's own database gets one for this process.
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {"NAME": str(KAPSOWEB_HOME / "test.sqlite3")}
elif DATABASES["default"]["NAME"] == "postgres":
    DATABASES["default"]["TEST"] = {"NAME": f"test_kapsoweb_{os.getpid()}"}
CELERY_BROKER_URL, CELERY_BROKER_TRANSPORT_OPTIONS = broker(KAPSOWEB_HOME)
KAPSOWEB_DECISION_MODEL = "local"
KAPSOWEB_MODEL_KEY = ""
