"""A real cyclotron and its reference side by side, moved by one act at a time and compared after each."""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from cyclotron.actions import create_cyclotron
from cyclotron.actions.asking import Asker, Ceiling
from cyclotron.core.configuration import DecisionRequest
from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from kapsoweb.foundation.errors import KapsoError
from tests.support.dying import Fault, WatchedModel
from tests.support.engine_checks import MARK, check_everything
from tests.support.engine_rows import (
    LabelReader,
    Reader,
    Row,
    Rows,
    changed_tables,
    check_nothing_was_rewritten,
    new_in,
)
from tests.support.reference_engine import RefClassifier, Reference, partition

SEED = "any order"
BEGUN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ALWAYS = {"Event", "StoredCyclotron", "CachedAnswer"}  # what any act may add to


class Ticking:
    """A clock that moves by a second each time it is read, and further when told to."""

    def __init__(self) -> None:
        self.time = BEGUN

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


def text_of(identity: str) -> str:
    """An item's text. Items of one partition share a word with some others; some audit items have the same text."""
    kind = partition(SEED, identity)
    number = hashlib.sha256(identity.encode()).digest()[0]
    topic = ("attention and placebo", "asphalt on bridges", "gravel under stimulant")[number % 3]
    mark = f"mark{kind[0]}{number % 2}"
    tail = f"the same for some {number % 3}" if kind == "audit" and number % 4 == 0 else f"study {identity!r}"
    return f"{topic} {mark} {tail}"


def _pool() -> dict[str, list[str]]:
    """Identities by partition; some differ in nothing but their bytes."""
    odd = ["Item", "item", " item ", "é", "e\u0301", "項目", "x" * 512, "a:b", "0", "None"]
    pool: dict[str, list[str]] = {"training": [], "development": [], "audit": []}
    for identity in [*odd, *(f"item-{number}" for number in range(200))]:
        pool[partition(SEED, identity)].append(identity)
    sizes = {"training": 24, "development": 6, "audit": 14}
    return {name: identities[: sizes[name]] for name, identities in pool.items()}


POOL = _pool()


@dataclass
class Outcome:
    """What an act gave or raised, and the rows and calls that it made."""

    value: Any
    error: BaseException | None
    before: Rows
    after: Rows
    calls: list[tuple[str, DecisionRequest]]

    def new(self, table: str) -> list[dict[str, Any]]:
        return new_in(self.before, self.after, table)


