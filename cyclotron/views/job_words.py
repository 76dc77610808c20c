"""The room's jobs in words, for the pages that show the jobs of all rooms."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.urls import reverse

from cyclotron.actions.evaluating.starting import JOB_KIND as EVALUATE
from cyclotron.actions.file_imports import JOB_KIND as IMPORT
from cyclotron.actions.learning_jobs import JOB_KIND as LEARN
from cyclotron.core.interruption import Interruption
from cyclotron.core.wording import grouped
from cyclotron.store import ROOM, Store
from kapsoweb.jobs.models import Job, JobState
from kapsoweb.jobs.queries import newest_job
from kapsoweb.pages.job_words import Fact, JobWords, describe_job

_OUTCOMES: Mapping[str, str] = {
    "promoted": "version {version} is new and active",
    "refitted": "version {version} has a new ML model, refit {refit}",
    "kept": "version {version} stays as it was",
}


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
    describe_job(LEARN, JobWords(name="Learning", room=ROOM, address=_panel, outcome=_learned))


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


def _learned(job: Job, result: Mapping[str, Any]) -> Sequence[Fact]:  # noqa: ARG001 - as every other
    steps = result["steps"]
    if not steps:
        return [Fact("Learned", "nothing new was due")]
    return [
        Fact(
            f"Step {grouped(step['step'])}",
            _OUTCOMES[step["outcome"]].format(version=grouped(step["version"]), refit=grouped(step["refit"])),
        )
        for step in steps
    ]


def when_due(store: Store) -> str:
    """What becomes of learning that is due: the job that does it, or why there is none."""
    if not settings.KAPSOWEB_ALLOW_LIVE:
        return "due; calls to a model are switched off"
    newest = newest_job(LEARN, record_id=store.cyclotron_id)
    if newest is not None and not newest.is_finished:
        return "under way"
    if newest is not None and newest.state == JobState.FAILED:
        return "due; the last job that learned failed"
    return "due with the next review"
