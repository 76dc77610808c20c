"""A model that counts what reaches it and fails where it is told to, and a process that dies between two statements."""

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.core.errors import ModelError, ModelRefusedError
from tests.support.reference_engine import question_key

FAILURES: dict[str, Callable[[], BaseException]] = {
    "model-error": lambda: ModelError("no usable answer.", code="timeout"),
    "model-refused": lambda: ModelRefusedError("no access.", code="401"),
    "exception": lambda: RuntimeError("the client is broken"),
    "interruption": KeyboardInterrupt,
}
# What a guard raises before a call.
GUARDS = {"guard-exception": "exception", "guard-interruption": "interruption"}
# The process is gone: no statement reaches the database any more. Before the model has the call, after it has answered,
# or before any statement whatever.
DEATHS = ("death-before-call", "death-after-call", "death-at-statement")
LASTING = "model-errors"  # from the chosen call on, every call brings a model error
KINDS = ("none", *FAILURES, LASTING, *GUARDS, *DEATHS)


class Death(BaseException):
    """What stands for SIGKILL: nothing that runs after it in the same process can be seen from outside."""


@dataclass
class Fault:
    """What goes wrong at the `at`-th call (from 0) of a step, or at its `at`-th statement."""

    kind: str = "none"
    at: int = 0
    calls: int = 0
    statements: int = 0
    happened: bool = False
    dead: bool = False

    def guard(self, request: DecisionRequest) -> None:
        """What `execution_guard` is for."""
        if self.kind in GUARDS and self.calls == self.at:
            self.happened = True
            raise FAILURES[GUARDS[self.kind]]()

    def before_call(self) -> None:
        if self.kind == "death-before-call" and self.calls == self.at:
            self.die()

    def on_the_wire(self) -> None:
        """The model has the call."""
        place, self.calls = self.calls, self.calls + 1
        if self.kind in FAILURES and place == self.at:
            self.happened = True
            raise FAILURES[self.kind]()
        if self.kind == LASTING and place >= self.at:
            self.happened = True
            raise FAILURES["model-error"]()
        if self.kind == "death-after-call" and place == self.at:
            self.die()

    def die(self) -> None:
        self.happened = self.dead = True
        raise Death

    def execute(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        """Django's execute wrapper: a dead process sends no statement; what it left open is rolled back."""
        if sql.startswith("ROLLBACK"):
            return execute(sql, params, many, context)
        if self.dead:
            raise Death
        if self.kind == "death-at-statement":
            if self.statements == self.at:
                self.die()
            self.statements += 1
        return execute(sql, params, many, context)

    @contextlib.contextmanager
    def befalls(self) -> Iterator[None]:
        """The block is one process: when it dies its connection goes with it."""
        try:
            with connection.execute_wrapper(self.execute):
                yield
        finally:
            if self.dead:
                connection.close()


@dataclass
class WatchedModel:
    """Answers by the question alone: by chance, and mostly right once it is asked supporting questions.

    It remembers every call by the reference's name for its question, and the answer if there was one.
    """

    identity: str = "watched/1"
    concurrency: int = 1
    fault: Fault = field(default_factory=Fault)
    asked: list[tuple[str, DecisionRequest]] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)  # by the engine's fingerprint

    def answer(self, request: DecisionRequest) -> Answer:
        self.fault.before_call()
        definition = {"question": request.endpoint.definition.question, "labels": request.endpoint.definition.labels}
        configuration = request.endpoint.configuration.as_json()
        key = question_key(self.identity, definition, configuration, request.text, request.clock)
        assert self.keys.setdefault(request.fingerprint, key) == key, "two questions have one fingerprint"
        self.asked.append((key, request))
        self.fault.on_the_wire()
        self.answers[key] = answer = _answer(key, request)
        return answer


def right_label(text: str, labels: tuple[str, ...]) -> str:
    """What a careful reviewer says of a text."""
    return labels[hashlib.sha256(text.encode()).digest()[0] % len(labels)]


def _answer(key: str, request: DecisionRequest) -> Answer:
    drawn = bytes.fromhex(key)
    labels, questions = request.endpoint.definition.labels, request.endpoint.configuration.questions
    label = labels[drawn[0] % len(labels)]
    if questions and drawn[3] < 170:
        label = right_label(request.text, labels)
    share = 0.5 + drawn[1] / 512
    rest = (1.0 - share) / (len(labels) - 1)
    return Answer(
        label="none of them" if drawn[4] < 6 else label,
        probabilities={name: share if name == label else rest for name in labels},
        answers={question.id: drawn[2] / 255 for question in questions},
        tokens_in=len(request.text),
        tokens_out=1,
    )
