"""Steps of a cyclotron in any order: deciding, reviewing, freezing and learning, each with what may befall it."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize

from cyclotron.actions import freeze_held_out_set, record_review, undo_review
from cyclotron.actions.deciding import decide_item
from cyclotron.core.errors import InvalidReviewError, NothingToFreezeError
from tests.support.dying import KINDS, Fault, right_label
from tests.support.engine_bench import POOL, Bench, Ticking, text_of
from tests.support.reference_engine import RefSet

RATES = st.sampled_from([1.0, 1.0, 0.6, 0.3, 0.05, 0.01, 0.0])
PLACES = st.integers(0, 2**16)  # which of some things there are, modulo their number
ITEMS = st.tuples(st.sampled_from(["audit", "audit", "training", "training", "development"]), PLACES)
FAULTS = st.one_of(st.just(("none", 0)), st.just(("none", 0)), st.tuples(st.sampled_from(KINDS), st.integers(0, 40)))
OFTEN = st.one_of(st.just(("none", 0)), st.tuples(st.sampled_from(KINDS), st.integers(0, 40)))
STATEMENTS = st.one_of(st.none(), st.none(), st.none(), st.integers(0, 15))  # at which a process dies
SAID = st.sampled_from([None, None, None, None, "reviewer", "program", "audit"])


def fault_of(drawn: tuple[str, int]) -> Fault:
    """Calls are few where statements are many."""
    kind, at = drawn
    return Fault(kind, at if kind == "death-at-statement" else at % 4)


def dying_at(statement: int | None) -> Fault:
    return Fault() if statement is None else Fault("death-at-statement", statement)


def step(weight: int, *, when: Callable[[Any], Any] = bool, **arguments: st.SearchStrategy[Any]) -> Callable[..., Any]:
    """Make a method a step: drawn so many times as often as one of weight 1, and made `when` the machine is ready."""

    def marked(method: Any) -> Any:
        method.weight, method.when, method.arguments = weight, when, arguments
        return method

    return marked


def steps_of(machine: type) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """A step's name and arguments. One strategy of all: rules of their own might be left out of a run by chance."""
    found = [(name, getattr(machine, name)) for name in sorted(dir(machine)) if hasattr(getattr(machine, name), "when")]
    return st.one_of(
        st.tuples(st.just(name), st.fixed_dictionaries(method.arguments))
        for name, method in found
        for _ in range(method.weight)
    )


