"""The interface that an application calls: open, decide, review, learn, freeze, look at the bound, evaluate, read."""

import inspect
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from pytest_django.fixtures import Settings

from cyclotron import queries
from cyclotron.actions.evaluating import cancel_evaluation
from cyclotron.adapters.local import LocalModel
from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from cyclotron.core.errors import (
    DefinitionChangedError,
    EvaluationInterruptedError,
    EvaluationRunningError,
    InvalidDefinitionError,
    InvalidEvaluationError,
    LiveCallsOffError,
    ModelError,
    NoHeldOutSetError,
    NoSuchClassifierError,
    NoSuchCyclotronError,
    NoSuchReportError,
    NothingToScoreError,
    RequestCeilingError,
)
from cyclotron.core.report_format import read_report
from cyclotron.engine import Cyclotron
from cyclotron.models import (
    CachedAnswer,
    Decision,
    Evaluation,
    LearningStep,
    Permit,
    Report,
    Review,
    StoredCyclotron,
    Version,
)
from cyclotron.store import Store
from kapsoweb.accounts.access import access_record, local_caller
from kapsoweb.accounts.errors import InvalidNameError, RecordNotFound
from kapsoweb.accounts.models import AuditEntry, Holding
from kapsoweb.foundation.errors import KapsoError
from tests.support.cyclotrons import NOW, CountingModel, classifier, definition, identities
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db]

BROKEN = ["a\x00", "\ud800", "x\udfff"]


def opened(name: str = "tried", *classifiers: ClassifierDefinition, **settings: Any) -> Cyclotron:
    model = settings.pop("model", None) or CountingModel()
    return Cyclotron.open(f"lab:{name}", definition(*classifiers), model, **settings)


def decide(cyclotron: Cyclotron, name: str, **given: Any) -> Any:
    return async_to_sync(cyclotron.decide)(name, given.pop("values", {"text": f"text of {name}"}), **given)


def evaluate(cyclotron: Cyclotron, **given: Any) -> dict[str, Any]:
    return async_to_sync(cyclotron.evaluate_held_out)(**given)


def reviewed(cyclotron: Cyclotron, count: int = 4, label: str = "include", **given: Any) -> None:
    """Audit items with a label each."""
    for name in identities("audit", count):
        decided = decide(cyclotron, name)
        cyclotron.review(f"review of {name} {given}", decided.decision_id, label, reviewer="ada", **given)


# Open --------------------


def test_opening_creates_a_cyclotron_of_the_local_account_once_and_finds_it_again() -> None:
    first = opened()
    again = opened()
    assert first.store == again.store
    assert StoredCyclotron.objects.count() == Holding.objects.count() == 1
    assert access_record(local_caller(), "cyclotron", first.store.cyclotron_id).name == "tried"
    assert opened("another").store != first.store
    assert Version.objects.filter(number=1).count() == 2


@pytest.mark.parametrize(
    "changed",
    [
        CyclotronDefinition("another seed", (classifier(),)),
        definition(classifier(question="Is it?")),
        definition(classifier(labels=("exclude", "include"))),
        definition(classifier(), classifier("second")),
        definition(classifier("renamed")),
    ],
    ids=lambda changed: changed.fingerprint[:8],
)
def test_a_store_refuses_a_changed_definition_and_stays_as_it_is(changed: CyclotronDefinition) -> None:
    first = opened()
    before = StoredCyclotron.objects.values().get()
    with pytest.raises(DefinitionChangedError) as caught:
        Cyclotron.open("lab:tried", changed, CountingModel())
    assert caught.value.id == "definition-changed"
    assert StoredCyclotron.objects.values().get() == before
    assert opened().store == first.store


@pytest.mark.parametrize("location", ["tried", "", "lab", "LAB:tried", "file:tried", " lab:tried"])
def test_a_location_is_written_lab_and_a_name(location: str) -> None:
    with pytest.raises(InvalidDefinitionError):
        Cyclotron.open(location, definition(), CountingModel())


@pytest.mark.parametrize("name", ["", " ", "a b", "-a", "x" * 65, "a/b", "caf\u00e9", "a\n", *BROKEN, "lab:a"])
def test_a_name_that_breaks_the_rule_is_refused_and_creates_nothing(name: str) -> None:
    with pytest.raises(InvalidNameError):
        opened(name)
    assert not StoredCyclotron.objects.exists()
    assert not Holding.objects.exists()


