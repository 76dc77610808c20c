"""Reads of items: a page of them with what changed on each, and one with all that is known of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Max, Min, OuterRef, Q, QuerySet, Subquery

from cyclotron.core.draws import PARTITIONS
from cyclotron.core.errors import CyclotronError, InvalidPageError
from cyclotron.labels import CurrentLabel, current_labels
from cyclotron.looking_up import there_is, there_is_no
from cyclotron.models import Classifier, Decision, DecisionOutput, HeldOutItem, Item, Review
from cyclotron.queries.history import DecisionRow, OutputShown, ReviewRow, reviews, shown_decisions, shown_output
from cyclotron.store import Store
from kapsoweb.foundation.canonical import is_storable
from kapsoweb.foundation.errors import Kind
from kapsoweb.foundation.paging import Page

WAITING, REVIEWED, CLOSED, NOT_SENT = "waiting", "reviewed", "closed", "not-sent"
ITEM_STATES = (WAITING, REVIEWED, CLOSED, NOT_SENT)
_HISTORY_MOST = 500  # decisions, and as many reviews, of one item


class NoSuchItemError(CyclotronError):
    """The cyclotron has no such item."""

    id = "no-such-item"
    kind = Kind.MISSING


@dataclass(frozen=True)
class ItemFilters:
    """Which items: their state, partition, the label that counts, the label last decided, whether the decision changed,
    their identity, and how it begins. None and the empty text ask for all."""

    state: str | None = None
    partition: str | None = None
    label: str | None = None
    decided_label: str | None = None
    changed: bool | None = None
    beginning: str = ""
    identity: str | None = None

    def __post_init__(self) -> None:
        for what, value, known in (("state", self.state, ITEM_STATES), ("partition", self.partition, PARTITIONS)):
            if value is not None and value not in known:
                raise InvalidPageError(f"the {what} must be one of {', '.join(known)}.", filter=what)
        for what, text in (
            ("label", self.label),
            ("decidedLabel", self.decided_label),
            ("beginning", self.beginning),
            ("itemId", self.identity),
        ):
            if text is not None and not is_storable(text):
                raise InvalidPageError(f"{what} is text that nothing here can have.", filter=what)


@dataclass(frozen=True)
class DecisionShown:
    """A decision of one classifier, as a list of items shows it."""

    decision_id: str
    label: str | None
    confidence: float
    version: int
    refit: int
    decided_at: datetime
    reason: str
    sent: bool
    propensity: float


@dataclass(frozen=True)
class ReviewShown:
    """The review of an item that counts now."""

    review_id: str
    label: str | None
    reviewer: str
    selected_by: str
    recorded_at: datetime


@dataclass(frozen=True)
class ItemRow:
    """An item with its first and its latest decision, and the review that counts; `changed` when the label moved."""

    key: int
    identity: str
    partition: str
    state: str
    first: DecisionShown | None
    latest: DecisionShown | None
    review: ReviewShown | None

    @property
    def changed(self) -> bool:
        """Whether the latest decision has another label than the first."""
        return self.first is not None and self.latest is not None and self.first.label != self.latest.label


@dataclass(frozen=True)
class SetMembership:
    """A held-out set that an item is frozen in, and the label that was frozen."""

    set_id: str
    frozen_at: datetime
    label: str


@dataclass(frozen=True)
class ItemHistory:
    """All that is known of an item: its values, its decisions and reviews, the label that counts with its use, and the
    held-out sets that hold it; each newest first."""

    row: ItemRow
    values: Mapping[str, Any]
    propensity: float | None
    created_at: datetime
    decisions: tuple[DecisionRow, ...]
    reviews: tuple[ReviewRow, ...]
    label: CurrentLabel | None
    sets: tuple[SetMembership, ...]


def items(
    store: Store,
    classifier: str | None = None,
    filters: ItemFilters | None = None,
    *,
    after: int | None = None,
    limit: int = 50,
) -> Page[ItemRow]:
    """Items in the order in which they came, after the one with the key `after`, in a constant number of queries."""
    if limit < 1:
        raise InvalidPageError("the limit of a page of items must be 1 or more.", limit=limit)
    row = store.classifier(classifier)
    chosen = chosen_items(store, row, filters or ItemFilters())
    if after is not None:
        chosen = chosen.filter(id__gt=after)
    page = Page.of(list(chosen.defer("values").order_by("id")[: limit + 1]), limit)
    return page.shown_as(_rows(store, row, page.rows))


def page_before(
    store: Store,
    classifier: str | None = None,
    filters: ItemFilters | None = None,
    *,
    after: int,
    limit: int = 50,
) -> int | None:
    """The key after which the page begins that ends with the key `after`; None where that is the first page."""
    chosen = chosen_items(store, store.classifier(classifier), filters or ItemFilters())
    keys = chosen.filter(id__lte=after).order_by("-id").values_list("id", flat=True)
    return next(iter(keys[limit : limit + 1]), None)


def matching_items(store: Store, classifier: str | None = None, filters: ItemFilters | None = None) -> int:
    """How many items the filters choose."""
    return chosen_items(store, store.classifier(classifier), filters or ItemFilters()).count()


def item(store: Store, key: int, classifier: str | None = None) -> ItemHistory:
    """One item by its key; raises `NoSuchItemError`."""
    row = store.classifier(classifier)
    found = store.all(Item).filter(id=key).first() if 0 < key < 2**63 else None
    if found is None:
        raise NoSuchItemError("there is no such item.", key=str(key))
    decisions = store.all(Decision).filter(item=found).select_related("item").order_by("-id")[:_HISTORY_MOST]
    sets = store.rows(HeldOutItem).filter(held_out_set__classifier=row, identity=found.identity)
    (shown,) = _rows(store, row, [found])
    return ItemHistory(
        row=shown,
        values=found.values,
        propensity=found.propensity,
        created_at=found.created_at,
        decisions=tuple(shown_decisions(store, decisions)),
        reviews=reviews(store, row.name, item_key=key, limit=_HISTORY_MOST).rows,
        label=next(current_labels(store, row, item_key=key), None),
        sets=tuple(
            SetMembership(held.held_out_set_id, held.held_out_set.frozen_at, held.label)
            for held in sets.select_related("held_out_set").order_by("-held_out_set__frozen_at")
        ),
    )


def item_key_of(store: Store, identity: str) -> int:
    """The key of the item with that identity; raises `NoSuchItemError`."""
    rows = store.all(Item).filter(identity=identity) if is_storable(identity) else store.all(Item).none()
    key = rows.values_list("id", flat=True).first()
    if key is None:
        raise NoSuchItemError("there is no such item.", itemId=identity)
    return key


def chosen_items(store: Store, classifier: Classifier, filters: ItemFilters) -> QuerySet[Item]:
    """The items that the filters choose."""
    rows = store.all(Item)
    if filters.partition is not None:
        rows = rows.filter(partition=filters.partition)
    if filters.identity is not None:
        rows = rows.filter(identity=filters.identity)
    if filters.beginning:
        rows = rows.filter(identity__begins=filters.beginning)
    if filters.state is not None or filters.label is not None:
        active = store.rows(Review).filter(classifier=classifier, undone_at=None, item_id=OuterRef("id"))
        if filters.state == WAITING:
            rows = rows.filter(waiting__classifier=classifier)
        elif filters.state == NOT_SENT:
            rows = rows.filter(there_is_no(active), selected_because="")
        rows = rows.alias(newest_review=Subquery(active.order_by("-id").values("id")[:1]))
        counted = store.rows(Review).filter(id=OuterRef("newest_review"))
        if filters.state in (REVIEWED, CLOSED):
            rows = rows.filter(there_is(counted.filter(label__isnull=filters.state == CLOSED)))
        if filters.label is not None:
            rows = rows.filter(there_is(counted.filter(label=filters.label)))
    if filters.decided_label is not None or filters.changed is not None:
        decided = store.rows(Decision).filter(item_id=OuterRef("id")).values("id")
        outputs = store.rows(DecisionOutput).filter(classifier=classifier).values("label")
        rows = rows.alias(
            first=Subquery(decided.order_by("id")[:1]),
            latest=Subquery(decided.order_by("-id")[:1]),
            first_label=Subquery(outputs.filter(decision_id=OuterRef("first"))),
            latest_label=Subquery(outputs.filter(decision_id=OuterRef("latest"))),
        )
        if filters.decided_label is not None:
            rows = rows.filter(latest_label=filters.decided_label)
        if filters.changed is not None:
            same = Q(first_label=F("latest_label"))
            rows = rows.filter(~same if filters.changed else same)
    return rows


def _rows(store: Store, classifier: Classifier, found: Sequence[Item]) -> list[ItemRow]:
    """Items as rows: the ends of their decisions and their reviews, each read in one query for all of them."""
    ends = store.rows(Decision).filter(item__in=found).values("item_id").annotate(first=Min("id"), latest=Max("id"))
    spans = {row["item_id"]: (row["first"], row["latest"]) for row in ends}
    outputs = store.rows(DecisionOutput).filter(
        classifier=classifier, decision_id__in={end for span in spans.values() for end in span}
    )
    shown = {output.decision_id: _decision(output) for output in outputs.select_related("decision")}
    active = store.rows(Review).filter(classifier=classifier, undone_at=None, item__in=found)
    counted = {review.item_id: review for review in active.order_by("id")}  # the last of an item stays
    rows = []
    for one in found:
        first, latest = spans.get(one.id, ("", ""))
        review = counted.get(one.id)
        rows.append(
            ItemRow(
                key=one.id,
                identity=one.identity,
                partition=one.partition,
                state=_state(one, review),
                first=shown.get(first),
                latest=shown.get(latest),
                review=None if review is None else _review(review),
            )
        )
    return rows


def _state(one: Item, review: Review | None) -> str:
    if review is not None:
        return CLOSED if review.label is None else REVIEWED
    return WAITING if one.selected_because else NOT_SENT


def _decision(output: DecisionOutput) -> DecisionShown:
    decided: OutputShown = shown_output(output)
    return DecisionShown(
        decision_id=output.decision_id,
        label=decided.label,
        confidence=decided.confidence,
        version=decided.version,
        refit=decided.refit,
        decided_at=output.decision.decided_at,
        reason=output.decision.reason,
        sent=output.decision.sent,
        propensity=output.decision.propensity,
    )


def _review(row: Review) -> ReviewShown:
    return ReviewShown(row.identity, row.label, row.reviewer, row.selected_by, row.recorded_at)
