"""Freezing: what is eligible, what is copied, when a set is new, and what a race makes of it."""

import hashlib
import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from cyclotron import queries
from cyclotron.core.draws import selection_draw
from cyclotron.core.errors import NothingToFreezeError
from cyclotron.core.overview import SetSummary
from cyclotron.models import Classifier, Event, HeldOutItem, HeldOutSet
from tests.support.cyclotrons import SEED, Workbench, classifier, identities, workbench
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db]

AUDIT = identities("audit", 8)


@pytest.fixture
def bench() -> Workbench:
    return workbench()


def content(frozen: SetSummary) -> list[tuple[str, str, float]]:
    """A set's items in order: identity, label, propensity."""
    rows = HeldOutItem.objects.filter(held_out_set_id=frozen.id).order_by("position")
    return [(row.identity, row.label, row.propensity) for row in rows]


def everything(frozen: SetSummary) -> list[dict[str, Any]]:
    """All that is stored of a set."""
    rows = HeldOutItem.objects.filter(held_out_set_id=frozen.id).order_by("position")
    return [*HeldOutSet.objects.filter(id=frozen.id).values(), *rows.values()]


def test_a_set_holds_the_selected_labels_of_the_audit_partition_and_no_other(bench: Workbench) -> None:
    for partition in ("audit", "development", "training"):
        for name in identities(partition, 3):
            bench.label(name, "include")
    chosen = bench.decide(identities("audit", 40)[-1])
    bench.review(chosen, "include", selected_by="reviewer")
    frozen = bench.freeze()
    assert content(frozen) == sorted((name, "include", 1.0) for name in AUDIT[:3])
    assert frozen.size == 3
    assert frozen.label_counts == {"include": 3, "exclude": 0}
    assert bench.model.count == 10


def test_items_stand_in_the_order_of_code_points(bench: Workbench) -> None:
    names = [
        name
        for prefix in ("a", "B", "\u00e9", "e\u0301", "Z ", "\U0001f600", "\uffff")
        for name in identities("audit", 2, prefix=prefix)
    ]
    for name in reversed(names):
        bench.label(name, "include")
    frozen = bench.freeze()
    assert [name for name, _, _ in content(frozen)] == sorted(names)
    rows = HeldOutItem.objects.filter(held_out_set_id=frozen.id).order_by("position")
    assert [row.position for row in rows] == list(range(len(names)))


def test_undone_and_closed_reviews_and_chosen_items_drop_out(bench: Workbench) -> None:
    kept, undone, closed, chosen, corrected, reopened = AUDIT[:6]
    bench.label(kept, "include")
    bench.undo(bench.label(undone, "include"))
    bench.label(closed, "include")
    bench.label(closed, None)
    bench.label(chosen, "include")
    bench.choose(chosen, "include")
    bench.label(corrected, "include")
    bench.label(corrected, "exclude")
    bench.label(reopened, "include")
    bench.label(reopened, None)
    bench.label(reopened, "exclude")
    expected = sorted([(kept, "include", 1.0), (corrected, "exclude", 1.0), (reopened, "exclude", 1.0)])
    assert content(bench.freeze()) == expected


def test_an_item_that_a_person_alone_chose_is_not_frozen(bench: Workbench) -> None:
    name = next(name for name in identities("audit", 60) if selection_draw(SEED, name) > 0.5)
    bench.review(bench.decide(name, review_rate=0.1), "include")
    with pytest.raises(NothingToFreezeError):
        bench.freeze()
    bench.label(name, "include")
    with pytest.raises(NothingToFreezeError):
        bench.freeze()


def test_the_propensity_of_the_freeze_is_copied(bench: Workbench) -> None:
    name = next(name for name in identities("audit", 60) if 0.05 < selection_draw(SEED, name) < 0.2)
    bench.review(bench.decide(name, review_rate=0.2), "include")
    frozen = bench.freeze()
    assert content(frozen) == [(name, "include", 0.2)]
    bench.decide(name, review_rate=1)
    assert content(bench.freeze()) == [(name, "include", 0.2)]
    assert queries.labels(bench.store)[0].propensity == 1.0


