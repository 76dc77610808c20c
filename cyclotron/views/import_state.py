"""The page of one import, in each of its states."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.http import urlencode

from cyclotron import queries
from cyclotron.adapters.configured import ModelNotConfiguredError, decision_model
from cyclotron.core.live_calls import WHY_OFF
from cyclotron.endpoints import definition_of
from cyclotron.presentation import import_page
from cyclotron.presentation.figures import elapsed
from cyclotron.views.frame import IMPORT, frame_of
from cyclotron.views.import_choices import ImportChoices, choices_of
from cyclotron.workspace import HeldCyclotron, Workspace
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.errors import RecordNotFound
from kapsoweb.accounts.roles import Role
from kapsoweb.doors import account_jobs
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.foundation.wording import sentence_case
from kapsoweb.jobs.models import Job
from kapsoweb.jobs.queries import live_workers
from kapsoweb.pages.callers import caller_of
from kapsoweb.pages.permissions import why_not

RATES = "rates"  # the id of the part of the form that is folded away unless somebody is at it
BAD_ROWS_SHOWN = 20  # on one page
UNDER_WAY = frozenset({"queued", "running"})
STOPPED = frozenset({"failed", "cancelled"})


@dataclass(frozen=True)
class Looked:
    """An import as a request reached it."""

    request: HttpRequest
    workspace: Workspace
    held: HeldCyclotron
    found: queries.FileImportSummary

    @classmethod
    def at(cls, request: HttpRequest, cyclotron_id: str, import_id: str) -> "Looked":
        """Reach it; raises as `Workspace.open` and `file_import` do."""
        workspace = Workspace(caller_of(request))
        held = workspace.open(cyclotron_id)
        return cls(request, workspace, held, queries.file_import(held.store, import_id))

    def job(self) -> Job | None:
        """Its job; None once that is forgotten."""
        try:
            return account_jobs.job(self.workspace.caller, self.found.job_id)
        except RecordNotFound:
            return None


def import_response(looked: Looked, given: QueryDict, refusal: KapsoError | None = None) -> HttpResponse:
    """The page, or for htmx its changing part; `given` has the choices, and `refusal` what was just refused."""
    state = looked.found.state
    part = looked.request.htmx  # type: ignore[attr-defined]  # django-htmx puts it there
    context: dict[str, Any] = {
        "cyclotron_id": looked.held.id,
        "found": looked.found,
        "row": import_page.import_row(looked.found),
        "facts": import_page.chosen_facts(looked.found),
        "state": "under-way" if state in UNDER_WAY else "stopped" if state in STOPPED else state,
        "refusal": refusal,
        "refused": sentence_case(refusal.message) if refusal else "",
        "announce": state == "received" or given.get("announced") is not None,
    }
    if state == "received":
        context |= _preview(looked, given)
    elif state in UNDER_WAY:
        context |= _running(looked, given)
    elif state in STOPPED:
        context |= _stopped(looked)
    elif state == "done":
        context |= _done(looked)
    if part:
        return render(looked.request, "cyclotron/import_part.html", context)
    several = len(queries.classifier_names(looked.held.store)) > 1
    context |= frame_of(looked.held, IMPORT, within=True, classifier=looked.found.classifier if several else None)
    context |= {"size": import_page.size_text(looked.found.size), "is_only_classifier": not several}
    status = 200 if refusal is None else STATUS_OF_KIND[refusal.kind]
    return render(looked.request, "cyclotron/import.html", context, status=status)


def _preview(looked: Looked, given: QueryDict) -> dict[str, Any]:
    file = queries.open_file(looked.held.store, looked.found.id)
    columns, labels = file.columns(), _labels(looked)
    choices = choices_of(given, file, columns, labels)
    context: dict[str, Any] = {
        "choices": choices,
        "columns": import_page.column_choices(
            columns,
            id_column=choices.id_column,
            text_columns=choices.text_columns,
            label_column=choices.label_column,
        ),
        "labels": labels,
        "meanings": import_page.meanings_of(choices.values, choices.meanings),
        "rates": [choices.rates[name] for name in choices.rates.fields],
        "more_is_open": choices.rates_are_open or looked.request.htmx.trigger == RATES,  # type: ignore[attr-defined]
        "rates_id": RATES,
        "discard_off": why_not(looked.workspace.caller, Role.OPERATOR, "throwing it away"),
    }
    if choices.columns is None:
        return context
    preview = file.preview(choices.columns)
    view = import_page.preview_view(preview, labels, with_labels=bool(choices.label_column))
    bad = Paginator(preview.bad, BAD_ROWS_SHOWN).get_page(given.get("page"))
    return context | {
        "preview": view,
        "preview_rows": preview.rows,
        "other_values": preview.other_values,
        "bad": bad,
        "bad_rows": [import_page.bad_row(row.line, row.column, row.rule, row.sentence) for row in bad.object_list],
        "again": f"?{urlencode(choices.fields())}",
        "start_off": _why_no_calls(looked.workspace.caller, "importing")
        or ("" if view.new else "There is no new row to bring in."),
    }


def _why_no_calls(caller: Caller, doing: str) -> str:
    """Why nothing that calls a model can begin now, or nothing."""
    off = why_not(caller, Role.OPERATOR, doing)
    if off:
        return off
    if not settings.KAPSOWEB_ALLOW_LIVE:
        return WHY_OFF
    try:
        decision_model()
    except ModelNotConfiguredError as error:
        return sentence_case(error.message)
    return ""


def _running(looked: Looked, given: QueryDict) -> dict[str, Any]:
    job, now = looked.job(), clock.now()
    progress = import_page.import_progress(
        done=job.progress_done if job else 0,
        total=(job.progress_total if job else 0) or looked.found.row_count,
        started_at=job.started_at if job else None,
        stopping=job is not None and job.cancel_requested_at is not None,
        now=now,
        worker_alive=bool(live_workers(now)),
    )
    return {
        "progress": progress,
        "announce": given.get("announced") not in {None, str(progress.quarter)},
        "cancel_off": why_not(looked.workspace.caller, Role.OPERATOR, "cancelling"),
    }


def _stopped(looked: Looked) -> dict[str, Any]:
    job, columns = looked.job(), looked.found.columns
    context: dict[str, Any] = {
        "job": job,
        "go_on_off": _why_no_calls(looked.workspace.caller, "going on"),
    }
    if columns is not None:
        preview = queries.import_preview(looked.held.store, looked.found.id, columns)
        context["left"] = import_page.what_is_left(preview, looked.found.recorded)
    return context


def _done(looked: Looked) -> dict[str, Any]:
    store, found, job = looked.held.store, looked.found, looked.job()
    since = (job.started_at if job else None) or found.created_at
    learned = queries.learned_between(store, found.classifier, since=since, until=found.ended_at or clock.now())
    return {
        "learned": import_page.learned_sentence(learned),
        "bad_rows": [
            import_page.bad_row(row["line"], row["column"], row["rule"], row["message"])
            for row in found.bad_rows[:BAD_ROWS_SHOWN]
        ],
        "took": elapsed(since, found.ended_at or clock.now()),
        "waiting": queries.queue_state(store, found.classifier, now=clock.now()).waiting,
    }


def choices_for(looked: Looked, file: queries.OpenedFile, given: QueryDict) -> ImportChoices:
    """What an address or form chose for the file."""
    return choices_of(given, file, file.columns(), _labels(looked))


def _labels(looked: Looked) -> tuple[str, ...]:
    return definition_of(looked.held.store.classifier(looked.found.classifier)).labels
