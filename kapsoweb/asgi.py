"""The web application, for an ASGI server: `uvicorn kapsoweb.asgi:application`."""

import os

from django.core.asgi import get_asgi_application

from kapsoweb.doors.body_guard import BodyGuard

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kapsoweb.settings.local")

application = BodyGuard(get_asgi_application())
