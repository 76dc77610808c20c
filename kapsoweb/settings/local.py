"""The lab on one machine: its state in `KAPSOWEB_HOME`, its secret made there once, model calls allowed.

Debugging is off: a lab is used by people. WhiteNoise serves the static files from where they lie, with no build step.
"""

from kapsoweb.settings.base import *  # noqa: F403 - Django reads one module
from kapsoweb.settings.base import KAPSOWEB_HOME, env
from kapsoweb.settings.home import prepare_home, read_or_create_secret

SECRET_KEY = read_or_create_secret(prepare_home(KAPSOWEB_HOME) / "secret-key")
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
KAPSOWEB_ALLOW_LIVE = env.bool("KAPSOWEB_ALLOW_LIVE", default=True)
WHITENOISE_USE_FINDERS = True
