"""Learning: when it is due, what it may read, when it promotes, and that it ends the same however it was stopped."""

import functools
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pytest

from cyclotron.actions import learning
from cyclotron.actions.asking import Ceiling
from cyclotron.actions.replaying import replay_rows
from cyclotron.adapters.local import LocalModel
from cyclotron.core.configuration import Answer, Configuration, DecisionRequest, Endpoint
from cyclotron.core.draws import partition_of, selection_draw
from cyclotron.core.errors import ModelError, RequestCeilingError
from cyclotron.core.learning import LabelledText
from cyclotron.core.replay import ReplayRow
from cyclotron.models import (
    CachedAnswer,
    Event,
    Item,
    LearningStep,
    MlModelRecord,
    Version,
)
from cyclotron.plan import held_out_set_of, scored_items
from cyclotron.queries import status
from tests.support.arrivals import Held, arrivals, flipped, held
from tests.support.cyclotrons import SEED, CountingModel, Workbench, classifier, identities, ticking, workbench
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db]

ROWS = 48
EVERY = 7


@functools.cache
def in_one_go() -> Held:
    """What a cyclotron holds through which `ROWS` rows were replayed without a stop."""
    return held(learned(arrivals(ROWS)).store)


def learned(rows: Sequence[ReplayRow], **settings: Any) -> Workbench:
    """A cyclotron with the embedded model through which `rows` were replayed in one go."""
    bench = workbench(model=LocalModel(), learn_every=EVERY, **settings)
    replay_rows(bench.asker, rows)
    return bench


# The same however it was stopped --------------------


class CutError(Exception):
    """Ends a run at a point that no code expects."""


@dataclass
class Cut:
    """Raises `CutError` when it is passed for the `times`-th time."""

    times: int

    def __call__(self) -> None:
        self.times -= 1
        if self.times == 0:
            raise CutError


def interrupted(rows: Sequence[ReplayRow], cuts: Sequence[tuple[str, int]]) -> Workbench:
    """Replay `rows`, cut when a place was passed so many times, each time with a new open and a new model."""
    bench = workbench(model=LocalModel(), learn_every=EVERY)
    for where, times in cuts:
        cut, clock = Cut(times), ticking()
        fresh = replace(bench, model=LocalModel(), clock=clock)

        def cutting_clock(cut: Cut = cut, clock: Callable[[], datetime] = clock) -> datetime:
            cut()
            return clock()

        def guard(request: DecisionRequest, cut: Cut = cut) -> None:
            cut()

        def progress(done: int, total: int, cut: Cut = cut) -> None:
            cut()

        if where == "clock":
            fresh.clock = cutting_clock
        if where == "guard":
            fresh.guard = guard
        with pytest.raises(CutError):
            replay_rows(fresh.asker, rows, progress=progress if where == "progress" else None)
    replay_rows(replace(bench, model=LocalModel()).asker, rows)
    return bench


def test_a_replay_that_is_cut_short_anywhere_and_goes_on_ends_the_same() -> None:
    """Cut between a decision and its review, before and after learning, and in the midst of a learning step's calls."""
    cuts = [("clock", times) for times in (1, 2, 3, 4, 5, 20)]
    cuts += [("guard", 1), ("guard", 15), ("progress", 25), ("guard", 9), ("clock", 7), ("guard", 20), ("progress", 40)]
    again, reference = held(interrupted(arrivals(ROWS), cuts).store), in_one_go()
    assert {step[3] for step in reference.steps} > {"promoted"}
    assert len(reference.ml_models) >= 2
    for name in Held.__dataclass_fields__:
        assert getattr(again, name) == getattr(reference, name), name


def test_the_first_rows_and_then_the_whole_file_end_the_same_and_a_third_time_changes_nothing() -> None:
    rows = arrivals(ROWS)
    bench = workbench(model=LocalModel(), learn_every=EVERY)
    for first in (1, 20, 21, 40, ROWS, ROWS):
        done = replay_rows(replace(bench, model=LocalModel()).asker, rows[:first])
        assert (done.recorded + done.known, done.bad) == (first, ())
    assert (done.recorded, done.known, done.learned) == (0, ROWS, ())
    assert held(bench.store) == in_one_go()


