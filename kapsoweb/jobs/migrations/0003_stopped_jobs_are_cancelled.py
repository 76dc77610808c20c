from django.db import migrations
from django.db.models import F, Q


def call_them_cancelled(apps, schema_editor):
    """Jobs that were told to stop while they ran ended as done, with their work left where its progress stands."""
    jobs = apps.get_model("kapso_jobs", "Job")._base_manager.using(schema_editor.connection.alias)
    left = Q(progress_done__lt=F("progress_total")) | Q(progress_total=0)
    jobs.filter(left, state="done", cancel_requested_at__isnull=False).update(state="cancelled")


class Migration(migrations.Migration):
    dependencies = [
        ("kapso_jobs", "0002_record_of_a_job"),
    ]

    operations = [
        migrations.RunPython(call_them_cancelled, migrations.RunPython.noop),
    ]
