"""Bringing a file in: upload it, look at what would come of it, start, watch, stop, go on."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cyclotron import queries
from cyclotron.core.imports import MAX_FILE_BYTES, ImportColumns, InvalidImportError
from cyclotron.presentation import import_page
from cyclotron.views.frame import IMPORT, frame_of
from cyclotron.views.import_state import Looked, choices_for, import_response
from cyclotron.views.parameters import classifier_name, get_or_post
from cyclotron.workspace import HeldCyclotron, Workspace
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.roles import Role
from kapsoweb.doors import account_jobs
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.foundation.wording import sentence_case
from kapsoweb.pages.callers import caller_of
from kapsoweb.pages.permissions import why_not

_VIEWER = access(needs=Role.VIEWER, record="cyclotron_id")


@_VIEWER
@get_or_post
@never_cache
def imports(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """The form that takes a file, and the imports so far."""
    workspace = Workspace(caller_of(request))
    held = workspace.open(cyclotron_id)
    if request.method != "POST":
        return _list(request, workspace.caller, held)
    try:
        workspace.open(cyclotron_id, needs=Role.OPERATOR)  # said before anything about the file is
        found = workspace.upload(
            cyclotron_id,
            filename=_file(request).name or "",
            data=_data(_file(request)),
            classifier=classifier_name(request.POST.get("classifier")),
        )
    except KapsoError as error:
        if error.kind is Kind.MISSING:
            raise
        return _list(request, workspace.caller, held, error)
    return redirect("cyclotron:import", cyclotron_id, found.id)


@_VIEWER
@require_safe
@never_cache
def import_(request: HttpRequest, cyclotron_id: str, import_id: str) -> HttpResponse:
    """One import, in whichever state it is. Before it begins the address holds what was chosen for it."""
    return import_response(Looked.at(request, cyclotron_id, import_id), request.GET)


@_VIEWER
@get_or_post
def start(request: HttpRequest, cyclotron_id: str, import_id: str) -> HttpResponse:
    """Begin with exactly what was previewed; the same twice is one job."""
    looked = Looked.at(request, cyclotron_id, import_id)
    if request.method == "POST":
        try:
            looked.workspace.start_import(cyclotron_id, import_id, columns=_confirmed(looked, request.POST))
        except KapsoError as error:
            return _refused(looked, error)
    return redirect("cyclotron:import", cyclotron_id, import_id)


@_VIEWER
@get_or_post
def discard(request: HttpRequest, cyclotron_id: str, import_id: str) -> HttpResponse:
    """Throw a file away of which nothing was brought in."""
    looked = Looked.at(request, cyclotron_id, import_id)
    if request.method == "POST":
        try:
            looked.workspace.discard_import(cyclotron_id, import_id)
        except KapsoError as error:
            return _refused(looked, error)
    return redirect("cyclotron:imports", cyclotron_id)


@_VIEWER
@get_or_post
def cancel(request: HttpRequest, cyclotron_id: str, import_id: str) -> HttpResponse:
    """Ask an import to stop; what it has recorded is kept."""
    looked = Looked.at(request, cyclotron_id, import_id)
    if request.method == "POST":
        try:
            account_jobs.cancel_job(looked.workspace.caller, looked.found.job_id, clock.now())
        except KapsoError as error:
            return _refused(looked, error)
    return redirect("cyclotron:import", cyclotron_id, import_id)


@_VIEWER
@get_or_post
def go_on(request: HttpRequest, cyclotron_id: str, import_id: str) -> HttpResponse:
    """Start an import again that stopped; it goes on where it stood."""
    looked = Looked.at(request, cyclotron_id, import_id)
    if request.method == "POST":
        try:
            account_jobs.retry_job(looked.workspace.caller, looked.found.job_id, clock.now())
        except KapsoError as error:
            return _refused(looked, error)
    return redirect("cyclotron:import", cyclotron_id, import_id)


@_VIEWER
@require_safe
@never_cache
def bad_rows(request: HttpRequest, cyclotron_id: str, import_id: str) -> HttpResponse:
    """The rows that were refused, as a file: line, column, rule and message, and nothing of what they hold."""
    found = Looked.at(request, cyclotron_id, import_id).found
    text = import_page.bad_rows_csv(found.bad_rows)
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    name = f"{found.filename.removesuffix('.csv')}-bad-rows.csv"
    response.headers["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response


def _file(request: HttpRequest) -> "UploadedFile[Any]":
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile):
        raise InvalidImportError("choose a file.", field="file")
    return file


def _data(file: "UploadedFile[Any]") -> bytes:
    if (file.size or 0) > MAX_FILE_BYTES:  # said before all of it is read
        size = import_page.size_text(file.size or 0)
        raise InvalidImportError(
            f"the file has {size}, and {MAX_FILE_BYTES // 2**20} MiB are allowed; split it.", field="file"
        )
    data: bytes = file.read()
    return data


def _list(request: HttpRequest, caller: Caller, held: HeldCyclotron, refusal: KapsoError | None = None) -> HttpResponse:
    classifier = classifier_name(request.GET.get("classifier") or request.POST.get("classifier"))
    context = {
        **frame_of(held, IMPORT, classifier=classifier),
        "classifier": classifier,
        "rows": [import_page.import_row(found) for found in queries.file_imports(held.store)],
        "classifiers": queries.classifier_names(held.store),
        "limits": import_page.LIMITS,
        "most_bytes": MAX_FILE_BYTES,
        "off": why_not(caller, Role.OPERATOR, "importing"),
        "refusal": refusal,
        "refused": sentence_case(refusal.message) if refusal else "",
    }
    status = 200 if refusal is None else STATUS_OF_KIND[refusal.kind]
    return render(request, "cyclotron/imports.html", context, status=status)


def _confirmed(looked: Looked, given: QueryDict) -> ImportColumns:
    """The columns that the confirming form carries."""
    choices = choices_for(looked, queries.open_file(looked.held.store, looked.found.id), given)
    if choices.columns is None:
        raise InvalidImportError(" ".join(choices.problems))
    return choices.columns


def _refused(looked: Looked, error: KapsoError) -> HttpResponse:
    if error.kind is Kind.MISSING:
        raise error
    again = Looked.at(looked.request, looked.held.id, looked.found.id)
    return import_response(again, looked.request.POST, error)
