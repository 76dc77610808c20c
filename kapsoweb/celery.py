"""The one Celery application. It carries job ids and nothing else: the queue is the job table."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kapsoweb.settings.local")

app = Celery("kapsoweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
