from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kapso_doors", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="keyedrequest",
            name="needs",
            field=models.CharField(blank=True, default="", max_length=16),
        ),
    ]