@dataclass
class Bench:
    """One cyclotron of one or two classifiers; the second uses the clock."""

    count: int
    learn_every: int
    tally: Counter[str]
    clock: Ticking
    model: WatchedModel = field(default_factory=WatchedModel)

    def __post_init__(self) -> None:
        definitions = [
            ClassifierDefinition("screening", ("include", "exclude"), "Is it about attention?", rubric="Look closely."),
            ClassifierDefinition(
                "topic", ("a", "b", "c"), "Which topic?", priming=(("roads", "b"),), positive_label="a", uses_clock=True
            ),
        ][: self.count]
        definition = CyclotronDefinition(SEED, tuple(definitions), self.learn_every)
        self.store = create_cyclotron(name="any order", definition=definition, now=self.clock())
        self.reference = Reference(SEED, self.learn_every, {})
        for each in definitions:
            known = RefClassifier(each.labels, each.question, each.uses_clock)
            primed = [{"text": text, "label": label} for text, label in each.priming]
            known.configurations[1] = {"rubric": each.rubric, "examples": primed, "questions": [], "termWeights": {}}
            self.reference.classifiers[each.name] = known
        self.reader, self.labels = Reader(self.store), LabelReader(self.store, self.reference.classifiers)
        self.rows = self.reader.rows()
        self.names = {row["name"]: key for key, row in self.rows["Classifier"].items()}
        seeds = {self._name(row["classifier_id"]): row["configuration"] for row in self.rows["Version"].values()}
        assert seeds == {name: known.configurations[1] for name, known in self.reference.classifiers.items()}
        self.check()

    def asker(self, fault: Fault, ceiling: Ceiling | None = None) -> Asker:
        """A fresh handle: what a process has that was just started."""
        return Asker(self.store, self.model, self.clock, ceiling or Ceiling(), fault.guard)

    def change_model(self) -> None:
        """Ask another model from now on, of which little is known: a few take turns."""
        number = int(self.model.identity.rpartition("/")[2])
        self.model.identity = f"watched/{number % 4 + 1}"

    def act(self, work: Callable[[], Any], touches: Collection[str], fault: Fault | None = None) -> Outcome:
        """Do something, and look at every row before and after.

        Only the tables `touches` may change besides those that any act may add to. A stored answer is never asked for
        again. What is raised must be a refusal or what was made to go wrong.
        """
        fault = fault or Fault()
        self.model.fault = fault
        asked_before, value, raised = len(self.model.asked), None, None
        try:
            with fault.befalls():
                value = work()
        except KapsoError as error:
            raised = error
        except BaseException as error:
            if not fault.happened:
                raise
            raised = error
        before, self.rows = self.rows, self.reader.rows()
        outcome = Outcome(value, raised, before, self.rows, self.model.asked[asked_before:])
        check_nothing_was_rewritten(before, self.rows)
        changed = changed_tables(before, self.rows)
        assert changed <= ALWAYS | set(touches), f"{sorted(changed - ALWAYS - set(touches))} changed too"
        self._keep_answers(outcome, fault)
        return outcome

    def check(self) -> None:
        """Compare everything."""
        check_everything(self.store, self.reference, self.rows, self.labels, self.model)

    def check_refused(self, outcome: Outcome, kinds: Collection[type[BaseException]]) -> None:
        """A refusal of one of those kinds changed no row and spent nothing."""
        assert isinstance(outcome.error, tuple(kinds)), f"{outcome.error!r} ({outcome.value!r}) is not one of {kinds}"
        assert outcome.before == outcome.after
        assert not outcome.calls

    def _name(self, key: int) -> str:
        return next(name for name, known in self.names.items() if known == key)

    def _keep_answers(self, outcome: Outcome, fault: Fault) -> None:
        """What was asked had no stored answer; what was answered is stored, unless the process died of it."""
        keys = [key for key, _ in outcome.calls]
        again = set(keys) & self.reference.stored
        assert not again, f"{len(again)} requests with a stored answer were asked again"
        assert len(set(keys)) == len(keys), "one request was asked twice"
        stored = set()
        for row in outcome.new("CachedAnswer"):
            key = self.model.keys[row["fingerprint"]]
            answer = self.model.answers[key]
            assert row["answer"] == answer.as_json()
            assert (row["tokens_in"], row["tokens_out"]) == (answer.tokens_in, answer.tokens_out)
            stored.add(key)
        answered = {key for key in keys if key in self.model.answers}
        assert stored <= answered
        assert stored == answered or fault.dead, "an answer that came was not kept"
        self.reference.stored |= stored

    def learned_rows(self, outcome: Outcome, name: str) -> list[dict[str, Any]]:
        """The learning steps that an act made for a classifier."""
        return [row for row in outcome.new("LearningStep") if row["classifier_id"] == self.names[name]]

    def check_asked_by_learning(self, outcome: Outcome) -> None:
        """Only training and development items are asked about, and no question shows its own text as an example."""
        allowed = set()
        for name in self.reference.classifiers:
            for use in ("training", "development"):
                allowed |= {text_of(item) for item in self.reference.labels(name, use)}
        for _, request in outcome.calls:
            assert request.text in allowed, "learning asked about an item that may not teach"
            configuration = request.endpoint.configuration
            assert request.text not in {example.text for example in configuration.examples}
            marks = {mark for text in allowed for mark in MARK.findall(text)}
            assert set(MARK.findall(configuration.rubric + " ".join(configuration.term_weights))) <= marks

    def running(self, name: str) -> Row | None:
        """The evaluation of a classifier that has not ended."""
        rows = self.rows["Evaluation"].values()
        mine = [row for row in rows if (row["classifier_id"], row["state"]) == (self.names[name], "running")]
        return mine[0] if mine else None

    def remember(self, wanted: Any, evaluation: str) -> None:
        """A request id stands for an evaluation from now on."""
        if wanted.request_id is not None:
            self.reference.request_ids[wanted.request_id] = (evaluation, wanted.content)
