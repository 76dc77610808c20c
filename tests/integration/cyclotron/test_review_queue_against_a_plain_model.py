"""Whatever happens to a cyclotron, its queue hands out what a plain reading of the rules says."""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from django.db.models import Exists, OuterRef

from cyclotron import queries
from cyclotron.actions.importing import ForeignDecision, ForeignOutput, import_decisions
from cyclotron.actions.queueing import HOLD, answer_assignment, skip_assignment, take_item, undo_last
from cyclotron.actions.reviewing import record_review, undo_review
from cyclotron.core.errors import AssignmentLostError, ReviewFollowedError
from cyclotron.models import Classifier, Item, Review
from cyclotron.store import Store
from tests.support.cyclotrons import NOW, Workbench, classifier, workbench

pytestmark = [pytest.mark.services, pytest.mark.django_db]

NAMES = [f"item-{number}" for number in range(40)]
REVIEWERS = ("ada", "ben", "eve")
OUTPUTS = {name: ForeignOutput("include", 0.75) for name in ("screening", "urgency")}


@dataclass
class PlainReview:
    """A review of the first classifier, as far as its queue minds it."""

    identity: str
    item: str
    reviewer: str
    active: bool = True


@dataclass
class PlainQueue:
    """The rules without a database. `sent` is in the order in which items were first sent."""

    sent: list[str] = field(default_factory=list)
    reviews: list[PlainReview] = field(default_factory=list)
    skips: dict[tuple[str, str], datetime] = field(default_factory=dict)
    held: dict[str, tuple[str, str, datetime]] = field(default_factory=dict)  # by reviewer: assignment, item, until

    def waiting(self) -> list[str]:
        reviewed = {review.item for review in self.reviews if review.active}
        return [item for item in self.sent if item not in reviewed]

    def next_for(self, reviewer: str, now: datetime) -> str | None:
        waiting = self.waiting()
        if reviewer in self.held and self.held[reviewer][1] in waiting:
            return self.held[reviewer][1]
        others = {item for who, (_, item, until) in self.held.items() if who != reviewer and until > now}
        free = [item for item in waiting if item not in others]
        unskipped = [item for item in free if (reviewer, item) not in self.skips]
        later = sorted((item for item in free if item not in unskipped), key=lambda item: self.skips[reviewer, item])
        return next(iter(unskipped + later), None)

    def hand_out(self, reviewer: str, assignment: str, item: str, now: datetime) -> None:
        self.held = {who: given for who, given in self.held.items() if who != reviewer and given[1] != item}
        self.held[reviewer] = (assignment, item, now + HOLD)

    def is_lost(self, reviewer: str) -> bool:
        return reviewer not in self.held or self.held[reviewer][1] not in self.waiting()

    def last_answer(self, reviewer: str) -> PlainReview | None:
        given = [one for one in self.reviews if one.active and one.reviewer == reviewer]
        return next((one for one in reversed(given) if one.identity.startswith("as_")), None)


def what_follows(store: Store, row: Classifier) -> set[int]:
    """The keys of the items that wait, by items and reviews alone."""
    reviews = store.all(Review).filter(classifier=row, item_id=OuterRef("id"), undone_at=None)
    waiting = store.all(Item).exclude(selected_because="").filter(~Exists(reviews))
    return set(waiting.values_list("id", flat=True))


def decide(bench: Workbench, plain: PlainQueue, draw: random.Random) -> None:
    name = draw.choice(NAMES)
    if draw.random() < 0.3:
        sent = draw.random() < 0.5
        values = {"text": f"text of {name}"}
        given = ForeignDecision(name, values, OUTPUTS, sent, "program" if sent else "", draw.choice((0.25, 0.5)))
        import_decisions(bench.store, [given], now=bench.clock())
    else:
        sent = bench.decide(name, review_rate=draw.choice((0.01, 0.4, 0.9)), audit_rate=0.01).sent_to_review
    if sent and name not in plain.sent:
        plain.sent.append(name)


def review_elsewhere(bench: Workbench, plain: PlainQueue, draw: random.Random, step: int) -> None:
    """On an item's own page or by another door, of either classifier."""
    if not (found := queries.decisions(bench.store, limit=500).rows):
        return
    decision = draw.choice(found)
    of = draw.choice(("screening", "urgency"))
    label = draw.choice(("include", "exclude", None))
    identity, reviewer = f"r{step}", draw.choice(REVIEWERS)
    record_review(
        bench.store,
        identity=identity,
        decision_id=decision.decision_id,
        label=label,
        reviewer=reviewer,
        classifier=of,
        now=bench.clock(),
    )
    if of == "screening":
        plain.reviews.append(PlainReview(identity, decision.item_id, reviewer))


