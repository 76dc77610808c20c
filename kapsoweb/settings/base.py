"""What every kind of lab shares. Values that differ come from the environment; nothing secret has a default here."""

import math
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from kapsoweb.logs import logging_configuration
from kapsoweb.settings import api

env = environ.Env()


def _number(name: str, default: float) -> float:
    """A positive number from the environment."""
    text: str = env.str(name, default=str(default))
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ImproperlyConfigured(f"{name} must be a number above 0, not {text[:80]!r}")
    return value


BASE_DIR = Path(__file__).resolve().parent.parent.parent

# The lab ------------------------------------------------------------------------------------------------------------

KAPSOWEB_HOME = Path(env.str("KAPSOWEB_HOME", default="") or "~/.kapso/lab").expanduser().absolute()
KAPSOWEB_ALLOW_LIVE: bool = env.bool("KAPSOWEB_ALLOW_LIVE", default=False)
KAPSOWEB_DECISION_MODEL: str = env.str("KAPSOWEB_DECISION_MODEL", default="local")  # "local" or "openai"
KAPSOWEB_MODEL_NAME: str = env.str("KAPSOWEB_MODEL_NAME", default="")
KAPSOWEB_MODEL_URL: str = env.str("KAPSOWEB_MODEL_URL", default="")
KAPSOWEB_MODEL_KEY: str = env.str("KAPSOWEB_MODEL_KEY", default="")

KAPSOWEB_JOB_LEASE_SECONDS: float = _number("KAPSOWEB_JOB_LEASE_SECONDS", 30.0)
KAPSOWEB_JOB_HEARTBEAT_SECONDS: float = _number("KAPSOWEB_JOB_HEARTBEAT_SECONDS", 5.0)
KAPSOWEB_JOB_MAX_ATTEMPTS: int = int(_number("KAPSOWEB_JOB_MAX_ATTEMPTS", 40))
KAPSOWEB_SWEEP_SECONDS: float = _number("KAPSOWEB_SWEEP_SECONDS", 10.0)
KAPSOWEB_WORKER_SEEN_SECONDS: float = _number("KAPSOWEB_WORKER_SEEN_SECONDS", 15.0)
KAPSOWEB_CELERY_APP = "kapsoweb.celery.app"

# Django -------------------------------------------------------------------------------------------------------------

DEBUG = False
INSTALLED_APPS = [
    "kapsoweb.admin_app.LabAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "drf_spectacular",
    "kapsoweb.accounts.apps.AccountsConfig",
    "kapsoweb.jobs.apps.JobsConfig",
    "kapsoweb.doors.apps.DoorsConfig",
    "cyclotron.apps.CyclotronConfig",
]
MIDDLEWARE = [
    "kapsoweb.logs.request_id_middleware",
    "django.middleware.security.SecurityMiddleware",
    "kapsoweb.static_files.StaticFilesMiddleware",
    "kapsoweb.headers.browser_limits_middleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",  # a view that strangers may see says so itself
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "kapsoweb.pages.middleware.RefusalMiddleware",
]
ROOT_URLCONF = "kapsoweb.urls"
ASGI_APPLICATION = "kapsoweb.asgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "kapsoweb.pages.context.frame",
            ],
        },
    },
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
LOGIN_URL = "/sign-in/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_REDIRECT_URL = "/"

REST_FRAMEWORK = api.REST_FRAMEWORK
SPECTACULAR_SETTINGS = api.SPECTACULAR_SETTINGS

# Databases: one default; further aliases are stores -----------------------------------------------------------------

# SQLite's queue of writers is not fair: who waits looks again ten times a second, and of ten that write without a pause
# one may find the database taken for half a minute.
SQLITE_BUSY_SECONDS = 120
# Immediate transactions: a deferred one that reads and then writes fails at once when another writer came in between.
SQLITE_OPTIONS: dict[str, Any] = {
    "timeout": SQLITE_BUSY_SECONDS,
    "transaction_mode": "IMMEDIATE",
    "init_command": (
        f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout={SQLITE_BUSY_SECONDS * 1000};"
    ),
}
POSTGRESQL_OPTIONS: dict[str, Any] = {"pool": {"min_size": 0, "max_size": 20, "timeout": 20}}


DATABASE_SCHEMES = ("postgres", "postgresql", "sqlite")


def database(home: Path) -> dict[str, Any]:
    """The default database: `DATABASE_URL`, or else SQLite in the lab's home, with the options each engine needs."""
    address: str = env.str("DATABASE_URL", default="") or f"sqlite:///{home / 'lab.sqlite3'}"
    if urlsplit(address).scheme not in DATABASE_SCHEMES:
        raise ImproperlyConfigured(f"DATABASE_URL must begin with one of {', '.join(DATABASE_SCHEMES)} and ://")
    settings: dict[str, Any] = dict(env.db_url_config(address))
    is_postgresql = settings["ENGINE"] == "django.db.backends.postgresql"
    settings["OPTIONS"] = {**settings.get("OPTIONS", {}), **(POSTGRESQL_OPTIONS if is_postgresql else SQLITE_OPTIONS)}
    settings["CONN_MAX_AGE"] = 0  # a pool forbids any other
    return settings


DATABASES = {"default": database(KAPSOWEB_HOME)}

# Celery: a doorbell, never the queue --------------------------------------------------------------------------------


def broker(home: Path) -> tuple[str, dict[str, Any]]:
    """The transport's address and options: `REDIS_URL`, or else folders in the lab's home."""
    redis_url: str = env.str("REDIS_URL", default="")
    # No retries when a bell is sent: a transport that is down must not hold up the caller; the sweep rings later.
    sending = {"max_retries": 0, "interval_start": 0, "interval_step": 0, "interval_max": 0}
    if redis_url:
        return redis_url, {
            **sending,
            "visibility_timeout": 60,  # a bell heard twice is harmless: the second claim fails
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 5,
            "socket_connect_timeout": 2,
            "socket_timeout": 10,
        }
    folder = home / "broker"
    return "folders://localhost", {  # kombu warns about an address without a host
        **sending,
        "data_folder_in": str(folder / "messages"),
        "data_folder_out": str(folder / "messages"),
        "control_folder": str(folder / "control"),
        "polling_interval": 0.2,
    }


CELERY_BROKER_URL, CELERY_BROKER_TRANSPORT_OPTIONS = broker(KAPSOWEB_HOME)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its transport for as long as it takes
CELERY_TASK_DEFAULT_QUEUE = "kapsoweb"
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_TIMEZONE = "UTC"

# What a browser may do ----------------------------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    },
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_NAME = "kapsoweb_session"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "kapsoweb_csrf"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "kapsoweb.pages.errors.csrf_failure"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_ALLOW_ALL_ORIGINS = False

LOGGING = logging_configuration(
    env.str("KAPSOWEB_LOG_LEVEL", default="INFO"), env.str("KAPSOWEB_LOG_FORMAT", default="json")
)
