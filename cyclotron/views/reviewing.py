"""The review page: one item at a time, from the queue that all reviewers of a classifier share."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from cyclotron import queries
from cyclotron.actions.reviewing import MAX_EXPLANATION, MAX_REASON_CODE
from cyclotron.core.errors import AssignmentLostError
from cyclotron.endpoints import definition_of
from cyclotron.presentation.figures import quoted
from cyclotron.presentation.reviewing import review_view
from cyclotron.views.frame import REVIEW, frame_of
from cyclotron.views.parameters import address, classifier_name
from cyclotron.workspace import Workspace
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.pages.callers import caller_of
from kapsoweb.pages.permissions import why_not

_REVIEWER = access(needs=Role.REVIEWER, record="cyclotron_id")


@access(needs=Role.VIEWER, record="cyclotron_id")
@require_safe
@never_cache
def review(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """The item that the visitor holds, or the way to the next one. Looking hands nothing out."""
    return _page(request, cyclotron_id, classifier_name(request.GET.get("classifier")))


@_REVIEWER
@require_POST
def take(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """Hand the next item out, then show it."""
    classifier = classifier_name(request.POST.get("classifier"))
    Workspace(caller_of(request)).take(cyclotron_id, classifier)
    return _to_page(cyclotron_id, classifier)


@_REVIEWER
@require_POST
def answer(request: HttpRequest, cyclotron_id: str, assignment_id: str) -> HttpResponse:
    """Record the label, or the close without one, and hand the next item out."""
    workspace = Workspace(caller_of(request))
    classifier = classifier_name(request.POST.get("classifier"))
    closes = "close" in request.POST
    try:
        recorded = workspace.answer(
            cyclotron_id,
            assignment_id,
            label=None if closes else request.POST.get("label", ""),
            explanation=request.POST.get("explanation", "").replace("\r\n", "\n"),
            reason_code=request.POST.get("reasonCode", "").strip(),
        )
    except AssignmentLostError as error:
        messages.warning(request, error.message[:1].upper() + error.message[1:])
    except KapsoError as error:
        if error.kind is Kind.MISSING or error.kind is Kind.REFUSED:
            raise
        return _page(request, cyclotron_id, classifier, refusal=error)
    else:
        said = "closed without a label" if recorded.label is None else quoted(recorded.label)
        messages.success(request, f"Recorded: {said}.")
    workspace.take(cyclotron_id, classifier)
    return _to_page(cyclotron_id, classifier)


@_REVIEWER
@require_POST
def skip(request: HttpRequest, cyclotron_id: str, assignment_id: str) -> HttpResponse:
    """Give the item back for later, and hand the next one out."""
    workspace = Workspace(caller_of(request))
    classifier = classifier_name(request.POST.get("classifier"))
    try:
        workspace.skip(cyclotron_id, assignment_id)
    except AssignmentLostError as error:
        messages.warning(request, error.message[:1].upper() + error.message[1:])
    else:
        messages.success(request, "Skipped. It comes again after the others.")
    workspace.take(cyclotron_id, classifier)
    return _to_page(cyclotron_id, classifier)


@_REVIEWER
@require_POST
def undo(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """Take the visitor's last answer back; its item is in their hands again."""
    classifier = classifier_name(request.POST.get("classifier"))
    try:
        back = Workspace(caller_of(request)).undo_last(cyclotron_id, classifier)
    except KapsoError as error:
        if error.kind is not Kind.CONFLICT:
            raise
        messages.warning(request, error.message[:1].upper() + error.message[1:])
    else:
        said = "Your last answer is taken back; here is its item." if back else "You have no answer to take back."
        messages.success(request, said)
    return _to_page(cyclotron_id, classifier)


def _page(
    request: HttpRequest, cyclotron_id: str, classifier: str | None, refusal: KapsoError | None = None
) -> HttpResponse:
    caller = caller_of(request)
    held = Workspace(caller).open(cyclotron_id)
    row = held.store.classifier(classifier)
    definition = definition_of(row)
    off = why_not(caller, Role.REVIEWER, "reviewing")
    found = None if off else queries.assignment_of(held.store, row.name, reviewer=caller.actor)
    context = {
        **frame_of(held, REVIEW, classifier=classifier),
        "classifier": row.name,
        "classifiers": queries.classifier_names(held.store),
        "question": definition.question,
        "off": off,
        "item": found and review_view(found, labels=definition.labels, input_field=definition.input_field),
        "queue": queries.queue_state(held.store, row.name, now=clock.now()),
        "mine": queries.reviews_by(held.store, row.name, reviewer=caller.actor),
        "reason_codes": queries.reason_codes(held.store, row.name),
        "limits": {"explanation": MAX_EXPLANATION, "reason_code": MAX_REASON_CODE},
        "refusal": refusal,
        "given": request.POST,
    }
    status = 200 if refusal is None else STATUS_OF_KIND[refusal.kind]
    return render(request, "cyclotron/review.html", context, status=status)


def _to_page(cyclotron_id: str, classifier: str | None) -> HttpResponse:
    return redirect(address("cyclotron:review", cyclotron_id, classifier=classifier))