def undo_elsewhere(bench: Workbench, plain: PlainQueue, draw: random.Random) -> None:
    if plain.reviews:
        review = draw.choice(plain.reviews)
        assert undo_review(bench.store, identity=review.identity, actor="eve", now=bench.clock()) == review.active
        review.active = False


def take(bench: Workbench, plain: PlainQueue, reviewer: str, now: datetime) -> None:
    taken = take_item(bench.store, reviewer=reviewer, now=now)
    expected = plain.next_for(reviewer, now)
    assert (taken.item_id if taken else None) == expected
    if taken is not None:
        assert taken.expires_at == now + HOLD
        assert taken.skipped_before == ((reviewer, taken.item_id) in plain.skips)
        known = plain.held.get(reviewer)
        assert (known is not None and known[0] == taken.id) == (known is not None and known[1] in plain.waiting())
        plain.hand_out(reviewer, taken.id, taken.item_id, now)


def answer(bench: Workbench, plain: PlainQueue, reviewer: str, now: datetime, label: str | None) -> None:
    assignment, item, _ = plain.held.get(reviewer, ("as_none", "", now))
    if plain.is_lost(reviewer):
        with pytest.raises(AssignmentLostError):
            answer_assignment(bench.store, assignment, reviewer=reviewer, label=label, now=now)
        return
    assert answer_assignment(bench.store, assignment, reviewer=reviewer, label=label, now=now).new
    plain.reviews.append(PlainReview(assignment, item, reviewer))
    del plain.held[reviewer]


def skip(bench: Workbench, plain: PlainQueue, reviewer: str, now: datetime) -> None:
    assignment, item, _ = plain.held.get(reviewer, ("as_none", "", now))
    if plain.is_lost(reviewer):
        with pytest.raises(AssignmentLostError):
            skip_assignment(bench.store, assignment, reviewer=reviewer, now=now)
        return
    skip_assignment(bench.store, assignment, reviewer=reviewer, now=now)
    plain.skips[reviewer, item] = now
    del plain.held[reviewer]


def undo(bench: Workbench, plain: PlainQueue, reviewer: str, now: datetime) -> None:
    last = plain.last_answer(reviewer)
    others = [one for one in plain.reviews if last and one.active and one.item == last.item and one is not last]
    if others:
        with pytest.raises(ReviewFollowedError):
            undo_last(bench.store, reviewer=reviewer, now=now)
        return
    back = undo_last(bench.store, reviewer=reviewer, now=now)
    assert (back.item_id if back else None) == (last.item if last else None)
    if back is not None and last is not None:
        last.active = False
        if last.item in plain.sent:
            plain.hand_out(reviewer, back.id, back.item_id, now)


@pytest.mark.parametrize("seed", range(6))
def test_any_history_hands_out_what_a_plain_reading_says(seed: int) -> None:
    bench, plain = workbench(classifier(), classifier("urgency")), PlainQueue()
    draw, now = random.Random(seed), NOW
    kinds = ("decide", "review", "undo elsewhere", "take", "answer", "skip", "undo")
    for step in range(160):
        now += timedelta(seconds=draw.choice((1, 60, 60, 600, 1200)))
        reviewer = draw.choice(REVIEWERS)
        what = draw.choices(kinds, (4, 1, 1, 8, 6, 2, 1))[0]
        if what == "decide":
            decide(bench, plain, draw)
        elif what == "review":
            review_elsewhere(bench, plain, draw, step)
        elif what == "undo elsewhere":
            undo_elsewhere(bench, plain, draw)
        elif what == "take":
            take(bench, plain, reviewer, now)
        elif what == "answer":
            answer(bench, plain, reviewer, now, draw.choice(("include", "exclude", None)))
        elif what == "skip":
            skip(bench, plain, reviewer, now)
        else:
            undo(bench, plain, reviewer, now)
        for row in bench.store.classifiers():
            stored = queries.waiting_items(bench.store, row)
            assert set(stored.values_list("item_id", flat=True)) == what_follows(bench.store, row)
        waiting = [item for item in plain.waiting() if item in {held[1] for held in plain.held.values()}]
        state = queries.queue_state(bench.store, now=now)
        assert (state.waiting, state.reviewed) == (len(plain.waiting()), len(plain.sent) - len(plain.waiting()))
        assert state.held == sum(until > now and item in waiting for _, item, until in plain.held.values())
    assert len(plain.reviews) > 10