class Steps(RuleBasedStateMachine):
    """What a reviewer, an application and a learner do. `tally` counts the steps of a whole run by kind."""

    tally: Any
    clock: Ticking

    def __init__(self) -> None:
        super().__init__()
        self.bench: Bench
        self.last_decision: dict[str, str] = {}  # by item

    @initialize(count=st.integers(1, 2), learn_every=st.integers(2, 6), training=PLACES, others=PLACES)
    def begin(self, count: int, learn_every: int, training: int, others: int) -> None:
        self.bench = Bench(count, learn_every, self.tally, self.clock)
        self._count("begin")
        some = [*POOL["training"][: training % 23], *POOL["development"][: others % 5], *POOL["audit"][: others % 9]]
        for identity in some:
            self._decide(identity, Fault(), review_rate=1.0, audit_rate=0.05, low_confidence=None)
            for name in self.bench.reference.classifiers:
                self._review(name, self.last_decision[identity], self._right(name, identity), None, Fault())
        self.bench.check()

    @step(3, item=ITEMS)
    def work(self, item: tuple[str, int]) -> None:
        """An item is decided and rightly reviewed, as most are."""
        identity = POOL[item[0]][item[1] % len(POOL[item[0]])]
        again = identity in self.bench.reference.items
        self._decide(identity, Fault(), review_rate=1.0, audit_rate=0.05, low_confidence=None)
        name = self._classifier(item[1])
        self._review(name, self.last_decision[identity], self._right(name, identity), None, Fault())
        self._count("decide again" if again else "decide")
        self.bench.check()

    @step(3, item=ITEMS, rate=RATES, audit=RATES, low=st.sampled_from([None, None, 0.6, 0.9, 1.0]), fault=FAULTS)
    def decide(
        self, item: tuple[str, int], rate: float, audit: float, low: float | None, fault: tuple[str, int]
    ) -> None:
        identity = POOL[item[0]][item[1] % len(POOL[item[0]])]
        known = identity in self.bench.reference.items
        if max(rate, audit) == 0.0:
            audit = 0.02
        failed = self._decide(identity, fault_of(fault), review_rate=rate, audit_rate=audit, low_confidence=low)
        self._count("decide again" if known else "decide", "crash while deciding" if failed else "")
        self.bench.check()

    def _decide(self, identity: str, fault: Fault, **rates: Any) -> bool:
        """Decide an item; whether it failed. The reference is told with what confidence."""
        bench = self.bench
        active = {name: known.active for name, known in bench.reference.classifiers.items()}
        done = bench.act(
            lambda: decide_item(
                bench.asker(fault), identity=identity, values={"text": text_of(identity)}, now=bench.clock(), **rates
            ),
            {"Item", "Decision", "DecisionOutput", "WaitingItem"},
            fault,
        )
        made = done.new("Decision")
        assert len(made) == (done.error is None) or fault.dead
        for row in made:
            outputs = done.new("DecisionOutput")
            assert {row["classifier_id"]: (row["version"], row["refit"]) for row in outputs} == {
                bench.names[name]: numbers for name, numbers in active.items()
            }
            for output in outputs:
                key = bench.model.keys[output["fingerprint"]]
                assert key in bench.reference.stored
                if output["refit"] == 0:
                    said = bench.model.answers[key]
                    assert output["confidence"] == said.probabilities.get(said.label, 0.0)
            confidence = min(row["confidence"] for row in outputs)
            bench.reference.decide(row["id"], identity, text_of(identity), confidence=confidence, **rates)
            self.last_decision[identity] = row["id"]
        return done.error is not None

    @step(
        3,
        when=lambda self: self.bench.reference.decisions,
        which=PLACES,
        newest=st.booleans(),
        audit=st.booleans(),
        label=st.integers(0, 9),
        said=SAID,
        dies=STATEMENTS,
    )
    def review(self, which: int, newest: bool, audit: bool, label: int, said: str | None, dies: int | None) -> None:
        reference = self.bench.reference
        decisions = list(self.last_decision.values() if newest else reference.decisions)
        held = [each for each in decisions if reference.items[reference.decisions[each].item].partition == "audit"]
        decisions = held if audit and held else decisions
        decision = decisions[which % len(decisions)]
        name = self._classifier(which)
        labels = reference.classifiers[name].labels
        given = self._right(name, reference.decisions[decision].item) if label > 4 else labels[label % len(labels)]
        recorded = self._review(name, decision, None if label == 0 else given, said, dying_at(dies))
        if recorded is not None and which % 3 == 0:
            again = self.bench.act(recorded, set())
            assert again.before == again.after
            assert not again.value.new
            self._count("repeat a review")
        self.bench.check()

    def _review(self, name: str, decision: str, label: str | None, said: str | None, fault: Fault) -> Any:
        """Record a review; what records the same again, or None where it was refused."""
        bench, reference = self.bench, self.bench.reference
        identity = f"review {len(reference.reviews)}"
        corrects = label is not None and reference.corrected_by(name, reference.decisions[decision].item)

        def record() -> Any:
            return record_review(
                bench.store,
                identity=identity,
                decision_id=decision,
                label=label,
                reviewer="ada",
                classifier=name,
                selected_by=said,
                now=bench.clock(),
            )

        done = bench.act(record, {"Review", "Classifier", "WaitingItem"}, fault)
        if reference.selection(name, decision, label, said) is None:
            assert fault.dead or isinstance(done.error, InvalidReviewError)
            assert done.before == done.after
            self._count("refuse")
            return None
        if not done.new("Review"):
            assert fault.dead, repr(done.error)
            assert done.before == done.after
            self._count("crash while reviewing")
            done = bench.act(
                record, {"Review", "Classifier", "WaitingItem"}
            )  # the same identity, by whoever tries again
        made = reference.review(identity, name, decision, label, said)
        self._count("close without a label" if label is None else "correct" if corrects else "review")
        self._count("choose" if said == made.selected_by == "reviewer" else "")
        return record

    @step(1, when=lambda self: self.bench.reference.sets, which=PLACES, label=st.integers(0, 9))
    def choose_a_held_out_item(self, which: int, label: int) -> None:
        """What a person chooses trains, and so leaves the evaluations of a set that holds it."""
        reference = self.bench.reference
        frozen = [each for each in reference.classifiers.items() if each[1].newest_set]
        name, known = frozen[which % len(frozen)]
        held = sorted(reference.sets[str(known.newest_set)].items)
        decision = self.last_decision[held[which % len(held)]]
        given = None if label == 0 else known.labels[label % len(known.labels)]
        self._review(name, decision, given, "reviewer", Fault())
        self._count("choose a held-out item")
        self.bench.check()

    @step(2, when=lambda self: self.bench.reference.reviews, which=PLACES, dies=STATEMENTS)
    def undo(self, which: int, dies: int | None) -> None:
        bench, fault = self.bench, dying_at(dies)
        identity = list(bench.reference.reviews)[-1 - which % min(8, len(bench.reference.reviews))]
        review = bench.reference.reviews[identity]
        done = bench.act(
            lambda: undo_review(bench.store, identity=identity, actor="ada", now=bench.clock()),
            {"Review", "WaitingItem"},
            fault,
        )
        if done.error is not None or review.undone:
            assert done.before == done.after
            assert fault.dead or done.value is False
        else:
            review.undone = True
        self._count("crash while undoing" if done.error else "undo")
        bench.check()

    @step(3, which=PLACES, dies=STATEMENTS)
    def freeze(self, which: int, dies: int | None) -> None:
        bench, reference, fault = self.bench, self.bench.reference, dying_at(dies)
        name = self._classifier(which)
        known, eligible = reference.classifiers[name], reference.eligible(name)
        brings_nothing = known.newest_set is not None and not reference.new_labels(name)
        done = bench.act(
            lambda: freeze_held_out_set(bench.store, name, now=bench.clock()),
            {"HeldOutSet", "HeldOutItem", "Classifier"},
            fault,
        )
        assert not done.calls
        if fault.dead:
            assert done.before == done.after
            self._count("crash while freezing")
        elif brings_nothing:
            assert done.before == done.after
            assert done.value.id == known.newest_set
            self._count("freeze nothing new")
        elif not eligible:
            bench.check_refused(done, {NothingToFreezeError})
            self._count("freeze nothing")
        else:
            assert done.error is None, repr(done.error)
            self._frozen(name, done.value, eligible)
            self._count("freeze")
            bench.check()

    def _frozen(self, name: str, summary: Any, eligible: Any) -> None:
        """A set that was there before may come back: its id names its content."""
        known = self.bench.reference.sets.get(summary.id)
        if known is None:
            self.bench.reference.sets[summary.id] = RefSet(name, summary.frozen_at, eligible)
            assert self.clock.time == summary.frozen_at
        else:
            assert (known.classifier, known.items) == (name, eligible)
        self.bench.reference.classifiers[name].newest_set = summary.id

    def _classifier(self, place: int) -> str:
        """One of the classifiers, the first more often."""
        names = list(self.bench.reference.classifiers)
        return names[-1] if place % 3 == 0 else names[0]

    def _right(self, name: str, identity: str) -> str:
        return right_label(text_of(identity), self.bench.reference.classifiers[name].labels)

    def _count(self, *kinds: str) -> None:
        self.tally.update(kind for kind in kinds if kind)
