"""What an evaluation would compare, and how many requests it would have to make. Source: spec, sections 3 and 4."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, OuterRef, QuerySet, Subquery

from cyclotron.core.configuration import request_fingerprint
from cyclotron.core.errors import NoHeldOutSetError, NoSuchHeldOutSetError, NothingToScoreError
from cyclotron.core.verdict import DEFAULT_MINIMUM_PER_LABEL
from cyclotron.endpoints import Column, column_of, definition_of, first_version
from cyclotron.labels import chosen_by_a_person
from cyclotron.looking_up import there_is_no
from cyclotron.models import CachedAnswer, Classifier, Evaluation, HeldOutItem, HeldOutSet, Item, MlModelRecord, Version
from cyclotron.store import Store
from kapsoweb.foundation.canonical import digest, is_storable


@dataclass(frozen=True)
class Plan:
    """A comparison of two columns over one set by one model, and the requests that it still needs.

    `bound` counts the distinct requests without a stored answer, `total` all distinct ones. `comparison_digest` covers
    what is compared, `digest` also the bound: the one object that a person consents to.
    """

    held_out_set: HeldOutSet
    before: Column
    after: Column
    before_version: Version
    after_version: Version
    after_ml_model: MlModelRecord | None
    model: str
    minimum_per_label: int
    scored: int
    total: int
    bound: int

    @property
    def comparison_digest(self) -> str:
        """Identity of what is compared: set, both fingerprints, model and minimum per label."""
        return digest(
            [
                self.held_out_set.id,
                self.before.fingerprint,
                self.after.fingerprint,
                self.model,
                self.minimum_per_label,
            ]
        )

    @property
    def digest(self) -> str:
        """Identity of what is confirmed: the comparison and its request bound."""
        return digest([self.comparison_digest, self.bound])

    @property
    def clock(self) -> str | None:
        """The one request clock of both columns: the set's freeze time, for a classifier that uses a clock."""
        return self.held_out_set.frozen_at.isoformat() if self.before.endpoint.definition.uses_clock else None

    def fingerprint(self, column: Column, input_digest: str) -> str:
        """The fingerprint of the request that asks a column about an item's input."""
        return request_fingerprint(self.model, column.endpoint.digest, input_digest, self.clock)


def held_out_set_of(store: Store, classifier: Classifier, set_id: str | None) -> HeldOutSet:
    """The set of that id, or the newest; raises `NoSuchHeldOutSetError` or `NoHeldOutSetError`."""
    wanted = classifier.current_set_id if set_id is None else set_id
    if wanted is None:
        raise NoHeldOutSetError("no held-out set is frozen; freeze one first.", classifier=classifier.name)
    found = store.all(HeldOutSet).filter(classifier=classifier, id=wanted).first() if is_storable(wanted) else None
    if found is None:
        raise NoSuchHeldOutSetError("this classifier has no held-out set of that id.", classifier=classifier.name)
    return found


def scored_items(store: Store, classifier: Classifier, held_out_set: HeldOutSet) -> "QuerySet[HeldOutItem]":
    """The set's items less those that a reviewer has since chosen to review, in identity order."""
    item = store.all(Item).filter(identity=OuterRef(OuterRef("identity"))).values("id")[:1]
    moved = chosen_by_a_person(store, classifier).filter(item_id=Subquery(item))
    return store.rows(HeldOutItem).filter(there_is_no(moved), held_out_set=held_out_set).order_by("position")


def make_plan(
    store: Store,
    classifier: Classifier,
    *,
    model: str,
    set_id: str | None = None,
    minimum_per_label: int = DEFAULT_MINIMUM_PER_LABEL,
) -> Plan:
    """The plan as things stand now. Asks the cache one question for all; makes no call to a model.

    Raises `NoHeldOutSetError`, and `NothingToScoreError` when every item of the set trains now.
    """
    after_version = classifier.active_version
    if after_version is None:
        raise AssertionError("a stored classifier always has an active version")
    plan = _plan(
        store,
        classifier,
        held_out_set=held_out_set_of(store, classifier, set_id),
        versions=(first_version(store, classifier), after_version),
        after_ml_model=classifier.active_ml_model,
        model=model,
        minimum_per_label=minimum_per_label,
    )
    if plan.scored == 0:
        raise NothingToScoreError(
            "every item of the held-out set has since been reviewed by a reviewer's own choice and trains now; "
            "review more of what the cyclotron sends, then freeze.",
            heldOutSet=plan.held_out_set.id,
        )
    return plan


def comparison_of(store: Store, evaluation: Evaluation) -> Plan:
    """What a confirmed evaluation compares, whatever was learned since; `bound` is what it still has to ask.

    `scored` is 0 when every item of the set came to train meanwhile.
    """
    return _plan(
        store,
        evaluation.classifier,
        held_out_set=evaluation.held_out_set,
        versions=(evaluation.before_version, evaluation.after_version),
        after_ml_model=evaluation.after_ml_model,
        model=evaluation.model,
        minimum_per_label=evaluation.minimum_per_label,
    )


def _plan(
    store: Store,
    classifier: Classifier,
    *,
    held_out_set: HeldOutSet,
    versions: tuple[Version, Version],
    after_ml_model: MlModelRecord | None,
    model: str,
    minimum_per_label: int,
) -> Plan:
    definition = definition_of(classifier)
    before = column_of(definition, versions[0], None)
    after = column_of(definition, versions[1], after_ml_model)
    items = scored_items(store, classifier, held_out_set)
    clock = held_out_set.frozen_at.isoformat() if definition.uses_clock else ""
    counts = _counts(store, items, model, sorted({before.endpoint.digest, after.endpoint.digest}), clock)
    return Plan(
        held_out_set=held_out_set,
        before=before,
        after=after,
        before_version=versions[0],
        after_version=versions[1],
        after_ml_model=after_ml_model,
        model=model,
        minimum_per_label=minimum_per_label,
        scored=counts.scored,
        total=counts.total,
        bound=counts.bound,
    )


@dataclass(frozen=True)
class _Counts:
    """A plan's numbers, all of one moment: scored items, distinct requests, and those without a stored answer."""

    scored: int
    total: int
    bound: int


def _counts(store: Store, items: "QuerySet[HeldOutItem]", model: str, endpoints: Sequence[str], clock: str) -> _Counts:
    """Count in one pass over the set, with one look into the cache for each item and endpoint."""

    def unanswered(endpoint: str) -> Count:
        answered = store.all(CachedAnswer).filter(
            endpoint_digest=endpoint, input_digest=OuterRef("input_digest"), model=model, clock=clock
        )
        return Count("input_digest", filter=there_is_no(answered), distinct=True)

    unanswered_by = {f"unanswered_{place}": unanswered(endpoint) for place, endpoint in enumerate(endpoints)}
    counted = items.order_by().aggregate(
        scored=Count("id"), inputs=Count("input_digest", distinct=True), **unanswered_by
    )
    return _Counts(
        scored=counted["scored"],
        total=counted["inputs"] * len(endpoints),
        bound=sum(counted[name] for name in unanswered_by),
    )