def test_nothing_that_happens_later_changes_a_set(bench: Workbench) -> None:
    for name in AUDIT[:4]:
        bench.label(name, "include")
    frozen = bench.freeze()
    before = everything(frozen)
    bench.label(AUDIT[0], "exclude")
    bench.choose(AUDIT[1], "exclude")
    bench.undo(bench.label(AUDIT[2], "exclude"))
    bench.label(AUDIT[3], None)
    bench.decide(AUDIT[4])
    bench.label(AUDIT[5], "exclude")
    later = bench.freeze()
    assert later.id != frozen.id
    assert everything(frozen) == before
    assert content(later) == sorted(
        [(AUDIT[0], "exclude", 1.0), (AUDIT[2], "include", 1.0), (AUDIT[5], "exclude", 1.0)]
    )


def test_values_are_copied_whole(bench: Workbench) -> None:
    values = {"text": "a text", "more": [1, 2.5, None, True, {"deep": "\u00e9"}]}
    bench.review(bench.decide(AUDIT[0], values=values), "include")
    row = HeldOutItem.objects.get(held_out_set_id=bench.freeze().id)
    assert row.values == values


def test_freezing_again_gives_the_same_set_and_makes_nothing(bench: Workbench) -> None:
    bench.label(AUDIT[0], "include")
    frozen = bench.freeze()
    events = bench.store.all(Event).count()
    bench.label(identities("training", 1)[0], "include")
    bench.decide(AUDIT[1])
    assert [bench.freeze(), bench.freeze()] == [frozen, frozen]
    assert HeldOutSet.objects.count() == 1
    assert bench.store.all(Event).filter(kind="held-out-set-frozen").count() == 1
    assert bench.store.all(Event).count() == events + 3


def test_an_undo_or_a_close_alone_makes_no_new_set(bench: Workbench) -> None:
    reviews = [bench.label(name, "include") for name in AUDIT[:3]]
    frozen = bench.freeze()
    bench.undo(reviews[0])
    bench.label(AUDIT[1], None)
    bench.choose(AUDIT[2], "exclude")
    assert bench.freeze() == frozen
    bench.label(AUDIT[3], "include")
    assert content(bench.freeze()) == [(AUDIT[3], "include", 1.0)]


def test_the_same_label_given_again_makes_no_new_set(bench: Workbench) -> None:
    bench.label(AUDIT[0], "include")
    frozen = bench.freeze()
    bench.label(AUDIT[0], "include")
    assert bench.freeze() == frozen


def test_a_label_that_flips_and_flips_back_is_frozen_as_the_set_that_it_was(bench: Workbench) -> None:
    bench.label(AUDIT[0], "include")
    first = bench.freeze()
    bench.label(AUDIT[0], "exclude")
    second = bench.freeze()
    assert second.id != first.id
    bench.label(AUDIT[0], "include")
    assert bench.freeze() == first
    assert bench.freeze() == first
    assert HeldOutSet.objects.count() == 2
    assert bench.store.classifier().current_set_id == first.id
    bench.label(AUDIT[0], "exclude")
    assert bench.freeze() == second


def test_a_set_is_named_by_a_digest_of_its_content_alone(bench: Workbench) -> None:
    """The same labels in another order of events make the same set; another cyclotron's make another."""
    for name in AUDIT[:2]:
        bench.label(name, "include")
    first = bench.freeze()
    bench.label(AUDIT[2], "include")
    bench.freeze()
    bench.undo(bench.label(AUDIT[2], "exclude"))
    assert len(first.id) == 64
    other = workbench()
    for name in reversed(AUDIT[:2]):
        other.label(name, "include")
    assert other.freeze().id != first.id
    rows = HeldOutItem.objects.filter(held_out_set_id=first.id).order_by("position")
    text = json.dumps(
        {
            "classifier": "screening",
            "cyclotron": bench.store.cyclotron_id,
            "items": [[row.identity, row.values_digest, row.label, row.propensity] for row in rows],
        },
        separators=(",", ":"),
    )
    assert first.id == hashlib.sha256(text.encode()).hexdigest()
    assert rows[0].values_digest == hashlib.sha256(f'{{"text":"text of {rows[0].identity}"}}'.encode()).hexdigest()


def test_an_empty_pool_is_refused_with_what_is_missing_and_creates_nothing(bench: Workbench) -> None:
    bench.label(identities("training", 1)[0], "include")
    bench.label(AUDIT[0], None)
    bench.undo(bench.label(AUDIT[1], "include"))
    events = bench.store.all(Event).count()
    with pytest.raises(NothingToFreezeError) as caught:
        bench.freeze()
    assert caught.value.id == "nothing-to-freeze"
    assert "audit" in caught.value.message
    assert "review" in caught.value.message.lower()
    assert not HeldOutSet.objects.exists()
    assert bench.store.classifier().current_set_id is None
    assert bench.store.all(Event).count() == events


