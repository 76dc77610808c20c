"""A hosted lab. What it cannot do without comes from the environment and is missed with a clear error."""

from django.core.exceptions import ImproperlyConfigured

from kapsoweb.settings.base import *  # noqa: F403 - Django reads one module
from kapsoweb.settings.base import BASE_DIR, env


def required(name: str, meaning: str) -> str:
    """The environment's `name`, which may be neither absent nor empty."""
    value: str = env.str(name, default="")
    if not value.strip():
        raise ImproperlyConfigured(f"{name} is not set. Set it to {meaning}.")
    return value


SECRET_KEY = required("SECRET_KEY", "a secret text of at least 50 random characters, the same for all processes")
if len(SECRET_KEY) < 50:
    raise ImproperlyConfigured("SECRET_KEY is too short. Set it to a secret text of at least 50 random characters.")
ALLOWED_HOSTS = [
    host.strip() for host in required("ALLOWED_HOSTS", "the host names served, with commas").split(",") if host.strip()
]
if "*" in ALLOWED_HOSTS:
    raise ImproperlyConfigured("ALLOWED_HOSTS holds '*', which admits any host. Name the hosts that are served.")

CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", default=True)
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]  # probes come from inside, without TLS
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=365 * 24 * 3600)
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("SECURE_HSTS_INCLUDE_SUBDOMAINS", default=False)
# A stranger can send this header too, so it counts only where a proxy is known to set or strip it.
if env.bool("KAPSOWEB_BEHIND_TLS_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

STATIC_ROOT = BASE_DIR / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
