"""The room's jobs in words, for the pages that show the jobs of all rooms."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse

from cyclotron.actions.evaluating.starting import JOB_KIND as EVALUATE
from cyclotron.actions.file_imports import JOB_KIND as IMPORT
from cyclotron.core.interruption import Interruption
from cyclotron.core.wording import grouped
from cyclotron.store import ROOM
from kapsoweb.jobs.models import Job
from kapsoweb.pages.job_words import Fact, JobWords, describe_job


def register() -> None:
    """Tell the pages how the room's jobs are named and where they lead."""
    describe_job(
        EVALUATE,
        JobWords(
            name="Evaluation",
            room=ROOM,
            address=_panel,
            outcome=_evaluated,
            again="An evaluation is not started again: its requests were confirmed once. What it got is kept.",
            instead="Confirm what is left in its panel",
        ),
    )
    describe_job(IMPORT, JobWords(name="Import", room=ROOM, address=_file, outcome=_imported, joined="into"))


def _panel(job: Job) -> str:
    return reverse("cyclotron:detail", args=[job.record_id])


def _file(job: Job) -> str:
    return reverse("cyclotron:import", args=[job.record_id, job.payload["import"]])


def _imported(job: Job, result: Mapping[str, Any]) -> Sequence[Fact]:  # noqa: ARG001 - as every other
    counts = (("Recorded", "recorded"), ("Known before", "known"), ("Bad rows", "bad"))
    return [Fact(name, grouped(result[key])) for name, key in counts]


def _evaluated(job: Job, result: Mapping[str, Any]) -> Sequence[Fact]:
    if result["report"]:
        return [Fact("Report", "written", reverse("cyclotron:report", args=[job.record_id, result["report"]]))]
    return [Fact("Report", f"not written. {Interruption(result['reason']).sentence}")]