def test_a_pool_that_emptied_after_a_freeze_gives_the_newest_set(bench: Workbench) -> None:
    review = bench.label(AUDIT[0], "include")
    frozen = bench.freeze()
    bench.undo(review)
    assert bench.freeze() == frozen


def test_each_classifier_has_sets_of_its_own() -> None:
    bench = workbench(classifier("one"), classifier("two", labels=("x", "y"), question="Which?"))
    decided = bench.decide(AUDIT[0])
    bench.review(decided, "include", classifier="one")
    with pytest.raises(NothingToFreezeError):
        bench.freeze("two")
    bench.review(decided, "y", classifier="two")
    one, two = bench.freeze("one"), bench.freeze("two")
    assert content(one) == [(AUDIT[0], "include", 1.0)]
    assert content(two) == [(AUDIT[0], "y", 1.0)]
    assert bench.freeze() == one
    bench.choose(AUDIT[1], "x", classifier="two")
    assert bench.freeze("one") == one


def test_two_classifiers_with_the_same_labels_of_the_same_items_have_two_sets() -> None:
    bench = workbench(classifier("one"), classifier("two"))
    decided = bench.decide(AUDIT[0])
    for name in ("one", "two"):
        bench.review(decided, "include", classifier=name)
    assert bench.freeze("one").id != bench.freeze("two").id


def test_the_number_of_new_labels_is_what_a_freeze_would_add(bench: Workbench) -> None:
    def new() -> int:
        overview = queries.overview(bench.store, model=bench.model.identity, allow_live=True)
        return overview.new_labels

    assert new() == 0
    first = bench.label(AUDIT[0], "include")
    bench.label(AUDIT[1], "include")
    assert new() == 2
    bench.freeze()
    assert new() == 0
    bench.label(AUDIT[1], "exclude")
    bench.label(AUDIT[2], "exclude")
    bench.undo(first)
    assert new() == 2


def test_a_freeze_is_told_in_an_event_without_item_text(bench: Workbench) -> None:
    bench.label(AUDIT[0], "include", "marker of the text")
    frozen = bench.freeze()
    event = bench.store.all(Event).get(kind="held-out-set-frozen")
    assert event.detail == {
        "set": frozen.id,
        "classifier": "screening",
        "size": 1,
        "labels": {"include": 1, "exclude": 0},
    }


def test_the_database_itself_refuses_a_second_item_of_one_identity_and_an_empty_set(bench: Workbench) -> None:
    bench.label(AUDIT[0], "include")
    frozen = bench.freeze()
    row = HeldOutItem.objects.get(held_out_set_id=frozen.id)
    row.pk, row.position = None, 1
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)
    with pytest.raises(IntegrityError), transaction.atomic():
        HeldOutSet.objects.filter(id=frozen.id).update(size=0)
    for propensity in (0.0, 1.5, -1.0):
        with pytest.raises(IntegrityError), transaction.atomic():
            HeldOutItem.objects.update(propensity=propensity)


@pytest.mark.django_db(transaction=True)
def test_callers_who_race_freeze_one_set(bench: Workbench) -> None:
    for name in AUDIT[:5]:
        bench.label(name, "include")
    frozen: list[SetSummary] = []
    assert in_threads(6, lambda number: frozen.append(bench.freeze())) == []
    assert len({summary.id for summary in frozen}) == 1
    assert len({summary.frozen_at for summary in frozen}) == 1
    assert HeldOutSet.objects.count() == 1
    assert HeldOutItem.objects.count() == 5
    assert bench.store.all(Event).filter(kind="held-out-set-frozen").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_freeze_that_races_with_reviews_is_a_set_of_one_moment_and_the_next_one_holds_the_rest(
    bench: Workbench,
) -> None:
    decided = [bench.decide(name) for name in AUDIT]
    bench.review(decided[0], "include")
    frozen: list[SetSummary] = []

    def work(number: int) -> None:
        if number % 2:
            frozen.append(bench.freeze())
        else:
            bench.review(decided[1 + number // 2], "include", f"raced-{number}")

    assert in_threads(8, work) == []
    for summary in frozen:
        assert len(content(summary)) == summary.size == summary.label_counts["include"]
    bench.freeze()
    assert content(bench.freeze()) == sorted((item.item_id, "include", 1.0) for item in decided[:5])
    assert Classifier.objects.get().current_set_id == bench.freeze().id
