"""The web application, for an ASGI server: `uvicorn kapsoweb.asgi:application`."""

import os

from django.core.asgi import get_asgi_application

from kapsoweb.doors.body_guard import BodyGuard

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kapsoweb.settings.local")

django_application = get_asgi_application()  # sets Django up, which the pages' module needs

from kapsoweb.pages.errors import too_large_page  # noqa: E402

application = BodyGuard(django_application, page=too_large_page)
