"""The Python interface of a cyclotron: what an application that embeds one calls. Source: spec held-out, section 7.

Methods that may call a model are asynchronous; they do their work in a thread, and raise `LiveCallsOffError` before
anything is spent where the settings have `KAPSOWEB_ALLOW_LIVE` off. The handle counts its model requests against
`max_requests` for as long as it is open.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import connections

from cyclotron import queries
from cyclotron.actions.asking import Asker, Ceiling, Guard
from cyclotron.actions.deciding import DecidedItem
from cyclotron.actions.learning import Learned
from cyclotron.actions.reviewing import RecordedReview
from cyclotron.adapters.decision_model import DecisionModel
from cyclotron.core.definition import CyclotronDefinition
from cyclotron.core.errors import (
    EvaluationInterruptedError,
    EvaluationRunningError,
    InvalidDefinitionError,
)
from cyclotron.core.overview import SetSummary, Status
from cyclotron.core.verdict import DEFAULT_MINIMUM_PER_LABEL
from cyclotron.labels import CurrentLabel
from cyclotron.plan import make_plan
from cyclotron.queries import EventPage
from cyclotron.store import Store
from cyclotron.workspace import Workspace
from cyclotron.workspace.program import HostWrites, LabWrites
from kapsoweb.accounts.access import local_caller
from kapsoweb.accounts.caller import Door
from kapsoweb.foundation import clock

LAB = "lab:"

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def _in_any_context(method: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Let a method that reads the database be called while an event loop runs, where Django would refuse.

    It is then done in a thread of its own, for which the caller waits; no model is called by such a method.
    """

    def done_there(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        try:
            return method(*args, **kwargs)
        finally:
            connections.close_all()

    @wraps(method)
    def wherever(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return method(*args, **kwargs)
        with ThreadPoolExecutor(max_workers=1) as pool:
            return pool.submit(done_there, *args, **kwargs).result()

    return wherever


class Cyclotron:
    """An open cyclotron: a store, a model and a ceiling on the requests that this open may make.

    `open` gives one of the lab, where each write leaves an audit entry. A host makes one of a store of its own, whose
    writes it records itself; `writes` is for whoever writes in another way.
    """

    def __init__(
        self,
        store: Store,
        model: DecisionModel,
        *,
        max_requests: int | None = None,
        writes: HostWrites | None = None,
    ) -> None:
        self.store = store
        self.model = model
        self.ceiling = Ceiling(max_requests)
        self._writes = writes or HostWrites(store)

    @classmethod
    @_in_any_context
    def open(
        cls,
        location: str,
        definition: CyclotronDefinition,
        model: DecisionModel,
        max_requests: int | None = None,
    ) -> "Cyclotron":
        """Open `lab:NAME` in the local account, creating it when it is new.

        Raises `DefinitionChangedError` when the store holds another definition under that name.
        """
        if not location.startswith(LAB):
            raise InvalidDefinitionError(f"a store of the lab is written {LAB}NAME.", location=location)
        store = open_store(location.removeprefix(LAB), definition)
        writes = LabWrites(store, local_caller(Door.PYTHON))
        return cls(store, model, max_requests=max_requests, writes=writes)

    def __enter__(self) -> "Cyclotron":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held between calls, so there is nothing to give back."""

    async def decide(
        self,
        item_id: str,
        values: dict[str, Any],
        *,
        review_rate: float = 1.0,
        audit_rate: float = 0.05,
        low_confidence: float | None = None,
        execution_guard: Guard | None = None,
    ) -> DecidedItem:
        """Decide one item; see `cyclotron.actions.deciding.decide_item`."""
        return await sync_to_async(self._writes.decide)(
            self._asker(execution_guard),
            identity=item_id,
            values=values,
            review_rate=review_rate,
            audit_rate=audit_rate,
            low_confidence=low_confidence,
        )

    async def learn(self, *, execution_guard: Guard | None = None) -> Sequence[Learned]:
        """Run the learning that is due, if any."""
        return await sync_to_async(self._writes.learn)(self._asker(execution_guard))

    @_in_any_context
    def review(
        self,
        review_id: str,
        decision_id: str,
        label: str | None,
        *,
        reviewer: str,
        classifier: str | None = None,
        explanation: str = "",
        reason_code: str = "",
        selected_by: str | None = None,
    ) -> RecordedReview:
        """Record a review; see `cyclotron.actions.reviewing.record_review`."""
        return self._writes.review(
            reviewer,
            identity=review_id,
            decision_id=decision_id,
            label=label,
            classifier=classifier,
            explanation=explanation,
            reason_code=reason_code,
            selected_by=selected_by,
        )

    @_in_any_context
    def undo(self, review_id: str, *, actor: str) -> bool:
        """Retract a review; False when it had been undone already."""
        return self._writes.undo(review_id, actor)

    @_in_any_context
    def labels(self, classifier: str | None = None) -> list[CurrentLabel]:
        """The labels that count now."""
        return queries.labels(self.store, classifier)

    @_in_any_context
    def status(self, classifier: str | None = None) -> Status:
        """Counts, the active version and when learning is due."""
        return queries.status(self.store, classifier)

    @_in_any_context
    def events(self, after: int = 0, limit: int = queries.EVENTS_AT_ONCE) -> EventPage:
        """Events after a cursor."""
        return queries.events(self.store, after=after, limit=limit)

    @_in_any_context
    def freeze_held_out_set(self, classifier: str | None = None) -> SetSummary:
        """Freeze the eligible labels; no model call."""
        return self._writes.freeze(classifier)

    @_in_any_context
    def held_out_request_bound(self, classifier: str | None = None) -> int:
        """The most new requests that an evaluation of the newest set would make now."""
        return make_plan(self.store, self.store.classifier(classifier), model=self.model.identity).bound

    async def evaluate_held_out(
        self,
        classifier: str | None = None,
        set_id: str | None = None,
        minimum_per_label: int = DEFAULT_MINIMUM_PER_LABEL,
        execution_guard: Guard | None = None,
    ) -> dict[str, Any]:
        """Evaluate inside this call and return the report.

        Raises `RequestCeilingError` before any call when the evaluation could pass this open's ceiling, and
        `EvaluationInterruptedError` when it ended without a report (what it got is kept).
        """
        return await sync_to_async(self._evaluate)(classifier, set_id, minimum_per_label, execution_guard)

    @_in_any_context
    def held_out_reports(self, classifier: str | None = None) -> Sequence[dict[str, Any]]:
        """The last ten reports, oldest first."""
        return queries.held_out_reports(self.store, classifier)

    def _evaluate(
        self, classifier: str | None, set_id: str | None, minimum_per_label: int, guard: Guard | None
    ) -> dict[str, Any]:
        row = self.store.classifier(classifier)
        plan = make_plan(self.store, row, model=self.model.identity, set_id=set_id, minimum_per_label=minimum_per_label)
        ended = self._writes.evaluate(
            self._asker(guard),
            row.name,
            confirmed_bound=plan.bound,
            confirmed_plan=plan.digest,
            set_id=set_id,
            minimum_per_label=minimum_per_label,
        )
        if not ended.new:
            raise EvaluationRunningError(
                "an evaluation of this classifier is running; wait for it or cancel it.", evaluation=ended.id
            )
        evaluation = queries.evaluation_record(self.store, ended.id)
        report = queries.report_of_evaluation(self.store, evaluation)
        if report is None:
            raise EvaluationInterruptedError(
                "the evaluation ended without a report; every answer it got is kept.",
                evaluation=evaluation.id,
                reason=evaluation.reason,
            )
        return report

    def _asker(self, guard: Guard | None) -> Asker:
        return Asker(self.store, self.model, clock.now, self.ceiling, guard)


def open_store(name: str, definition: CyclotronDefinition) -> Store:
    """The local account's cyclotron of that name, created from the definition when there is none.

    A `learn_every` in the definition becomes the store's. Raises `DefinitionChangedError`.
    """
    return Workspace(local_caller(Door.PYTHON)).create_or_open(name=name, definition=definition).store
