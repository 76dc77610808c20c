"""Reviews, corrections, closes without a label, undoes: which label counts, who selected it, what it is used for."""

from typing import Any

import pytest

from cyclotron.actions import record_review, undo_review
from cyclotron.actions.queueing import answer_assignment, take_item
from cyclotron.actions.reviewing import RecordedReview
from cyclotron.core.draws import selection_draw
from cyclotron.core.errors import (
    InvalidItemError,
    InvalidReviewError,
    NoSuchClassifierError,
    NoSuchDecisionError,
    NoSuchReviewError,
    ReviewChangedError,
)
from cyclotron.models import Event, Review
from kapsoweb.foundation.canonical import UnreadableValueError
from kapsoweb.foundation.errors import KapsoError
from tests.support.cyclotrons import NOW, SEED, CountingModel, Workbench, classifier, identities, workbench
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db]

BROKEN = ["a\x00", "\ud800", "x\udfff"]


@pytest.fixture
def bench() -> Workbench:
    return workbench()


def unsent(bench: Workbench, partition: str = "training") -> Any:
    """A decision that the cyclotron did not send to review."""
    name = next(name for name in identities(partition, 60) if selection_draw(SEED, name) > 0.5)
    decided = bench.decide(name, review_rate=0.3)
    assert not decided.sent_to_review
    return decided


# Identity and content --------------------


@pytest.mark.parametrize("identity", ["as_1", "as_", "AS_1", "As_01jkm3x7e8r5v9z2q4t6w8y0ad"])
def test_identities_of_assignments_are_for_whoever_holds_the_item(bench: Workbench, identity: str) -> None:
    decided = bench.decide("a")
    events = bench.store.all(Event).count()
    with pytest.raises(InvalidReviewError) as refused:
        bench.review(decided, "include", identity)
    assert refused.value.detail["review"] == identity
    assert (bench.store.all(Review).count(), bench.store.all(Event).count()) == (0, events)
    for other in ("as", "assigned", "has_1", " as_1"):
        assert bench.review(decided, "include", other).new


def test_an_assignment_is_answered_directly_by_whoever_holds_its_item_alone(bench: Workbench) -> None:
    first, second = bench.decide("a"), bench.decide("b")
    held = take_item(bench.store, reviewer="ada", now=NOW)
    assert held is not None

    def review(reviewer: str, decision_id: str) -> RecordedReview:
        return record_review(
            bench.store, identity=held.id, decision_id=decision_id, label="include", reviewer=reviewer, now=NOW
        )

    for reviewer, decision_id in (("ben", first.decision_id), ("ada", second.decision_id)):
        with pytest.raises(InvalidReviewError):
            review(reviewer, decision_id)
    assert not bench.store.all(Review).exists()
    assert review("ada", first.decision_id).new
    assert not review("ada", first.decision_id).new
    assert not answer_assignment(bench.store, held.id, reviewer="ada", label="include", now=NOW).new
    # Undone, its item waits again, and is handed out by another assignment: the answer of this one is taken back.
    undo_review(bench.store, identity=held.id, actor="ada", now=NOW)
    again = take_item(bench.store, reviewer="ada", now=NOW)
    assert again is not None
    assert (again.item_id, again.id == held.id) == ("a", False)


def test_the_same_review_again_records_nothing_and_says_so(bench: Workbench) -> None:
    decided = bench.decide("a")
    said = {"explanation": "because", "reason_code": "E3"}
    first = bench.review(decided, "include", "r-1", **said)
    events = bench.store.all(Event).count()
    again = bench.review(decided, "include", "r-1", **said)
    assert (first.new, again.new) == (True, False)
    assert (again.label, again.selected_by, again.item_id) == ("include", "program", "a")
    assert bench.store.all(Review).count() == 1
    assert bench.store.all(Event).count() == events


