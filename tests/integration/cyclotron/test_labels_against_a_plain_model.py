"""Random histories of decisions, reviews, closes, undoes and freezes against a plain reading of the specification."""

import random
from dataclasses import dataclass, field

import pytest

from cyclotron.actions import record_review, undo_review
from cyclotron.core.draws import partition_of, selection_draw
from cyclotron.core.errors import NothingToFreezeError
from cyclotron.models import HeldOutItem
from cyclotron.queries import status
from tests.support.cyclotrons import SEED, Workbench, identities, workbench

pytestmark = [pytest.mark.services, pytest.mark.django_db]

NAMES = identities("audit", 6) + identities("development", 2) + identities("training", 2)


@dataclass
class PlainReview:
    """A review as the specification speaks of it."""

    label: str | None
    selected_by: str
    active: bool = True


@dataclass
class PlainItem:
    """An item: the largest propensity it met, why it was sent, its reviews in order."""

    name: str
    propensity: float = 0.0
    reason: str = ""
    reviews: dict[str, PlainReview] = field(default_factory=dict)
    training_reviews: int = 0  # its labels that taught when they came, undone ones included

    def decide(self, review_rate: float, audit_rate: float) -> str:
        """The reason of the decision, or nothing."""
        number = selection_draw(SEED, self.name)
        self.propensity = max(self.propensity, review_rate, audit_rate)
        if not self.reason and number < max(review_rate, audit_rate):
            self.reason = "audit" if number < audit_rate else "program"
        return self.reason

    def review(self, identity: str, reason: str, label: str | None, *, by_choice: bool) -> str:
        """Who selected the new review."""
        labelled = [review for review in self.reviews.values() if review.active and review.label is not None]
        inherited = labelled[-1].selected_by if labelled and label is not None else reason or "reviewer"
        selected_by = "reviewer" if by_choice else inherited
        self.reviews[identity] = PlainReview(label, selected_by)
        chosen = any(review.active and review.selected_by == "reviewer" for review in self.reviews.values())
        self.training_reviews += label is not None and (chosen or partition_of(SEED, self.name) == "training")
        return selected_by

    @property
    def label(self) -> tuple[str, str, float] | None:
        """The label that counts, what it is used for, and its propensity."""
        active = [review for review in self.reviews.values() if review.active]
        if not active or active[-1].label is None:
            return None
        if any(review.selected_by == "reviewer" for review in active):
            return active[-1].label, "training", 1.0
        return active[-1].label, partition_of(SEED, self.name), self.propensity


def frozen_by(items: dict[str, PlainItem], newest: list[tuple[str, str, float]]) -> list[tuple[str, str, float]]:
    """The set that a freeze gives, by the set that was newest."""
    eligible = sorted(
        (item.name, item.label[0], item.label[2]) for item in items.values() if item.label and item.label[1] == "audit"
    )
    held = {entry[:2] for entry in newest}
    return eligible if any(entry[:2] not in held for entry in eligible) else newest


def stored(bench: Workbench, set_id: str) -> list[tuple[str, str, float]]:
    """A set's items in order."""
    rows = HeldOutItem.objects.filter(held_out_set_id=set_id).order_by("position")
    return list(rows.values_list("identity", "label", "propensity"))


@pytest.mark.parametrize("seed", range(4))
def test_any_history_ends_as_a_plain_reading_says(seed: int) -> None:
    bench, draw = workbench(), random.Random(seed)
    items: dict[str, PlainItem] = {}
    decisions: list[tuple[str, str, str]] = []
    newest: list[tuple[str, str, float]] = []
    for step in range(100):
        name = draw.choice(NAMES)
        what = draw.choices(("decide", "review", "undo", "freeze"), (4, 5, 2, 2))[0]
        if what == "decide" or not decisions:
            rates = {"review_rate": draw.choice((0.1, 0.4, 0.8, 1.0)), "audit_rate": draw.choice((0.05, 0.3))}
            decided = bench.decide(name, **rates)
            item = items.setdefault(name, PlainItem(name))
            reason = item.decide(**rates)
            assert (decided.reason, decided.propensity) == (reason, item.propensity)
            decisions.append((decided.decision_id, name, reason))
        elif what == "review":
            decision_id, name, reason = draw.choice(decisions)
            label, by_choice = draw.choice(("include", "exclude", None)), draw.random() < 0.08
            recorded = record_review(
                bench.store,
                identity=f"r{step}",
                decision_id=decision_id,
                label=label,
                reviewer="ada",
                selected_by="reviewer" if by_choice else None,
                now=bench.clock(),
            )
            assert recorded.selected_by == items[name].review(f"r{step}", reason, label, by_choice=by_choice)
        elif what == "undo":
            known = [(identity, review) for item in items.values() for identity, review in item.reviews.items()]
            if known:
                identity, review = draw.choice(known)
                assert undo_review(bench.store, identity=identity, actor="ada", now=bench.clock()) == review.active
                review.active = False
        else:
            newest = frozen_by(items, newest)
            if newest:
                assert stored(bench, bench.freeze().id) == newest
            else:
                with pytest.raises(NothingToFreezeError):
                    bench.freeze()
        expected = {item.name: item.label for item in items.values() if item.label}
        found = {name: (label.label, label.use, label.propensity) for name, label in bench.current().items()}
        assert found == expected
        assert status(bench.store).training_reviews == sum(item.training_reviews for item in items.values())
    assert newest