@pytest.mark.parametrize("record_id", [*BROKEN, "", "cy_unknown", "x" * 10_000])
def test_a_record_that_cannot_exist_is_not_found_like_any_other(record_id: str) -> None:
    with pytest.raises(RecordNotFound):
        access_record(local_caller(), "cyclotron", record_id)


@pytest.mark.django_db(transaction=True)
def test_openers_who_race_get_one_cyclotron() -> None:
    found: list[Store] = []
    assert in_threads(5, lambda number: found.append(opened().store)) == []
    assert len(set(found)) == 1
    assert StoredCyclotron.objects.count() == Holding.objects.count() == 1


def test_a_cyclotron_that_is_gone_is_missing_in_words() -> None:
    with pytest.raises(NoSuchCyclotronError):
        Store("default", "cy_unknown").cyclotron()
    with pytest.raises(KapsoError):
        Cyclotron(Store("default", "cy_unknown"), CountingModel()).freeze_held_out_set()


# The audit log, and calls that are switched off --------------------


def audited() -> list[str]:
    entries = list(AuditEntry.objects.order_by("id"))
    assert {(entry.actor, entry.door) for entry in entries} <= {("command line", "python")}
    return [entry.action for entry in entries]


def learn(cyclotron: Cyclotron) -> Any:
    return async_to_sync(cyclotron.learn)()


def test_each_write_leaves_one_audit_entry_and_what_changes_nothing_leaves_none() -> None:
    cyclotron = Cyclotron.open("lab:tried", definition(learn_every=1), CountingModel())
    decided = decide(cyclotron, identities("training", 1)[0])
    said: dict[str, Any] = {"review_id": "said", "decision_id": decided.decision_id, "label": "include"}
    for _ in range(2):
        assert cyclotron.review(**said, reviewer="ada").label == "include"
    assert learn(cyclotron)
    assert not learn(cyclotron)
    assert [cyclotron.undo("said", actor="ben") for _ in range(2)] == [True, False]
    reviewed(cyclotron, 1)
    assert cyclotron.freeze_held_out_set() == cyclotron.freeze_held_out_set()
    evaluate(cyclotron)
    assert audited() == [
        "cyclotron.created",
        "item.decided",
        "review.recorded",
        "cyclotron.learned",
        "review.undone",
        "item.decided",
        "review.recorded",
        "set.frozen",
        "evaluation.confirmed",
    ]
    first = Review.objects.get(identity="said")
    assert (first.reviewer, first.undone_by) == ("ada", "ben")


def test_what_is_refused_leaves_no_audit_entry() -> None:
    cyclotron = opened()
    decided = decide(cyclotron, "item")
    before = audited()
    for refused in (
        lambda: decide(cyclotron, "item", values={"text": "other"}),
        lambda: cyclotron.review("said", decided.decision_id, "maybe", reviewer="ada"),
        lambda: cyclotron.review("said", decided.decision_id, "include", reviewer=""),
        lambda: cyclotron.undo("said", actor="ada"),
        cyclotron.freeze_held_out_set,
        lambda: evaluate(cyclotron),
    ):
        with pytest.raises(KapsoError):
            refused()
    assert audited() == before


@pytest.mark.parametrize("host", [False, True])
def test_with_calls_off_nothing_is_asked_and_the_rest_goes_on(settings: Settings, host: bool) -> None:
    cyclotron = Cyclotron.open("lab:tried", definition(learn_every=1), CountingModel())
    for name in identities("training", 2):
        cyclotron.review(name, decide(cyclotron, name).decision_id, "include", reviewer="ada")
    reviewed(cyclotron, 2)
    cyclotron.freeze_held_out_set()
    if host:
        cyclotron = Cyclotron(cyclotron.store, cyclotron.model)
    model = CountingModel(identity="counting/2")
    cyclotron.model = model
    settings.KAPSOWEB_ALLOW_LIVE = False
    before = [kind.objects.count() for kind in (Decision, LearningStep, Evaluation, Permit, AuditEntry)]
    for refused in (lambda: decide(cyclotron, "new"), lambda: learn(cyclotron), lambda: evaluate(cyclotron)):
        with pytest.raises(LiveCallsOffError):
            refused()
    assert model.count == 0
    assert [kind.objects.count() for kind in (Decision, LearningStep, Evaluation, Permit, AuditEntry)] == before
    assert cyclotron.undo(identities("training", 1)[0], actor="ada")
    assert cyclotron.freeze_held_out_set().size == 2
    assert cyclotron.held_out_request_bound() == 2


