"""Files that people bring in: kept until their rows are items, then emptied."""

from django.db import models
from django.db.models import Q

from cyclotron.models.engine import DIGEST, IDENTITY, Classifier, StoredCyclotron


class FileImport(models.Model):
    """A CSV file and what became of it. Its state is `received` until a job is queued, and then the job's.

    `content` is emptied when the import has ended for good. `bad_rows` lists the first that were refused, with line,
    column, rule and sentence, and never a cell.
    """

    id = models.CharField(primary_key=True, max_length=40)
    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="file_imports")
    classifier = models.ForeignKey(Classifier, on_delete=models.PROTECT, related_name="+")
    filename = models.CharField(max_length=255)
    content = models.BinaryField()
    content_digest = models.CharField(max_length=DIGEST)
    size = models.PositiveBigIntegerField()
    header = models.JSONField()
    row_count = models.PositiveIntegerField()
    columns = models.JSONField(null=True)
    job_id = models.CharField(max_length=40, blank=True, default="")
    created_by = models.CharField(max_length=IDENTITY)
    created_at = models.DateTimeField()
    recorded = models.PositiveIntegerField(default=0)
    known = models.PositiveIntegerField(default=0)
    bad = models.PositiveIntegerField(default=0)
    bad_rows = models.JSONField(default=list)
    ended_at = models.DateTimeField(null=True)
    discarded_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(filename=""), name="import_has_a_file_name"),
            models.CheckConstraint(
                condition=Q(job_id="") | Q(columns__isnull=False), name="import_started_with_columns"
            ),
            models.CheckConstraint(condition=Q(job_id="") | Q(discarded_at=None), name="import_started_or_discarded"),
        ]
        indexes = [models.Index(fields=["cyclotron", "-id"], name="import_newest")]

    def __str__(self) -> str:
        return self.filename


class ImportTally(models.Model):
    """How many rows of an import were new, counted by each in the transaction that recorded it.

    Apart from the import, whose row holds the file: SQLite would write that again for each row that is counted.
    """

    file_import = models.OneToOneField(FileImport, primary_key=True, on_delete=models.PROTECT, related_name="tally")
    recorded = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.file_import_id}: {self.recorded}"