@pytest.mark.parametrize(
    "changed",
    [
        {"label": "exclude"},
        {"label": None},
        {"explanation": "because "},
        {"reason_code": "E4"},
        {"reviewer": "Ada"},
        {"selected_by": "reviewer"},
        {"decision": "another"},
        {"classifier": "other"},
    ],
    ids=str,
)
def test_the_same_identity_with_other_content_is_an_error_and_changes_nothing(changed: dict[str, Any]) -> None:
    bench = workbench(classifier("screening"), classifier("other", question="And?"))
    decided, another = bench.decide("a"), bench.decide("b")
    content: dict[str, Any] = {"label": "include", "explanation": "because", "reason_code": "E3"}
    bench.review(decided, identity="r-1", **content)
    events = bench.store.all(Event).count()
    decision = another if changed.pop("decision", None) else decided
    with pytest.raises(ReviewChangedError) as caught:
        bench.review(decision, identity="r-1", **content | changed)
    assert caught.value.detail == {"review": "r-1"}
    assert "because" not in str(caught.value.as_json())
    row = bench.store.all(Review).get()
    assert (row.label, row.explanation, row.reason_code, row.reviewer) == ("include", "because", "E3", "ada")
    assert bench.store.all(Event).count() == events


def test_review_identities_are_compared_byte_for_byte(bench: Workbench) -> None:
    decided = bench.decide("a")
    names = ["r", "R", "r ", "caf\u00e9", "cafe\u0301", "x" * 512]
    assert [bench.review(decided, "include", name).new for name in names] == [True] * len(names)
    assert [bench.review(decided, "include", name).new for name in names] == [False] * len(names)


def test_two_cyclotrons_share_no_review_identities() -> None:
    one, other = workbench(), workbench()
    assert one.review(one.decide("a"), "include", "r-1").new
    assert other.review(other.decide("a"), "exclude", "r-1").new


@pytest.mark.django_db(transaction=True)
def test_one_review_sent_by_many_threads_is_recorded_once(bench: Workbench) -> None:
    decided = bench.decide("a")
    assert in_threads(6, lambda number: bench.review(decided, "include", "r-1")) == []
    assert bench.store.all(Review).count() == 1
    assert bench.store.all(Event).filter(kind="review-recorded").count() == 1


@pytest.mark.django_db(transaction=True)
def test_reviews_that_race_are_one_first_label_and_its_corrections(bench: Workbench) -> None:
    decided = bench.decide("a")
    assert in_threads(6, lambda number: bench.review(decided, ("include", "exclude")[number % 2], f"r-{number}")) == []
    rows = list(bench.store.all(Review).order_by("id"))
    assert [row.corrects_id for row in rows] == [None, *(row.id for row in rows[:-1])]


# What is refused --------------------


@pytest.mark.parametrize("label", ["maybe", "", "Include", "include ", "caf\u00e9", 1, True, ["include"]])
def test_a_label_that_is_not_declared_is_refused(bench: Workbench, label: Any) -> None:
    decided = bench.decide("a")
    with pytest.raises(InvalidReviewError):
        bench.review(decided, label)
    assert not bench.store.all(Review).exists()


@pytest.mark.parametrize("part", ["identity", "reviewer", "explanation", "reason_code", "selected_by", "label"])
@pytest.mark.parametrize("broken", BROKEN)
def test_text_that_no_database_could_store_is_refused(bench: Workbench, part: str, broken: str) -> None:
    given: dict[str, Any] = {"label": "include", part: broken}
    decided = bench.decide("a")
    with pytest.raises(KapsoError):
        bench.review(decided, **given)
    assert not bench.store.all(Review).exists()


@pytest.mark.parametrize("broken", [*BROKEN, "", "x" * 10_000, "dec_unknown"])
def test_a_decision_that_is_none_is_refused(bench: Workbench, broken: str) -> None:
    with pytest.raises((NoSuchDecisionError, UnreadableValueError)):
        record_review(bench.store, identity="r", decision_id=broken, label="include", reviewer="ada", now=NOW)