def test_a_host_whose_settings_know_no_flag_calls_its_model_and_keeps_its_own_records(settings: Settings) -> None:
    store = opened().store
    before = audited()
    del settings.KAPSOWEB_ALLOW_LIVE
    cyclotron = Cyclotron(store, CountingModel())
    reviewed(cyclotron, 1)
    cyclotron.freeze_held_out_set()
    assert evaluate(cyclotron)["heldOutSet"]["size"] == 1
    assert learn(cyclotron) == []
    assert audited() == before


# The whole way --------------------


def test_what_may_call_a_model_is_asynchronous_and_the_rest_is_not() -> None:
    for name in ("decide", "learn", "evaluate_held_out"):
        assert inspect.iscoroutinefunction(getattr(Cyclotron, name)), name
    for name in ("freeze_held_out_set", "held_out_request_bound", "held_out_reports", "review", "undo", "labels"):
        assert not inspect.iscoroutinefunction(getattr(Cyclotron, name)), name


def test_from_a_decision_to_a_report() -> None:
    with opened(max_requests=8) as cyclotron:
        reviewed(cyclotron, 4)
        assert cyclotron.ceiling.left == 4
        frozen = cyclotron.freeze_held_out_set()
        assert frozen.size == 4
        assert cyclotron.held_out_request_bound() == 0, "decide has filled the cache that evaluations read"
        report = evaluate(cyclotron)
        assert read_report(report) == report
        assert report["heldOutSet"]["id"] == frozen.id
        assert report["change"]["verdict"] == "nothing-learned-yet"
        assert report["cost"]["newRequests"] == 0
        assert (report["before"]["version"], report["after"]["version"]) == (1, 1)
        assert list(cyclotron.held_out_reports()) == [report]
        assert cyclotron.ceiling.left == 4


def test_before_and_after_are_asked_once_each_and_a_second_evaluation_is_free() -> None:
    cyclotron = opened()
    reviewed(cyclotron, 4)
    cyclotron.freeze_held_out_set()
    other = opened(model=CountingModel(identity="counting/2"))
    assert other.held_out_request_bound() == 4, "one endpoint for both columns while nothing is learned"
    first = evaluate(other)
    assert first["cost"]["newRequests"] == 4
    assert other.held_out_request_bound() == 0
    second = evaluate(other)
    assert (second["cost"]["newRequests"], second["cost"]["cachedRequests"]) == (0, 4)
    assert other.model.count == 4
    decide(other, identities("audit", 1)[0])
    assert other.model.count == 4, "evaluations fill the cache that decide reads"
    assert second["items"] == first["items"]
    assert second["headline"] == first["headline"]


def test_nothing_is_learned_fitted_promoted_or_reviewed_during_an_evaluation() -> None:
    cyclotron = Cyclotron.open("lab:tried", definition(learn_every=1), CountingModel())
    for name in identities("training", 6):
        cyclotron.review(name, decide(cyclotron, name).decision_id, "include", reviewer="ada")
    reviewed(cyclotron, 3)
    cyclotron.freeze_held_out_set()
    before = [model.objects.count() for model in (Version, LearningStep, Review)]
    evaluate(cyclotron)
    assert [model.objects.count() for model in (Version, LearningStep, Review)] == before
    assert cyclotron.status().next_learning_in == 0
    assert [learned.step for learned in async_to_sync(cyclotron.learn)()] == [1]


def test_an_evaluation_that_could_pass_the_ceiling_is_refused_before_any_call() -> None:
    reviewed(opened(), 4)
    opened().freeze_held_out_set()
    cyclotron = opened(model=CountingModel(identity="counting/2"), max_requests=3)
    with pytest.raises(RequestCeilingError) as caught:
        evaluate(cyclotron)
    assert caught.value.detail["requestBound"] == 4
    assert cyclotron.model.count == 0
    assert not Evaluation.objects.exists()
    assert evaluate(opened(model=cyclotron.model, max_requests=4))["cost"]["newRequests"] == 4


class StopError(Exception):
    """What a guard of these tests raises."""


def test_a_guard_that_raises_stops_an_evaluation_before_its_permit_and_what_was_answered_is_kept() -> None:
    reviewed(opened(), 4)
    opened().freeze_held_out_set()
    cyclotron = opened(model=CountingModel(identity="counting/2"))
    seen: list[str] = []

    def guard(request: DecisionRequest) -> None:
        seen.append(request.text)
        if len(seen) == 3:
            raise StopError

    with pytest.raises(StopError):
        evaluate(cyclotron, execution_guard=guard)
    assert cyclotron.model.count == 2
    assert Permit.objects.count() == 2
    row = Evaluation.objects.get()
    assert (row.state, row.reason, row.permits_taken, row.unanswered) == ("interrupted", "guard", 2, 2)
    assert not Report.objects.exists()
    assert cyclotron.held_out_request_bound() == 2
    assert evaluate(cyclotron)["cost"]["newRequests"] == 2


