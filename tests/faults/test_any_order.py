"""A cyclotron moved by random steps in any order, with crashes, and held against a reference after each of them.

A few hundred steps by default; `KAPSOWEB_STEPS=10000` for a long run, and `KAPSOWEB_FUZZ_SEED` for another one. The
reference (`tests/support/reference_engine.py`) is written from the rules alone. The last test takes a guard away and
shows that the steps find it (all such guards in a long run).
"""

import itertools
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from cyclotron import labels, plan
from cyclotron.actions import deciding, freezing
from cyclotron.actions.asking import Asker
from cyclotron.core.draws import REVIEWER, select
from cyclotron.models import HeldOutItem, Review
from kapsoweb.foundation import clock
from kapsoweb.jobs import bell
from tests.support import engine_steps
from tests.support.engine_bench import Ticking
from tests.support.engine_evaluating import AnyOrder

pytestmark = [pytest.mark.faults, pytest.mark.services, pytest.mark.django_db(transaction=True)]

STEPS = int(os.environ.get("KAPSOWEB_STEPS", "300"))
SEED = int(os.environ.get("KAPSOWEB_FUZZ_SEED", "1"))
STEPS_OF_ONE = 50  # before the next cyclotron begins
MANY = 5000  # steps in which everything must have happened
TO_FIND_A_FAULT = 600

IN_A_FEW = {"decide", "review", "freeze", "evaluate", "report", "refuse"}
IN_MANY = {
    *("begin", "decide", "decide again", "review", "repeat a review", "correct", "close without a label", "undo"),
    *("choose", "choose a held-out item", "freeze", "freeze nothing", "freeze nothing new", "refuse"),
    *("learn nothing", "learning promoted", "learning refitted", "learning kept"),
    *("evaluate", "evaluate again", "repeat a request", "join a running evaluation", "report"),
    *("report of what was learned", "deliver a job", "go on where a worker died", "close a lost evaluation"),
    *("interruption", "interrupted: permits-lost", "interrupted: guard", "interrupted: abandoned"),
    *("interrupted: cancelled", "interrupted: job-failed", "interrupted: model-refused"),
    *("crash while deciding", "crash while reviewing", "crash while undoing", "crash while freezing"),
    *("crash while learning", "crash while confirming", "crash while evaluating", "a fault while evaluating"),
    *("refuse: BoundChangedError", "refuse: PlanChangedError", "refuse: RequestIdReusedError"),
    *("refuse: RequestCeilingError", "refuse: NoHeldOutSetError", "refuse: NothingToScoreError"),
    "refuse: EvaluationRunningError",
}


class Run:
    """A run of some steps over as many cyclotrons as they need; `tally` counts what they were."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.tally: Counter[str] = Counter()
        self.steps = 0
        self._patch = patch

    def of(self, steps: int) -> None:
        """Run at least so many; what is reproducible is reproduced by the same `KAPSOWEB_FUZZ_SEED`."""
        for number in itertools.count(SEED):
            self._some(steps - self.steps, number)
            if self.steps >= steps:
                return

    def _some(self, steps: int, number: int) -> None:
        run = self

        class Machine(AnyOrder):
            def __init__(self) -> None:
                super().__init__()
                self.tally, self.clock = run.tally, Ticking()
                run._patch.setattr(clock, "now", self.clock)
                run._patch.setattr("cyclotron.jobs.decision_model", lambda: self.bench.model)

            def check_invariants(self, *given: Any) -> None:
                run.steps += hasattr(self, "bench")
                super().check_invariants(*given)

        run_state_machine_as_test(
            seed(number)(Machine),
            settings=settings(
                max_examples=math.ceil(steps / STEPS_OF_ONE),
                stateful_step_count=STEPS_OF_ONE,
                deadline=None,
                database=None,
                print_blob=False,
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate],
            ),
        )


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(bell, "ring", lambda job_id: True)
    return Run(monkeypatch)


def test_whatever_happens_in_any_order_the_rules_hold(
    run: Run, capsys: pytest.CaptureFixture[str], record_property: Callable[[str, object], None]
) -> None:
    begun = time.monotonic()
    run.of(STEPS)
    record_property("steps", run.steps)
    for kind, count in run.tally.items():
        record_property(kind, count)
    if STEPS >= MANY:
        with capsys.disabled():
            print(f"\n{run.steps} steps in {time.monotonic() - begun:.0f} s: {_in_words(run.tally)}")  # noqa: T201
    assert run.steps >= STEPS
    never = (IN_MANY if STEPS >= MANY else IN_A_FEW) - run.tally.keys()
    assert not never, f"never happened: {sorted(never)}"


def _in_words(tally: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in sorted(tally.items(), key=lambda pair: -pair[1]))


def without_permits(patch: pytest.MonkeyPatch) -> None:
    """Calls take no permit."""
    ask = Asker.ask
    patch.setattr(Asker, "ask", lambda self, requests, **given: ask(self, requests))


def propensity_that_falls(patch: pytest.MonkeyPatch) -> None:
    """An item's propensity is that of its last decision."""
    patch.setattr(deciding, "select", lambda **given: select(**{**given, "propensity_so_far": None}))


def unfrozen_sets(patch: pytest.MonkeyPatch) -> None:
    """A set follows the labels of its items."""
    record_review = engine_steps.record_review

    def and_correct_the_sets(store: Any, **given: Any) -> Any:
        recorded = record_review(store, **given)
        held = store.rows(HeldOutItem).filter(held_out_set__cyclotron_id=store.cyclotron_id)
        if recorded.label is not None:
            held.filter(identity=recorded.item_id).update(label=recorded.label)
        return recorded

    patch.setattr(engine_steps, "record_review", and_correct_the_sets)


def scoring_what_has_taught(patch: pytest.MonkeyPatch) -> None:
    """An undo takes a person's choice back although it has taught."""

    def only_active(store: Any, classifier: Any) -> Any:
        return store.all(Review).filter(classifier=classifier, selected_by=REVIEWER, undone_at=None)

    patch.setattr(labels, "chosen_by_a_person", only_active)
    patch.setattr(plan, "chosen_by_a_person", only_active)


def scoring_what_was_chosen(patch: pytest.MonkeyPatch) -> None:
    """Items that a person has since chosen stay in the evaluation."""
    patch.setattr(plan, "chosen_by_a_person", lambda store, classifier: store.all(Review).none())


def freezing_what_was_chosen(patch: pytest.MonkeyPatch) -> None:
    """Whoever selected a review, its label is frozen."""

    def whoever_chose(store: Any, classifier: Any, *, use: str) -> Any:
        return labels.labels_that_count(store, classifier).filter(item__partition=use)

    patch.setattr(freezing, "labels_that_count", whoever_chose)


AT_ONCE = [propensity_that_falls, without_permits]
LATER = [unfrozen_sets, scoring_what_has_taught, scoring_what_was_chosen, freezing_what_was_chosen]


@pytest.mark.parametrize("broken", AT_ONCE + (LATER if STEPS >= MANY else []))
def test_what_is_broken_is_found(run: Run, monkeypatch: pytest.MonkeyPatch, broken: Callable[..., None]) -> None:
    broken(monkeypatch)
    with pytest.raises(AssertionError):
        run.of(TO_FIND_A_FAULT)