def test_a_decision_of_another_cyclotron_is_as_unknown_as_one_that_does_not_exist(bench: Workbench) -> None:
    strange = workbench().decide("a")
    with pytest.raises(NoSuchDecisionError):
        bench.review(strange, "include")


@pytest.mark.parametrize("broken", [*BROKEN, "", "x" * 10_000, "unknown"])
def test_a_classifier_that_is_none_is_refused(bench: Workbench, broken: str) -> None:
    decided = bench.decide("a")
    with pytest.raises((NoSuchClassifierError, UnreadableValueError)):
        bench.review(decided, "include", classifier=broken)


@pytest.mark.parametrize(
    "too_long",
    [{"identity": "x" * 513}, {"reviewer": "x" * 513}, {"reason_code": "x" * 65}, {"explanation": "x" * 20_001}],
    ids=lambda given: next(iter(given)),
)
def test_text_that_is_too_long_is_refused(bench: Workbench, too_long: dict[str, str]) -> None:
    decided = bench.decide("a")
    with pytest.raises((InvalidReviewError, InvalidItemError)):
        bench.review(decided, "include", **too_long)


@pytest.mark.parametrize(
    "longest",
    [
        {"identity": "x" * 512},
        {"reviewer": "\U0001f600" * 512},
        {"reason_code": "x" * 64},
        {"explanation": "x" * 20_000},
    ],
    ids=lambda given: next(iter(given)),
)
def test_text_of_the_greatest_length_is_kept(bench: Workbench, longest: dict[str, str]) -> None:
    assert bench.review(bench.decide("a"), "include", **longest).new


def test_a_review_needs_a_reviewer(bench: Workbench) -> None:
    decided = bench.decide("a")
    with pytest.raises(InvalidReviewError):
        bench.review(decided, "include", reviewer="")


@pytest.mark.parametrize("identity", [*BROKEN, "", "unknown", "x" * 10_000])
def test_undoing_a_review_that_is_none_is_refused_in_words(bench: Workbench, identity: str) -> None:
    with pytest.raises((NoSuchReviewError, UnreadableValueError)):
        undo_review(bench.store, identity=identity, actor="ada", now=NOW)


@pytest.mark.parametrize("actor", [*BROKEN, "", "x" * 513])
def test_an_undo_needs_the_name_of_who_does_it(bench: Workbench, actor: str) -> None:
    review = bench.label("a", "include")
    with pytest.raises((InvalidReviewError, UnreadableValueError)):
        undo_review(bench.store, identity=review.identity, actor=actor, now=NOW)
    assert bench.labels() == {"a": "include"}


# Who selected it --------------------


def test_a_review_of_what_was_sent_is_selected_by_the_reason_it_was_sent_for() -> None:
    bench = workbench(model=CountingModel(confidences={"unsure": 0.5, "sure": 0.9}))
    audit = next(name for name in identities("training", 60) if selection_draw(SEED, name) < 0.05)
    program, low = [name for name in identities("training", 60) if selection_draw(SEED, name) > 0.5][:2]
    assert bench.review(bench.decide(audit, "sure"), "include").selected_by == "audit"
    assert bench.review(bench.decide(program, "sure"), "include").selected_by == "program"
    decided = bench.decide(low, "unsure", review_rate=0.1, low_confidence=0.6)
    assert bench.review(decided, "include").selected_by == "low-confidence"


def test_a_review_of_what_was_not_sent_is_selected_by_its_reviewer(bench: Workbench) -> None:
    decided = unsent(bench)
    assert bench.review(decided, "include").selected_by == "reviewer"
    assert bench.review(decided, "exclude", selected_by="reviewer").selected_by == "reviewer"