def test_an_evaluation_without_a_report_is_an_error_that_says_why() -> None:
    cyclotron = opened()
    reviewed(cyclotron, 2)
    cyclotron.freeze_held_out_set()
    other = opened(model=CountingModel(identity="counting/2"))

    def cancel(request: DecisionRequest) -> None:
        cancel_evaluation(other.store, Evaluation.objects.get().id, now=NOW)

    with pytest.raises(EvaluationInterruptedError) as caught:
        evaluate(other, execution_guard=cancel)
    assert caught.value.detail["reason"] == "cancelled"


def test_an_evaluation_inside_a_running_one_is_refused() -> None:
    reviewed(opened(), 2)
    opened().freeze_held_out_set()
    cyclotron = opened(model=CountingModel(identity="counting/2"))
    refused: list[str] = []

    def again(request: DecisionRequest) -> None:
        with pytest.raises(EvaluationRunningError) as caught:
            cyclotron._evaluate(None, None, 10, None)
        refused.append(caught.value.id)

    evaluate(cyclotron, execution_guard=again)
    assert refused == ["evaluation-running"] * 2
    assert Report.objects.count() == 1


def test_an_earlier_set_is_evaluated_by_its_id() -> None:
    cyclotron = opened()
    reviewed(cyclotron, 2)
    first = cyclotron.freeze_held_out_set()
    reviewed(cyclotron, 4, explanation="again")
    second = cyclotron.freeze_held_out_set()
    assert [evaluate(cyclotron)["heldOutSet"]["size"], evaluate(cyclotron, set_id=first.id)["heldOutSet"]["size"]] == [
        4,
        2,
    ]
    assert evaluate(cyclotron, set_id=second.id)["heldOutSet"]["id"] == second.id


def test_the_last_ten_reports_come_oldest_first() -> None:
    cyclotron = opened()
    reviewed(cyclotron, 1)
    cyclotron.freeze_held_out_set()
    made = [evaluate(cyclotron, minimum_per_label=number) for number in range(1, 13)]
    assert [report["minimumPerLabel"] for report in cyclotron.held_out_reports()] == list(range(3, 13))
    assert list(cyclotron.held_out_reports()) == made[2:]


def test_each_classifier_is_frozen_and_evaluated_by_its_name() -> None:
    cyclotron = opened("tried", classifier("one"), classifier("two", labels=("x", "y"), question="Which?"))
    reviewed(cyclotron, 2, classifier="one")
    reviewed(cyclotron, 3, "y", classifier="two")
    assert cyclotron.freeze_held_out_set("one").size == 2
    assert cyclotron.freeze_held_out_set(classifier="two").size == 3
    report = evaluate(cyclotron, classifier="two")
    assert (report["classifier"]["id"], report["classifier"]["labels"]) == ("two", ["x", "y"])
    assert list(cyclotron.held_out_reports()) == []
    assert list(cyclotron.held_out_reports("two")) == [report]
    with pytest.raises(NoSuchClassifierError) as caught:
        cyclotron.freeze_held_out_set("three")
    assert caught.value.detail == {"classifiers": ["one", "two"]}


def test_without_a_set_the_bound_and_an_evaluation_say_what_is_missing() -> None:
    cyclotron = opened()
    for work in (cyclotron.held_out_request_bound, lambda: evaluate(cyclotron)):
        with pytest.raises(NoHeldOutSetError, match="freeze"):
            work()
    assert list(cyclotron.held_out_reports()) == []


def test_a_set_whose_items_all_train_now_has_nothing_to_score() -> None:
    cyclotron = opened()
    reviewed(cyclotron, 2)
    cyclotron.freeze_held_out_set()
    reviewed(cyclotron, 1, selected_by="reviewer")
    assert evaluate(cyclotron)["heldOutSet"]["excludedSinceFrozen"] == 1
    reviewed(cyclotron, 2, selected_by="reviewer", explanation="too")
    with pytest.raises(NothingToScoreError):
        cyclotron.held_out_request_bound()


