"""The web application, for an ASGI server: `uvicorn kapsoweb.asgi:application`."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kapsoweb.settings.local")

application = get_asgi_application()
