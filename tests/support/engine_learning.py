"""Steps that learn, and steps that are refused before anything happens."""

import math
from typing import Any

from hypothesis import strategies as st

from cyclotron.actions import record_review, undo_review
from cyclotron.actions.asking import Ceiling
from cyclotron.actions.deciding import decide_item
from cyclotron.actions.evaluating import start_evaluation
from cyclotron.actions.learning import learn_if_due
from kapsoweb.foundation.errors import KapsoError
from tests.support.dying import Fault
from tests.support.engine_bench import Outcome
from tests.support.engine_checks import check_learned
from tests.support.engine_steps import OFTEN, PLACES, Steps, fault_of, step


class LearningSteps(Steps):
    """What is learned, when, and from what."""

    @step(3, fault=OFTEN)
    def learn(self, fault: tuple[str, int]) -> None:
        bench, reference, happens = self.bench, self.bench.reference, fault_of(fault)
        due = [name for name in reference.classifiers if reference.is_due(name)]
        if happens.kind == "death-at-statement":
            happens.at *= 2
        done = bench.act(
            lambda: learn_if_due(bench.asker(happens), now=bench.clock()),
            {"Version", "MlModelRecord", "OutOfFoldAnswer", "LearningStep", "Review", "Classifier"},
            happens,
        )
        bench.check_asked_by_learning(done)
        for name in reference.classifiers:
            steps = bench.learned_rows(done, name)
            assert len(steps) <= (name in due)
            assert done.error is not None or len(steps) == (name in due)
            for learned in steps:
                self._learned(name, learned, done)
        if done.error is not None:
            assert happens.happened, repr(done.error)
            self._count("crash while learning")
        elif not due:
            assert done.before == done.after
            self._count("learn nothing")
        if done.before is not done.after:
            bench.check()

    def _learned(self, name: str, step: dict[str, Any], done: Outcome) -> None:
        reference = self.bench.reference
        known = reference.classifiers[name]
        key = self.bench.names[name]
        versions = [row for row in done.new("Version") if row["classifier_id"] == key]
        fits = [
            row for row in done.new("MlModelRecord") if done.after["Version"][row["version_id"]]["classifier_id"] == key
        ]
        training, development = reference.labels(name, "training"), reference.labels(name, "development")
        assert step["development_items"] == len(development)
        assert step["training_reviews"] == known.training_reviews
        assert all(fit["fitted_on"] == len(training) for fit in fits)
        gain = None
        if None not in (step["candidate_accuracy"], step["active_accuracy"]):
            gain = step["candidate_accuracy"] - step["active_accuracy"]
        promoted = gain is not None and (gain >= 0.005 or math.isclose(gain, 0.005, abs_tol=1e-9))
        assert (step["outcome"] == "promoted") == promoted == (len(versions) == 1)
        assert len(fits) == 1 if step["outcome"] == "refitted" else len(fits) <= len(versions)
        for version in versions:
            assert version["number"] == max(known.configurations) + 1
            check_learned(reference, name, version["configuration"])
            known.configurations[version["number"]] = version["configuration"]
            known.active = (version["number"], 0)
        for fit in fits:
            version_number = done.after["Version"][fit["version_id"]]["number"]
            assert version_number == known.active[0]
            assert fit["refit"] == known.active[1] + 1
            known.active = (version_number, fit["refit"])
        assert (step["version"], step["refit"]) == known.active
        reference.learned(name)
        self._count(f"learning {step['outcome']}")

    @step(1, which=st.integers(0, 12), place=PLACES)
    def refuse(self, which: int, place: int) -> None:
        bench, reference = self.bench, self.bench.reference
        asker, now, values = bench.asker(Fault()), bench.clock(), {"text": "new text"}
        known, decision = next(iter(reference.items), ""), next(iter(reference.decisions), "none")
        reviewed = next(iter(reference.reviews), "none")
        name = self._classifier(place)

        def review(**changed: Any) -> Any:
            given = {
                "identity": "refused",
                "decision_id": decision,
                "label": "a",
                "reviewer": "ada",
                "classifier": name,
            }
            return record_review(bench.store, **{**given, **changed}, now=now)

        def evaluate(**changed: Any) -> Any:
            given = {"confirmed_bound": 0, "model": bench.model.identity}
            return start_evaluation(bench.store, name, **{**given, **changed}, now=now)

        refused = [
            lambda: decide_item(asker, identity="new", values=values, now=now, review_rate=math.nan),
            lambda: decide_item(asker, identity="new", values=values, now=now, review_rate=0.0, audit_rate=0.0),
            lambda: decide_item(asker, identity="new", values=values, now=now, low_confidence=True),
            lambda: decide_item(asker, identity="x" * 513, values=values, now=now),
            lambda: decide_item(asker, identity=known, values=values, now=now),
            lambda: decide_item(asker, identity="new", values={"title": "no text"}, now=now),
            lambda: decide_item(bench.asker(Fault(), Ceiling(0)), identity="new", values=values, now=now),
            lambda: review(label="no such label"),
            lambda: review(decision_id="no such decision", label=None),
            lambda: review(identity=reviewed, explanation="other content", label=None, decision_id=decision * 2),
            lambda: undo_review(bench.store, identity="no such review", actor="ada", now=now),
            lambda: evaluate(confirmed_bound=-1),
            lambda: evaluate(set_id="no such set"),
        ]
        bench.check_refused(bench.act(refused[which], set()), {KapsoError})
        self._count("refuse")
