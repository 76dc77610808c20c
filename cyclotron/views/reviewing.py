"""The review page: one item at a time, from the queue that all reviewers of a classifier share."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cyclotron import queries
from cyclotron.actions.reviewing import MAX_EXPLANATION, MAX_REASON_CODE
from cyclotron.core.errors import AssignmentLostError
from cyclotron.endpoints import definition_of
from cyclotron.presentation.reviewing import (
    KEYS,
    answer_words,
    recorded_words,
    review_view,
    short_name,
    tally,
)
from cyclotron.queries import AssignmentShown
from cyclotron.views import visit
from cyclotron.views.forms import takes_a_form
from cyclotron.views.frame import REVIEW, frame_of
from cyclotron.views.parameters import address, classifier_name, query
from cyclotron.workspace import Workspace
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.foundation.wording import sentence_case
from kapsoweb.pages.callers import caller_of
from kapsoweb.pages.permissions import why_not

PAGE = "cyclotron:review"
IN_HAND = "#item"  # where the page begins for somebody who goes from item to item

_REVIEWER = access(needs=Role.REVIEWER, record="cyclotron_id")


@access(needs=Role.VIEWER, record="cyclotron_id")
@require_safe
@never_cache
def review(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """The item that the visitor holds, or the way to the next one. Looking hands nothing out."""
    return _page(request, cyclotron_id)


@_REVIEWER
@takes_a_form(PAGE)
def take(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """Hand the next item out, then show it."""
    return _next(request, cyclotron_id, Workspace(caller_of(request)), otherwise="No item is free at the moment.")


@_REVIEWER
@takes_a_form(PAGE)
def answer(request: HttpRequest, cyclotron_id: str, assignment_id: str) -> HttpResponse:
    """Record the label, or the close without one, and hand the next item out."""
    workspace = Workspace(caller_of(request))
    in_hand = _in_hand(request, workspace, cyclotron_id, assignment_id)
    try:
        recorded = workspace.answer(
            cyclotron_id,
            assignment_id,
            label=None if "close" in request.POST else request.POST.get("label", ""),
            explanation=request.POST.get("explanation", "").replace("\r\n", "\n"),
            reason_code=request.POST.get("reasonCode", "").strip(),
        )
    except AssignmentLostError as error:
        messages.warning(request, sentence_case(error.message))
    except KapsoError as error:
        if error.kind is Kind.MISSING or error.kind is Kind.REFUSED:
            raise
        return _page(request, cyclotron_id, refusal=error)
    else:
        messages.success(request, recorded_words(recorded.label, in_hand))
    return _next(request, cyclotron_id, workspace)


@_REVIEWER
@takes_a_form(PAGE)
def skip(request: HttpRequest, cyclotron_id: str, assignment_id: str) -> HttpResponse:
    """Give the item back for later, and hand the next one out."""
    workspace = Workspace(caller_of(request))
    in_hand = _in_hand(request, workspace, cyclotron_id, assignment_id)
    try:
        workspace.skip(cyclotron_id, assignment_id)
    except AssignmentLostError as error:
        messages.warning(request, sentence_case(error.message))
    else:
        name = short_name(in_hand.item_id) if in_hand else "the item"
        messages.success(request, f"Skipped {name}. It comes again after the others.")
    return _next(request, cyclotron_id, workspace)


@_REVIEWER
@takes_a_form(PAGE)
def undo(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """Take back the answer that the page named as the visitor's last; its item is in their hands again."""
    workspace = Workspace(caller_of(request))
    classifier = classifier_name(request.GET.get("classifier"))
    held = workspace.open(cyclotron_id, needs=Role.REVIEWER)
    last = queries.last_answer(held.store, classifier, reviewer=workspace.caller.actor)
    meant = request.POST.get("review", "")
    try:
        back = workspace.undo_answer(cyclotron_id, meant)
    except KapsoError as error:
        if error.kind is not Kind.CONFLICT:
            raise
        messages.warning(request, sentence_case(error.message))
    else:
        words = answer_words(last) if last and last.review == meant else f"your answer on {short_name(back.item_id)}"
        messages.success(request, f"Taken back: {words}. Here it is again.")
    return _to_page(cyclotron_id, classifier)


def _in_hand(
    request: HttpRequest, workspace: Workspace, cyclotron_id: str, assignment_id: str
) -> AssignmentShown | None:
    """The assignment of that id as it stands before it is answered, if it is the one that the visitor holds."""
    held = workspace.open(cyclotron_id, needs=Role.REVIEWER)
    classifier = classifier_name(request.GET.get("classifier"))
    found = queries.assignment_of(held.store, classifier, reviewer=workspace.caller.actor)
    return found if found is not None and found.id == assignment_id else None


def _next(request: HttpRequest, cyclotron_id: str, workspace: Workspace, otherwise: str = "") -> HttpResponse:
    """Hand the next item out within the same request, so that the page which follows only shows it.

    `otherwise` is said when there is none to hand out.
    """
    classifier = classifier_name(request.GET.get("classifier"))
    if workspace.take(cyclotron_id, classifier) is None and otherwise:
        messages.info(request, otherwise)
    visit.go_on(request.session, _queue(cyclotron_id, classifier), clock.now())
    return _to_page(cyclotron_id, classifier)


def _page(request: HttpRequest, cyclotron_id: str, refusal: KapsoError | None = None) -> HttpResponse:
    caller, now = caller_of(request), clock.now()
    classifier = classifier_name(request.GET.get("classifier"))
    held = Workspace(caller).open(cyclotron_id)
    row = held.store.classifier(classifier)
    definition = definition_of(row)
    off = why_not(caller, Role.REVIEWER, "reviewing")
    found = None if off else queries.assignment_of(held.store, row.name, reviewer=caller.actor)
    item = found and review_view(found, labels=definition.labels, input_field=definition.input_field, now=now)
    last = None if off else queries.last_answer(held.store, row.name, reviewer=caller.actor)
    queue = queries.queue_state(held.store, row.name, now=now)
    begun = visit.since(request.session, _queue(cyclotron_id, classifier), now)
    done = queries.answers_since(held.store, row.name, reviewer=caller.actor, since=begun) if begun else 0
    all_held = queue.waiting > 0 and queue.waiting == queue.held
    context = {
        **frame_of(held, REVIEW, classifier=classifier),
        "with_classifier": query(classifier=classifier),
        "classifiers": queries.classifier_names(held.store),
        "shown_classifier": row.name,
        "question": definition.question,
        "off": off,
        "item": item,
        "queue": queue,
        "tally": tally(queue, held_here=bool(item and not item.late), this_visit=done),
        "back_at": queries.next_return(held.store, row.name, now=now) if all_held and not item else None,
        "undo": answer_words(last) if last else "",
        "undo_review": last.review if last else "",
        "last_key": min(KEYS, len(definition.labels)),
        "reason_codes": queries.reason_codes(held.store, row.name),
        "limits": {"explanation": MAX_EXPLANATION, "reason_code": MAX_REASON_CODE},
        "refusal": refusal,
        "given": request.POST,
    }
    status = 200 if refusal is None else STATUS_OF_KIND[refusal.kind]
    return render(request, "cyclotron/review.html", context, status=status)


def _queue(cyclotron_id: str, classifier: str | None) -> str:
    return f"{cyclotron_id}/{classifier or ''}"


def _to_page(cyclotron_id: str, classifier: str | None) -> HttpResponse:
    return redirect(address(PAGE, cyclotron_id, classifier=classifier) + IN_HAND)