def test_a_caller_may_say_reviewer_of_what_was_sent_and_never_the_reverse(bench: Workbench) -> None:
    sent, not_sent = bench.decide("a"), unsent(bench)
    assert bench.review(sent, "include", selected_by="reviewer").selected_by == "reviewer"
    for said in ("program", "audit", "low-confidence", "somebody", ""):
        with pytest.raises(InvalidReviewError) as caught:
            bench.review(not_sent, "include", selected_by=said)
        assert caught.value.detail == {"selectedBy": "reviewer"}
    assert bench.store.all(Review).count() == 1


def test_a_caller_may_say_what_the_engine_derives_and_no_other_reason(bench: Workbench) -> None:
    assert bench.label("b", "include", selected_by="program").selected_by == "program"
    with pytest.raises(InvalidReviewError):
        bench.label("c", "include", selected_by="low-confidence")


def test_a_correction_inherits_the_selection_of_the_label_it_corrects(bench: Workbench) -> None:
    (name,) = identities("audit", 1)
    bench.choose(name, "include")
    corrected = bench.label(name, "exclude")
    assert (corrected.selected_by, corrected.is_correction) == ("reviewer", True)
    assert bench.labels("training") == {name: "exclude"}


def test_a_correction_keeps_the_first_reason_though_its_decision_has_another() -> None:
    bench = workbench(model=CountingModel(confidences={"unsure": 0.5}))
    decided = unsent(bench)
    chosen = bench.review(decided, "include")
    sent = bench.decide(decided.item_id)
    assert (sent.sent_to_review, sent.reason) == (True, "program")
    assert bench.review(sent, "exclude").selected_by == "reviewer"
    bench.undo(chosen)
    assert bench.review(sent, "include").selected_by == "reviewer"


def test_a_reviewer_who_chooses_an_item_to_correct_takes_it_to_training(bench: Workbench) -> None:
    (name,) = identities("development", 1)
    bench.label(name, "include")
    assert bench.labels("development") == {name: "include"}
    assert bench.choose(name, "exclude").selected_by == "reviewer"
    assert bench.labels("development") == {}
    assert bench.labels("training") == {name: "exclude"}


# Undo and close --------------------


def test_an_undo_restores_the_earlier_label_exactly(bench: Workbench) -> None:
    (name,) = identities("audit", 1)
    bench.label(name, "include")
    before = bench.current()
    corrected = bench.label(name, "exclude")
    assert bench.labels("audit") == {name: "exclude"}
    assert bench.undo(corrected) is True
    assert bench.current() == before


def test_an_undo_of_an_earlier_label_leaves_the_later_one(bench: Workbench) -> None:
    first = bench.label("a", "include")
    second = bench.label("a", "exclude")
    bench.undo(first)
    assert bench.labels() == {"a": "exclude"}
    bench.undo(second)
    assert bench.labels() == {}


def test_an_undo_twice_is_one_undo(bench: Workbench) -> None:
    review = bench.label("a", "include")
    assert bench.undo(review) is True
    at, events = bench.store.all(Review).get().undone_at, bench.store.all(Event).count()
    assert bench.undo(review) is False
    assert bench.store.all(Review).get().undone_at == at
    assert bench.store.all(Event).count() == events


@pytest.mark.django_db(transaction=True)
def test_one_undo_sent_by_many_threads_happens_once(bench: Workbench) -> None:
    review = bench.label("a", "include")
    said: list[bool] = []
    assert in_threads(5, lambda number: said.append(bench.undo(review))) == []
    assert sorted(said) == [False] * 4 + [True]
    assert bench.store.all(Event).filter(kind="review-undone").count() == 1


def test_a_review_that_was_undone_is_not_recorded_again_under_its_identity(bench: Workbench) -> None:
    decided = bench.decide("a")
    bench.undo(bench.review(decided, "include", "r-1"))
    assert bench.review(decided, "include", "r-1").new is False
    assert bench.labels() == {}
    assert bench.review(decided, "include", "r-2").new
    assert bench.labels() == {"a": "include"}