def test_a_model_answers_the_same_whatever_the_order_of_the_keys_of_its_configuration() -> None:
    """A database may hand the keys of a JSON object back in another order."""
    configuration = Configuration.from_json(in_one_go().versions[-1][2])
    assert len(configuration.term_weights) > 30
    definition = classifier()
    models = []
    for shuffle in (list, lambda pairs: reversed(list(pairs)), sorted, lambda pairs: sorted(pairs, key=by_length)):
        again = Configuration(
            configuration.rubric,
            configuration.examples,
            tuple(replace(item, criteria=dict(shuffle(item.criteria.items()))) for item in configuration.questions),
            dict(shuffle(configuration.term_weights.items())),
        )
        endpoint = Endpoint(definition, again)
        assert endpoint.digest == Endpoint(definition, configuration).digest
        models.append((LocalModel(), endpoint))
    for row in arrivals(60, seed=1):
        one, *others = [model.answer(DecisionRequest("local/1", endpoint, row.text)) for model, endpoint in models]
        assert others == [one] * 3


def by_length(pair: tuple[str, float]) -> tuple[int, str]:
    """The order in which PostgreSQL keeps the keys of a JSON object."""
    return len(pair[0]), pair[0]


# What learning may read --------------------


@dataclass
class Proposals:
    """Every proposal that learning asked for: its reviews and the digest of what came back, by step seed and items."""

    made: dict[tuple[str, frozenset[str]], str] = field(default_factory=dict)
    reviews: list[LabelledText] = field(default_factory=list)


@pytest.fixture
def proposals(monkeypatch: pytest.MonkeyPatch) -> Proposals:
    """Listens in on `propose`."""
    found, propose = Proposals(), learning.propose

    def listen(definition: Any, current: Configuration, reviews: Sequence[LabelledText], *, seed: str) -> Configuration:
        proposed = propose(definition, current, reviews, seed=seed)
        found.reviews += reviews
        key = (seed, frozenset(review.item_id for review in reviews))
        found.made[key] = Endpoint(definition, proposed).digest
        return proposed

    monkeypatch.setattr(learning, "propose", listen)
    return found


def all_that_was_learned(bench: Workbench) -> str:
    """Every rubric, example, question, term weight, fit, step and event as one text."""
    held_now = held(bench.store)
    return json.dumps([held_now.versions, held_now.ml_models, held_now.steps, held_now.events])


