"""A cyclotron's items: the list with filters, and one item with all that happened to it."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cyclotron import queries
from cyclotron.actions.reviewing import MAX_EXPLANATION, MAX_REASON_CODE
from cyclotron.core.draws import MAX_IDENTITY, PARTITIONS, REVIEWER
from cyclotron.core.errors import NoSuchDecisionError, NoSuchReviewError
from cyclotron.core.wording import counted, grouped
from cyclotron.endpoints import definition_of
from cyclotron.presentation.item_page import item_page
from cyclotron.presentation.items import STATES, item_view
from cyclotron.queries import ItemFilters
from cyclotron.views.forms import takes_a_form
from cyclotron.views.frame import ITEMS, frame_of
from cyclotron.views.parameters import address, classifier_name, query
from cyclotron.workspace import Workspace
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.limits import PAGE_DEFAULT
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation.canonical import is_storable
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.foundation.identifiers import new_id
from kapsoweb.foundation.whole_numbers import whole_number
from kapsoweb.pages.callers import caller_of
from kapsoweb.pages.permissions import why_not

PAGE = "cyclotron:item"

_VIEWER = access(needs=Role.VIEWER, record="cyclotron_id")
_REVIEWER = access(needs=Role.REVIEWER, record="cyclotron_id")


@_VIEWER
@require_safe
@never_cache
def items(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """The items that the address chooses (see `_chosen`), after the one with the key `after`."""
    held = Workspace(caller_of(request)).open(cyclotron_id)
    classifier = classifier_name(request.GET.get("classifier"))
    row = held.store.classifier(classifier)
    definition = definition_of(row)
    chosen = _chosen(request.GET, definition.labels)
    filters = ItemFilters(
        state=chosen["state"] or None,
        partition=chosen["partition"] or None,
        label=chosen["label"] or None,
        decided_label=chosen["decided"] or None,
        changed=True if chosen["changed"] else None,
        beginning=chosen["begins"],
    )
    key = whole_number(request.GET.get("after", ""))
    page = queries.items(held.store, row.name, filters, after=key, limit=PAGE_DEFAULT)
    before = key and queries.page_before(held.store, row.name, filters, after=key, limit=PAGE_DEFAULT)
    filtered = any(chosen.values())
    every = queries.item_count(held.store)
    matching = queries.matching_items(held.store, row.name, filters) if filtered else every
    context = {
        **frame_of(held, ITEMS, classifier=classifier),
        "classifier": classifier or "",
        "with_classifier": query(classifier=classifier),
        "classifiers": queries.classifier_names(held.store),
        "shown_classifier": row.name,
        "rows": [item_view(found) for found in page.rows],
        "count": f"{grouped(matching)} of {counted(every, 'item')}" if filtered else counted(every, "item"),
        "chosen": chosen,
        "filtered": filtered,
        "longest": MAX_IDENTITY,
        "states": STATES,
        "partitions": PARTITIONS,
        "labels": definition.labels,
        "first": address("cyclotron:items", held.id, classifier=classifier, **chosen) if key is not None else "",
        "previous": address("cyclotron:items", held.id, classifier=classifier, after=str(before), **chosen)
        if before
        else "",
        "next": address("cyclotron:items", held.id, classifier=classifier, after=str(page.next), **chosen)
        if page.next
        else "",
    }
    return render(request, "cyclotron/items.html", context)


@_VIEWER
@require_safe
@never_cache
def item(request: HttpRequest, cyclotron_id: str, key: int) -> HttpResponse:
    """One item, with its values, decisions, reviews and held-out sets."""
    return _item(request, cyclotron_id, key)


@_REVIEWER
@takes_a_form(PAGE, "key")
def review(request: HttpRequest, cyclotron_id: str, key: int) -> HttpResponse:
    """Review the item by the visitor's own choice, or correct the label that it has."""
    workspace = Workspace(caller_of(request))
    held = workspace.open(cyclotron_id, needs=Role.REVIEWER)
    classifier = classifier_name(request.GET.get("classifier"))
    decision = request.POST.get("decision", "")
    if decision not in {each.decision_id for each in queries.item(held.store, key, classifier).decisions}:
        raise NoSuchDecisionError("there is no such decision of this item.", decision=decision[:MAX_IDENTITY])
    try:
        workspace.review(
            cyclotron_id,
            identity=request.POST.get("reviewId", ""),
            decision_id=decision,
            label=request.POST.get("label", ""),
            classifier=classifier,
            explanation=request.POST.get("explanation", "").replace("\r\n", "\n"),
            reason_code=request.POST.get("reasonCode", "").strip(),
            selected_by=REVIEWER if request.POST.get("chosen") else None,
        )
    except KapsoError as error:
        if error.kind is Kind.REFUSED:
            raise
        return _item(request, cyclotron_id, key, refusal=error)
    messages.success(request, "Recorded.")
    return redirect(address(PAGE, cyclotron_id, str(key), classifier=classifier))


@_REVIEWER
@takes_a_form(PAGE, "key")
def undo(request: HttpRequest, cyclotron_id: str, key: int) -> HttpResponse:
    """Retract a review of the item: reviewers their own, operators anybody's."""
    workspace = Workspace(caller_of(request))
    held = workspace.open(cyclotron_id, needs=Role.REVIEWER)
    classifier = classifier_name(request.GET.get("classifier"))
    identity = request.POST.get("review", "")
    if identity not in {each.review_id for each in queries.item(held.store, key, classifier).reviews}:
        raise NoSuchReviewError("there is no such review of this item.", review=identity[:MAX_IDENTITY])
    undone = workspace.undo(cyclotron_id, identity=identity)
    messages.success(request, "The review is undone." if undone else "The review had been undone before.")
    return redirect(address(PAGE, cyclotron_id, str(key), classifier=classifier))


def _chosen(given: QueryDict, labels: Sequence[str]) -> dict[str, str]:
    """What the address asks for, and an empty text for what it asks for in vain."""
    known = {"state": STATES, "partition": PARTITIONS, "label": labels, "decided": labels, "changed": ("yes",)}
    chosen = {name: given.get(name, "") for name in known}
    begins = given.get("begins", "")
    return {
        **{name: value if value in known[name] else "" for name, value in chosen.items()},
        "begins": begins if is_storable(begins) else "",
    }


def _item(request: HttpRequest, cyclotron_id: str, key: int, refusal: KapsoError | None = None) -> HttpResponse:
    caller = caller_of(request)
    classifier = classifier_name(request.GET.get("classifier"))
    held = Workspace(caller).open(cyclotron_id)
    row = held.store.classifier(classifier)
    definition = definition_of(row)
    found = queries.item(held.store, key, row.name)
    in_reports = queries.item_in_reports(held.store, row.name, identity=found.row.identity) if found.sets else ()
    context = {
        **frame_of(held, ITEMS, within=True, classifier=classifier),
        "with_classifier": query(classifier=classifier),
        "item": item_page(found, definition, in_reports),
        "labels": definition.labels,
        "review_id": new_id("rv"),
        "off": why_not(caller, Role.REVIEWER, "reviewing"),
        "actor": caller.actor,
        "undoes_all": caller.role.allows(Role.OPERATOR),
        "reason_codes": queries.reason_codes(held.store, row.name),
        "limits": {"explanation": MAX_EXPLANATION, "reason_code": MAX_REASON_CODE},
        "refusal": refusal,
        "given": request.POST,
        "back": address("cyclotron:items", held.id, classifier=classifier),
    }
    status = 200 if refusal is None else STATUS_OF_KIND[refusal.kind]
    return render(request, "cyclotron/item.html", context, status=status)