def test_a_label_after_an_undo_is_a_first_label_again_and_not_a_correction(bench: Workbench) -> None:
    (name,) = identities("audit", 1)
    chosen = bench.choose(name, "include")
    bench.undo(chosen)
    again = bench.label(name, "exclude")
    assert (again.is_correction, again.selected_by) == (False, "program")
    assert bench.labels("audit") == {name: "exclude"}


def test_a_close_without_a_label_takes_the_label_away_and_a_later_label_counts(bench: Workbench) -> None:
    (name,) = identities("audit", 1)
    close = bench.label(name, None)
    assert (close.label, close.is_correction, close.selected_by) == (None, False, "program")
    assert bench.labels() == {}
    first = bench.label(name, "include")
    assert first.is_correction is False
    assert bench.labels("audit") == {name: "include"}
    closed = bench.label(name, None)
    assert bench.labels() == {}
    bench.undo(closed)
    assert bench.labels("audit") == {name: "include"}
    bench.label(name, None)
    assert bench.label(name, "exclude").is_correction is True
    assert bench.labels("audit") == {name: "exclude"}


def test_a_close_is_of_one_classifier_and_leaves_the_others_label() -> None:
    bench = workbench(classifier("one"), classifier("two", labels=("x", "y"), question="Which?"))
    decided = bench.decide("a")
    bench.review(decided, "include", classifier="one")
    bench.review(decided, "y", classifier="two")
    bench.review(decided, None, classifier="one")
    assert bench.labels(classifier="one") == {}
    assert bench.labels(classifier="two") == {"a": "y"}
    with pytest.raises(InvalidReviewError):
        bench.review(decided, "y", classifier="one")


def test_without_a_name_the_first_classifier_is_reviewed() -> None:
    bench = workbench(classifier("two"), classifier("one", labels=("x", "y"), question="Which?"))
    bench.label("a", "include")
    assert bench.labels(classifier="two") == {"a": "include"}
    assert bench.labels(classifier="one") == {}


# What a label is used for --------------------


def test_labels_of_selected_items_are_used_by_their_partition(bench: Workbench) -> None:
    for partition in ("audit", "development", "training"):
        for name in identities(partition, 2):
            bench.label(name, "include")
        assert set(bench.labels(partition)) == set(identities(partition, 2))
    assert len(bench.labels()) == 6


@pytest.mark.parametrize("partition", ["audit", "development", "training"])
def test_a_label_of_an_item_that_a_person_chose_trains_with_weight_1(bench: Workbench, partition: str) -> None:
    decided = unsent(bench, partition)
    bench.review(decided, "include")
    assert bench.labels("training") == {decided.item_id: "include"}
    assert bench.labels("audit") == bench.labels("development") == {}
    assert bench.current()[decided.item_id].weight == 1.0


def test_a_label_of_a_selected_item_weighs_one_over_its_propensity(bench: Workbench) -> None:
    name = next(name for name in identities("audit", 60) if 0.05 < selection_draw(SEED, name) < 0.25)
    bench.review(bench.decide(name, review_rate=0.25), "include")
    assert bench.current("audit")[name].weight == 4.0
    bench.decide(name, review_rate=0.5)
    assert bench.current("audit")[name].weight == 2.0
    bench.decide(name, review_rate=0.1)
    assert bench.current("audit")[name].weight == 2.0


def test_an_active_review_that_a_person_chose_trains_the_item_even_under_a_later_selected_label(
    bench: Workbench,
) -> None:
    (name,) = identities("audit", 1)
    decided = bench.decide(name)
    chosen = bench.review(decided, None, selected_by="reviewer")
    bench.review(decided, "include")
    assert bench.labels("training") == {name: "include"}
    bench.undo(chosen)
    assert bench.labels("audit") == {name: "include"}


def test_labels_come_in_the_order_in_which_items_came(bench: Workbench) -> None:
    names = ["c", "a", "b"]
    for name in names:
        bench.decide(name)
    for name in reversed(names):
        bench.label(name, "include")
    assert list(bench.labels()) == names
