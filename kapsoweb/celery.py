"""The one Celery application. It carries job ids and nothing else: the queue is the job table."""

import os
from pathlib import Path

from celery import Celery

from kapsoweb.jobs import folders

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kapsoweb.settings.local")

folders.register()
app = Celery("kapsoweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# The transport makes none of its folders; others have none.
for _option in ("data_folder_in", "data_folder_out", "control_folder"):
    if _option in app.conf.broker_transport_options:
        Path(app.conf.broker_transport_options[_option]).mkdir(mode=0o700, parents=True, exist_ok=True)