def test_a_marker_in_audit_or_development_texts_never_shows_in_what_was_learned(proposals: Proposals) -> None:
    markers = {"audit": "zqaudit", "development": "zqdevelop", "training": "zqtrain"}
    bench = workbench(model=LocalModel(), learn_every=EVERY)
    rows = arrivals(ROWS, markers=markers)
    replay_rows(bench.asker, rows[: ROWS // 2])
    bench.freeze()
    replay_rows(bench.asker, rows[ROWS // 2 :])
    bench.freeze()
    told = all_that_was_learned(bench)
    assert bench.store.classifier().active_version.number > 1  # type: ignore[union-attr]
    assert MlModelRecord.objects.exists()
    assert "zqtrain" in told, "a marker that may be learned is, so one that is not would have been"
    assert "zqtraininclude" in told
    assert "zqaudit" not in told
    assert "zqdevelop" not in told
    assert {partition_of(SEED, review.item_id) for review in proposals.reviews} == {"training"}
    answers = json.dumps(list(bench.store.all(CachedAnswer).values_list("answer", flat=True)))
    assert "zq" not in answers


def test_an_audit_item_teaches_once_a_person_has_chosen_it_and_not_before(proposals: Proposals) -> None:
    bench = learned(arrivals(16, markers={"audit": "zqaudit"}))
    assert "zqaudit" not in all_that_was_learned(bench)
    chosen, *others = bench.store.all(Item).filter(partition="audit")
    assert others
    bench.choose(chosen.identity, "include", text=chosen.values["text"])
    for name in identities("training", EVERY, prefix="later-"):
        bench.label(name, "exclude", text="kidney surgery in a later trial")
    assert bench.learn() != []
    used = {review.item_id for review in proposals.reviews}
    assert chosen.identity in used
    assert not used & {item.identity for item in others}


def test_flipping_every_audit_label_changes_nothing_that_was_learned_or_decided() -> None:
    one, other = in_one_go(), held(learned(flipped(arrivals(ROWS), "audit")).store)
    assert one.reviews != other.reviews
    assert len(one.ml_models) >= 2
    for name in ("versions", "ml_models", "out_of_fold", "steps", "decisions"):
        assert getattr(one, name) == getattr(other, name), name


def test_flipping_every_development_label_changes_no_proposal(proposals: Proposals) -> None:
    rows = arrivals(ROWS)
    one = learned(rows)
    first, proposals.made = proposals.made, {}
    other = learned(flipped(rows, "development"))
    assert held(one.store).steps != held(other.store).steps, "development labels do decide what is promoted"
    seeds = {seed for seed, _ in first}
    assert len(seeds) == LearningStep.objects.filter(classifier=one.store.classifier()).count() >= 3
    assert {seed for seed, _ in proposals.made} == seeds
    both = first.keys() & proposals.made.keys()
    assert {seed for seed, _ in both} == seeds
    assert {key: first[key] for key in both} == {key: proposals.made[key] for key in both}


def test_what_one_classifier_learns_changes_nothing_of_another() -> None:
    alone = in_one_go()
    bench = workbench(
        classifier(), classifier("mood", labels=("x", "y"), question="Which?"), model=LocalModel(), learn_every=EVERY
    )
    replay_rows(bench.asker, arrivals(ROWS), classifier="screening")
    together = held(bench.store)
    for name in ("versions", "ml_models", "steps"):
        rows_of_one = [row for row in getattr(together, name) if row[0] == "screening"]
        assert rows_of_one == getattr(alone, name), name
    assert [row[:2] for row in together.versions if row[0] == "mood"] == [("mood", 1)]
    assert not LearningStep.objects.filter(classifier__name="mood").exists()


# When it is due --------------------


def due(bench: Workbench) -> int:
    return status(bench.store).next_learning_in


def test_learning_is_due_after_so_many_training_reviews_and_after_no_other() -> None:
    bench = workbench(learn_every=3)
    training = identities("training", 9)
    for partition in ("audit", "development"):
        for name in identities(partition, 4):
            bench.label(name, "include")
    assert (due(bench), bench.learn()) == (3, [])
    bench.label(training[0], "include")
    bench.label(training[1], None)
    assert (due(bench), bench.learn()) == (2, [])
    bench.label(training[1], "include")
    bench.choose(identities("audit", 5)[-1], "include")
    assert due(bench) == 0
    assert [step.step for step in bench.learn()] == [1]
    assert (due(bench), bench.learn()) == (3, [])


def test_a_correction_counts_and_an_undo_takes_nothing_off() -> None:
    bench = workbench(learn_every=3)
    (name,) = identities("training", 1)
    first = bench.label(name, "include")
    bench.label(name, "exclude")
    bench.undo(first)
    assert due(bench) == 1
    again = bench.label(name, "include")
    assert due(bench) == 0
    bench.undo(again)
    assert due(bench) == 0
    assert len(bench.learn()) == 1


def test_learning_that_was_missed_is_one_step_and_the_next_is_counted_from_it() -> None:
    bench = workbench(learn_every=3)
    for name in identities("training", 8):
        bench.label(name, "include")
    assert [step.step for step in bench.learn()] == [1]
    assert LearningStep.objects.get().training_reviews == 8
    assert due(bench) == 3


def test_each_classifier_is_due_by_its_own_reviews() -> None:
    bench = workbench(classifier("one"), classifier("two", labels=("x", "y"), question="Which?"), learn_every=2)
    for name in identities("training", 2):
        bench.label(name, "y", classifier="two")
    bench.learn()
    assert [step.classifier.name for step in LearningStep.objects.select_related("classifier")] == ["two"]


# Promotion --------------------


class LearnerModel(CountingModel):
    """Calls a text by its last word; before anything was learned, texts with `hard` in them the other way round."""

    def answer(self, request: DecisionRequest) -> Answer:
        """Right about everything once the configuration has examples."""
        super().answer(request)
        label = request.text.split()[-1]
        if "hard" in request.text and not request.endpoint.configuration.examples:
            label = "exclude" if label == "include" else "include"
        answers = {question.id: 0.5 for question in request.endpoint.configuration.questions}
        return Answer(label, {name: 0.9 if name == label else 0.1 for name in ("include", "exclude")}, answers)


def teach(bench: Workbench) -> None:
    """Two training reviews of each label: enough for a proposal, too few for an ML model."""
    for number, name in enumerate(identities("training", 4)):
        label = ("include", "exclude")[number % 2]
        bench.label(name, label, f"attention school {label}" if label == "include" else f"kidney surgery {label}")


def develop(bench: Workbench, name: str, label: str, *, hard: bool = False, rate: float = 1.0) -> None:
    """A labelled development item."""
    decided = bench.decide(name, f"{name} {'hard' if hard else 'easy'} {label}", review_rate=rate, audit_rate=0)
    assert (decided.partition, decided.sent_to_review) == ("development", True)
    bench.review(decided, label)


def drawn_below(rate: float) -> str:
    """A development identity that is sent at a review rate of `rate`."""
    names = (f"rare-{number}" for number in itertools.count())
    return next(
        name for name in names if partition_of(SEED, name) == "development" and selection_draw(SEED, name) < rate
    )


@pytest.mark.parametrize(("weight", "outcome"), [(99, "promoted"), (100, "kept")])
def test_a_candidate_is_promoted_for_half_a_point_of_weighted_balanced_accuracy_and_not_for_less(
    weight: int, outcome: str
) -> None:
    """One item of weight 1 is gained beside one of weight 99 that both get right: half of 1/100."""
    bench = workbench(model=LearnerModel(), learn_every=4)
    one, other = identities("development", 2)
    develop(bench, one, "include", hard=True)
    develop(bench, drawn_below(1 / weight), "include", rate=1 / weight)
    develop(bench, other, "exclude")
    teach(bench)
    (step,) = bench.learn()
    assert step.outcome == outcome
    row = LearningStep.objects.get()
    assert row.active_accuracy == pytest.approx((weight / (weight + 1) + 1) / 2)
    assert row.candidate_accuracy == 1.0
    assert row.development_items == 3
    assert Version.objects.count() == (2 if outcome == "promoted" else 1)


def test_a_tie_keeps_the_active_version() -> None:
    bench = workbench(model=LearnerModel(), learn_every=4)
    for name, label in zip(identities("development", 2), ("include", "exclude"), strict=True):
        develop(bench, name, label)
    teach(bench)
    (step,) = bench.learn()
    assert (step.outcome, step.version, step.refit) == ("kept", 1, 0)
    assert LearningStep.objects.get().candidate_digest != ""


def test_without_a_development_label_nothing_is_promoted() -> None:
    bench = workbench(model=LearnerModel(), learn_every=4)
    teach(bench)
    (step,) = bench.learn()
    assert (step.outcome, step.version) == ("kept", 1)
    assert LearningStep.objects.get().active_accuracy is None


def test_a_promoted_version_decides_from_then_on_and_earlier_decisions_stay() -> None:
    bench = workbench(model=LearnerModel(), learn_every=4)
    for name, label in zip(identities("development", 2), ("include", "exclude"), strict=True):
        develop(bench, name, label, hard=True)
    teach(bench)
    before = held(bench.store).decisions
    (step,) = bench.learn()
    assert (step.outcome, step.version) == ("promoted", 2)
    name = identities("development", 1)[0]
    decided = bench.decide(name, f"{name} hard include")
    assert (decided.outputs["screening"].version, decided.outputs["screening"].decided.label) == (2, "include")
    after = held(bench.store).decisions
    assert [row for row in after if row[8] == 1] == before
    detail = bench.store.all(Event).get(kind="learning-promoted").detail
    assert detail == {"classifier": "screening", "step": 1, "trainingReviews": 4, "version": 2, "refit": 0}


# Refusals and races --------------------


def test_learning_keeps_to_the_ceiling_and_one_that_was_stopped_changes_nothing_but_the_cache() -> None:
    bench = workbench(model=LearnerModel(), learn_every=4)
    for name in identities("development", 2):
        develop(bench, name, "include", hard=True)
    teach(bench)
    calls = bench.model.count
    bench.ceiling = Ceiling(1)
    with pytest.raises(RequestCeilingError):
        bench.learn()
    assert bench.model.count == calls + 1
    assert bench.store.all(CachedAnswer).count() == calls + 1
    assert not LearningStep.objects.exists()
    assert Version.objects.count() == 1
    assert due(bench) == 0
    bench.ceiling = Ceiling()
    assert len(bench.learn()) == 1


def test_learning_that_a_failing_model_ended_is_due_still() -> None:
    class AwayModel(LearnerModel):
        away = False

        def answer(self, request: DecisionRequest) -> Answer:
            if self.away:
                raise ModelError("the model is away.")
            return super().answer(request)

    model = AwayModel()
    bench = workbench(model=model, learn_every=4)
    develop(bench, identities("development", 1)[0], "include", hard=True)
    teach(bench)
    model.away = True
    with pytest.raises(ModelError):
        bench.learn()
    assert (due(bench), LearningStep.objects.count()) == (0, 0)
    model.away = False
    assert len(bench.learn()) == 1


@pytest.mark.django_db(transaction=True)
def test_learners_that_race_record_one_step() -> None:
    bench = workbench(model=LearnerModel(), learn_every=4)
    for name, label in zip(identities("development", 2), ("include", "exclude"), strict=True):
        develop(bench, name, label, hard=True)
    teach(bench)
    done: list[Any] = []
    assert in_threads(4, lambda number: done.extend(bench.learn())) == []
    assert [step.step for step in done] == [1]
    assert LearningStep.objects.count() == 1
    assert Version.objects.count() == 2
    assert bench.store.all(Event).filter(kind="learning-promoted").count() == 1


# What has taught --------------------


def test_an_audit_item_that_taught_by_a_persons_choice_is_never_scored_again_though_the_choice_is_undone() -> None:
    bench = workbench(learn_every=1)
    kept, chosen = identities("audit", 2)
    bench.label(kept, "include")
    bench.label(chosen, "exclude")
    frozen = bench.freeze()
    choice = bench.choose(chosen, "include")
    assert len(bench.learn()) == 1
    bench.undo(choice)
    assert bench.labels("audit") == {kept: "include"}
    assert bench.labels("training") == {chosen: "exclude"}
    row = bench.store.classifier()
    assert [item.identity for item in scored_items(bench.store, row, held_out_set_of(bench.store, row, frozen.id))] == [
        kept
    ]


def test_a_choice_that_was_undone_before_anything_was_learned_from_it_leaves_the_item_where_it_was() -> None:
    bench = workbench(learn_every=2)
    (chosen,) = identities("audit", 1)
    bench.label(chosen, "exclude")
    choice = bench.choose(chosen, "include")
    assert bench.learn() == []
    bench.undo(choice)
    bench.label(identities("training", 1)[0], "include")
    assert len(bench.learn()) == 1
    assert bench.labels("audit") == {chosen: "exclude"}


def test_a_choice_that_is_undone_while_a_step_reads_it_has_taught() -> None:
    bench = workbench(learn_every=1)
    (chosen,) = identities("audit", 1)
    choice = bench.choose(chosen, "include")

    class Meanwhile(CountingModel):
        def answer(self, request: DecisionRequest) -> Answer:
            bench.undo(choice)
            return super().answer(request)

    learning_bench = replace(bench, model=Meanwhile(identity="meanwhile/1"))
    assert len(learning_bench.learn()) == 1
    bench.label(chosen, "include")
    assert bench.labels("audit") == {}


def test_a_step_that_another_process_took_first_is_not_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = workbench(learn_every=3)
    for name in identities("training", 3):
        bench.label(name, "include")
    learn = learning._learn

    def overtaken(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(learning, "_learn", learn)
        assert len(bench.learn()) == 1
        return learn(*args, **kwargs)

    monkeypatch.setattr(learning, "_learn", overtaken)
    assert bench.learn() == []
    assert LearningStep.objects.count() == 1


def test_every_label_of_an_item_that_a_person_chose_counts_as_a_training_review() -> None:
    bench = workbench(learn_every=1)
    (name,) = identities("audit", 1)
    decided = bench.decide(name)
    bench.review(decided, None, selected_by="reviewer")
    assert bench.review(decided, "include").selected_by == "program"
    assert bench.labels("training") == {name: "include"}
    assert len(bench.learn()) == 1
