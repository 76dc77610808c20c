"""An import counts its new rows as they are recorded."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("kapso_cyclotron", "0006_assignment")]

    operations = [
        migrations.CreateModel(
            name="ImportTally",
            fields=[
                (
                    "file_import",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="tally",
                        serialize=False,
                        to="kapso_cyclotron.fileimport",
                    ),
                ),
                ("recorded", models.PositiveIntegerField(default=0)),
            ],
        ),
    ]
