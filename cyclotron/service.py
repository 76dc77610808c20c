"""The held-out service: the two operations that a panel needs, for the lab and for hosts. Source: spec, section 8.

`overview` says what a panel shows; `command` freezes or evaluates. What comes in and goes out is JSON, described by the
schemas beside the report's. The service does the work inside the call; the lab gives it a workspace instead, which
checks roles, leaves audit entries, and evaluates by a job. It keeps nothing between calls, so threads may share one; a
coroutine calls it by `asgiref.sync.sync_to_async`, like anything else that reads the database.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Protocol

from django.core.exceptions import ImproperlyConfigured, ObjectDoesNotExist, PermissionDenied
from django.http import Http404

from cyclotron import queries
from cyclotron.actions import freeze_held_out_set
from cyclotron.actions.asking import Ceiling
from cyclotron.actions.evaluating import StartedEvaluation, close_lost_evaluation, evaluate_inside
from cyclotron.adapters.configured import UnconfiguredModel
from cyclotron.adapters.decision_model import DecisionModel
from cyclotron.core.errors import NoSuchCyclotronError
from cyclotron.core.held_out_format import check_payload, overview_json, set_json
from cyclotron.core.live_calls import refuse_unless_live
from cyclotron.core.overview import Overview, SetSummary
from cyclotron.core.verdict import DEFAULT_MINIMUM_PER_LABEL
from cyclotron.store import ROOM, Store
from kapsoweb.accounts.errors import RecordNotFound
from kapsoweb.foundation import clock

FREEZE, EVALUATE = "freeze", "evaluate"
# How an opener may say no, whether the cyclotron is missing or somebody else's.
REFUSALS = (PermissionError, PermissionDenied, Http404, ObjectDoesNotExist, NoSuchCyclotronError)


class OpenedCyclotron(Protocol):
    """What the service needs of an open cyclotron. A `cyclotron.engine.Cyclotron` is one."""

    @property
    def store(self) -> Store:
        """Where it is stored."""
        ...

    @property
    def model(self) -> DecisionModel:
        """The model that an evaluation asks."""
        ...

    @property
    def ceiling(self) -> Ceiling:
        """How many requests this open may make."""
        ...


class OpenCyclotron(Protocol):
    """Opens an authorised cyclotron for one call, with a ceiling on its model requests; raises for anybody else."""

    def __call__(self, cyclotron_id: str, max_requests: int | None = None) -> AbstractContextManager[OpenedCyclotron]:
        """A context manager: whatever the store needs (a lease, say) is held only as long as it is entered."""
        ...


class HeldOutActions(Protocol):
    """The two writes behind `command`. A `cyclotron.workspace.Workspace` is one."""

    def freeze(self, cyclotron_id: str, classifier: str | None = None) -> SetSummary:
        """Freeze the eligible labels."""
        ...

    def evaluate(
        self,
        cyclotron_id: str,
        classifier: str | None = None,
        *,
        confirmed_bound: int,
        confirmed_plan: str | None = None,
        request_id: str | None = None,
        set_id: str | None = None,
        minimum_per_label: int = DEFAULT_MINIMUM_PER_LABEL,
    ) -> StartedEvaluation:
        """Confirm an evaluation and run it, or have it run."""
        ...


class InsideTheCall:
    """Freezes and evaluates while the caller waits, for hosts without a worker."""

    def __init__(self, open_cyclotron: OpenCyclotron, *, allow_live: bool) -> None:
        self._open = open_cyclotron
        self._allow_live = allow_live

    def freeze(self, cyclotron_id: str, classifier: str | None = None) -> SetSummary:
        """Freeze the eligible labels; no model call."""
        with self._open(cyclotron_id) as cyclotron:
            return freeze_held_out_set(cyclotron.store, classifier, now=clock.now())

    def evaluate(
        self,
        cyclotron_id: str,
        classifier: str | None = None,
        *,
        confirmed_bound: int,
        confirmed_plan: str | None = None,
        request_id: str | None = None,
        set_id: str | None = None,
        minimum_per_label: int = DEFAULT_MINIMUM_PER_LABEL,
    ) -> StartedEvaluation:
        """Evaluate under a ceiling of as many requests as were confirmed."""
        refuse_unless_live(self._allow_live)  # before anything is opened, and so the same of every cyclotron
        with self._open(cyclotron_id, max_requests=confirmed_bound) as cyclotron:
            return evaluate_inside(
                cyclotron.store,
                classifier,
                model=cyclotron.model,
                ceiling=cyclotron.ceiling,
                clock=clock.now,
                confirmed_bound=confirmed_bound,
                confirmed_plan=confirmed_plan,
                request_id=request_id,
                set_id=set_id,
                minimum_per_label=minimum_per_label,
            )


class HeldOutService:
    """Serves `heldOutOverview` and `heldOutCommand` over whatever `open_cyclotron` opens.

    `account_id` is the account that it is scoped to, None for a global one, whose opener knows by itself who asks.
    What the opener refuses by one of `REFUSALS` is `RecordNotFound`, the same for a missing cyclotron and for somebody
    else's; any other exception of it goes on to the caller.
    """

    def __init__(
        self,
        *,
        open_cyclotron: OpenCyclotron,
        allow_live: bool,
        account_id: str | None = None,
        actions: HeldOutActions | None = None,
    ) -> None:
        self.allow_live = check_flag(allow_live)
        self.account_id = account_id
        self._open = _refusing_alike(open_cyclotron)
        self._actions = actions or InsideTheCall(self._open, allow_live=allow_live)

    def overview(self, cyclotron_id: str, classifier: str | None = None) -> dict[str, Any]:
        """What the panel of one classifier shows (the first unless named); see the overview's schema."""
        return overview_json(self.panel(cyclotron_id, classifier))

    def panel(self, cyclotron_id: str, classifier: str | None = None) -> Overview:
        """The same before it is written as JSON, for the page that draws the panel."""
        with self._open(cyclotron_id) as cyclotron:
            close_lost_evaluation(cyclotron.store, classifier, now=clock.now())
            found = queries.overview(
                cyclotron.store,
                classifier,
                model=cyclotron.model.identity,
                allow_live=self.allow_live,
            )
        if isinstance(cyclotron.model, UnconfiguredModel) and found.disabled_reason is None:
            found = replace(found, disabled_reason=cyclotron.model.error.message)
        return found

    def command(self, action: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """`freeze` or `evaluate`, with the payload that the command's schema describes.

        Raises `InvalidPayloadError` for another action or payload, and every refusal of the action itself.
        """
        given = check_payload(action, payload)
        cyclotron_id, classifier = given["cyclotronId"], given.get("classifier")
        if action == FREEZE:
            frozen = self._actions.freeze(cyclotron_id, classifier)
            return {"action": FREEZE, "heldOutSet": set_json(frozen)}
        started = self._actions.evaluate(
            cyclotron_id,
            classifier,
            confirmed_bound=given["confirmedRequestBound"],
            confirmed_plan=given.get("confirmedPlan"),
            request_id=given.get("requestId"),
            set_id=given.get("setId"),
            minimum_per_label=given.get("minimumPerLabel", DEFAULT_MINIMUM_PER_LABEL),
        )
        return {"action": EVALUATE, **self._outcome(cyclotron_id, started.id)}

    def _outcome(self, cyclotron_id: str, evaluation_id: str) -> dict[str, Any]:
        """The evaluation as it stands, and its report when it has one."""
        with self._open(cyclotron_id) as cyclotron:
            evaluation = queries.evaluation_record(cyclotron.store, evaluation_id)
            return {
                "evaluation": {"id": evaluation.id, "state": evaluation.state, "reason": evaluation.reason or None},
                "report": queries.report_of_evaluation(cyclotron.store, evaluation),
            }


def check_flag(allow_live: bool) -> bool:
    """Return the flag unless it is something else than a boolean: the text "false" must not switch calls on."""
    if not isinstance(allow_live, bool):
        raise ImproperlyConfigured("allow_live must be True or False.")
    return allow_live


def _refusing_alike(open_cyclotron: OpenCyclotron) -> OpenCyclotron:
    """The same opener, whose refusals are one error."""

    @contextmanager
    def opened(cyclotron_id: str, max_requests: int | None = None) -> Iterator[OpenedCyclotron]:
        with ExitStack() as held:
            try:
                cyclotron = held.enter_context(open_cyclotron(cyclotron_id, max_requests=max_requests))
            except REFUSALS as error:
                raise RecordNotFound(
                    f"There is no {ROOM} with the id {cyclotron_id!r} here.", room=ROOM, recordId=cyclotron_id
                ) from error
            yield cyclotron

    return opened