@pytest.mark.parametrize("unknown", [*BROKEN, "", "f" * 64, "x" * 10_000])
def test_a_set_or_report_or_evaluation_of_no_such_id_is_refused_in_words(unknown: str) -> None:
    cyclotron = opened()
    reviewed(cyclotron, 1)
    cyclotron.freeze_held_out_set()
    with pytest.raises(KapsoError):
        queries.report_record(cyclotron.store, unknown)
    with pytest.raises(KapsoError):
        cancel_evaluation(cyclotron.store, unknown, now=NOW)
    with pytest.raises(KapsoError):
        evaluate(cyclotron, set_id=unknown)


def test_a_report_of_another_cyclotron_is_as_unknown_as_one_that_does_not_exist() -> None:
    cyclotron = opened()
    reviewed(cyclotron, 1)
    cyclotron.freeze_held_out_set()
    evaluate(cyclotron)
    with pytest.raises(NoSuchReportError):
        queries.report_record(opened("another").store, Report.objects.get().id)


def test_an_undo_is_told_once() -> None:
    cyclotron = opened()
    reviewed(cyclotron, 1)
    (label,) = cyclotron.labels()
    identity = Review.objects.get().identity
    assert [cyclotron.undo(identity, actor="ada"), cyclotron.undo(identity, actor="ada")] == [True, False]
    assert (label.label, cyclotron.labels()) == ("include", [])
    assert [event.kind for event in cyclotron.events(after=2).events] == ["review-recorded", "review-undone"]


def test_the_status_counts_items_labels_and_versions() -> None:
    cyclotron = opened()
    reviewed(cyclotron, 3)
    for name in identities("training", 2):
        cyclotron.review(name, decide(cyclotron, name).decision_id, "exclude", reviewer="ada")
    decide(cyclotron, identities("development", 1)[0])
    status = cyclotron.status()
    assert status.items == {"audit": 3, "development": 1, "training": 2}
    assert (status.decisions, status.training_reviews) == (6, 2)
    assert status.reviews == {"include": 3, "exclude": 2}
    assert (status.version, status.refits, status.versions) == (1, 0, 1)


def test_the_embedded_model_decides_without_a_network() -> None:
    cyclotron = opened(model=LocalModel())
    first, again = decide(cyclotron, "a"), decide(cyclotron, "b", values={"text": "text of a"})
    assert first.outputs == again.outputs
    assert CachedAnswer.objects.count() == 1


@pytest.mark.parametrize("ceiling", [float("nan"), 2.0, True, "3", -1])
def test_a_ceiling_that_is_no_whole_number_is_refused_when_opening(ceiling: Any) -> None:
    with pytest.raises(InvalidEvaluationError, match="max_requests"):
        opened(max_requests=ceiling)


def test_a_learning_interval_given_again_is_the_stores_and_one_that_is_not_given_leaves_it() -> None:
    def opened_with(learn_every: int | None) -> Cyclotron:
        return Cyclotron.open("lab:tried", replace(definition(), learn_every=learn_every), CountingModel())

    assert [opened_with(given).status().next_learning_in for given in (None, 7, None, 7)] == [20, 7, 7, 7]
    kinds = [event.kind for event in opened_with(None).events().events]
    assert kinds == ["created", "learning-interval-set"]


@pytest.mark.django_db(transaction=True)
def test_the_interface_is_used_as_it_is_documented_inside_a_coroutine() -> None:
    async def used() -> tuple[int, int, list[Any]]:
        cyclotron = opened()
        for name in identities("audit", 2):
            decided = await cyclotron.decide(name, {"text": f"text of {name}"})
            cyclotron.review(f"review of {name}", decided.decision_id, "include", reviewer="ada")
        summary = cyclotron.freeze_held_out_set()
        bound = cyclotron.held_out_request_bound()
        report = await cyclotron.evaluate_held_out()
        history = cyclotron.held_out_reports()
        return summary.size, bound, [history == [report], cyclotron.status().decisions, len(cyclotron.labels())]

    assert async_to_sync(used)() == (2, 0, [True, 2, 2])


class Odd(CountingModel):
    """Answers with a share that is none."""

    def answer(self, request: DecisionRequest) -> Answer:
        return replace(super().answer(request), probabilities={"include": float("nan"), "exclude": 0.5})


def test_an_answer_that_no_decision_can_rest_on_is_refused_and_not_kept() -> None:
    with pytest.raises(ModelError, match="share"):
        decide(opened(model=Odd()), "item")
    assert not CachedAnswer.objects.exists()
    assert not Decision.objects.exists()
