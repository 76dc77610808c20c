"""What a reviewer holds has the name that every door gives it: an assignment."""

from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    dependencies = [("kapso_cyclotron", "0005_evaluation_requests")]

    operations = [
        migrations.RenameModel(old_name="HeldItem", new_name="Assignment"),
        migrations.RemoveConstraint(model_name="assignment", name="held_item_expires_later"),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=Q(("expires_at__gt", F("held_since"))), name="assignment_expires_later"
            ),
        ),
    ]
