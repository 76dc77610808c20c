"""The workspace: each write checks the role, runs one action and leaves its audit entry, all three or none.

Reads begin with `open` and go on with `cyclotron.queries`. A record of another account is missing, whatever the role.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from django.conf import settings

from cyclotron import actions, queries
from cyclotron.actions.asking import Asker, Ceiling
from cyclotron.actions.deciding import DecidedItem, decide_item
from cyclotron.actions.evaluating import StartedEvaluation, cancel_evaluation, finish_at_once, start_evaluation
from cyclotron.actions.replaying import Replayed, replay_rows
from cyclotron.actions.reviewing import RecordedReview
from cyclotron.adapters.configured import decision_model, decision_model_or_none
from cyclotron.core.overview import SetSummary
from cyclotron.core.replay import ReplayRow
from cyclotron.core.verdict import DEFAULT_MINIMUM_PER_LABEL
from cyclotron.service import HeldOutService
from cyclotron.workspace.access import require_live
from cyclotron.workspace.creating import Creating
from cyclotron.workspace.held import HeldCyclotron
from cyclotron.workspace.importing import Importing
from cyclotron.workspace.reviewing import Reviewing
from kapsoweb.accounts.errors import NotAllowedError
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock


class Workspace(Creating, Reviewing, Importing):
    """The cyclotrons of a caller's account, with what the caller's role allows."""

    @cached_property
    def held_out(self) -> HeldOutService:
        """The held-out service of this account: it opens what the caller reaches, and evaluates by a job."""
        return HeldOutService(
            open_cyclotron=self._opened,
            allow_live=settings.KAPSOWEB_ALLOW_LIVE,
            account_id=self.caller.account.id,
            actions=self,
        )

    @property
    def speaker(self) -> str:
        """Whose word a review or an undo is."""
        return self.caller.actor

    @contextmanager
    def _opened(self, cyclotron_id: str, max_requests: int | None = None) -> Iterator[Asker]:
        yield Asker(self.open(cyclotron_id).store, decision_model_or_none(), clock.now, Ceiling(max_requests))

    def decide(
        self,
        cyclotron_id: str,
        *,
        identity: str,
        values: dict[str, Any],
        review_rate: float = 1.0,
        audit_rate: float = 0.05,
        low_confidence: float | None = None,
    ) -> DecidedItem:
        """Decide one item with the lab's decision model. Operators; `LiveCallsOffError` where live calls are off.

        Calls to a model run outside any transaction, so the audit entry follows the decision.
        """
        held = self.open(cyclotron_id, needs=Role.OPERATOR)
        require_live()
        decided = decide_item(
            self._asker(held),
            identity=identity,
            values=values,
            now=clock.now(),
            review_rate=review_rate,
            audit_rate=audit_rate,
            low_confidence=low_confidence,
        )
        self.audit(held, "item.decided", decision=decided.decision_id, item=identity)
        return decided

    def replay(
        self,
        cyclotron_id: str,
        rows: Sequence[ReplayRow],
        *,
        classifier: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Replayed:
        """Decide labelled rows and record their labels in the caller's name, learning as it goes. Operators.

        `LiveCallsOffError` where live calls are off. The audit entry comes first: a replay that stops on its way has
        recorded what came before.
        """
        with self.writing(cyclotron_id, Role.OPERATOR) as held:
            require_live()
            asker = self._asker(held)
            self.audit(held, "replay.started", rows=len(rows))
        return replay_rows(asker, rows, classifier=classifier, reviewer=self.caller.actor, progress=progress)

    def review(
        self,
        cyclotron_id: str,
        *,
        identity: str,
        decision_id: str,
        label: str | None,
        classifier: str | None = None,
        explanation: str = "",
        reason_code: str = "",
        selected_by: str | None = None,
    ) -> RecordedReview:
        """Record a review in the caller's name; see `record_review`. Reviewers."""
        with self.writing(cyclotron_id, Role.REVIEWER) as held:
            recorded = actions.record_review(
                held.store,
                identity=identity,
                decision_id=decision_id,
                label=label,
                reviewer=self.speaker,
                classifier=classifier,
                explanation=explanation,
                reason_code=reason_code,
                selected_by=selected_by,
                now=clock.now(),
            )
            if recorded.new:
                self.audit(held, "review.recorded", review=identity, item=recorded.item_id, label=label)
                self._learn_when_due(held)
        return recorded

    def undo(self, cyclotron_id: str, *, identity: str) -> bool:
        """Retract a review; False when it had been undone. Reviewers their own, operators anybody's."""
        with self.writing(cyclotron_id, Role.REVIEWER) as held:
            reviewer = queries.reviewer_of(held.store, identity)
            if reviewer != self.caller.actor and not self.caller.may(Role.OPERATOR):
                raise NotAllowedError(
                    "a reviewer may undo their own reviews, and an operator anybody's. Nothing was changed.",
                    needed=Role.OPERATOR.value,
                    role=self.caller.role.value,
                )
            undone = actions.undo_review(held.store, identity=identity, actor=self.speaker, now=clock.now())
            if undone:
                self.audit(held, "review.undone", review=identity)
        return undone

    def freeze(self, cyclotron_id: str, classifier: str | None = None) -> SetSummary:
        """Freeze the eligible labels into a held-out set; no model call. Operators."""
        with self.writing(cyclotron_id, Role.OPERATOR) as held:
            held.store.lock()
            before = held.store.classifier(classifier).current_set_id
            frozen = actions.freeze_held_out_set(held.store, classifier, now=clock.now())
            if frozen.id != before:
                self.audit(held, "set.frozen", set=frozen.id, size=frozen.size)
        return frozen

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
        """Confirm an evaluation: a job runs it, or, with everything cached, the report is there at once. Operators.

        `LiveCallsOffError` where live calls are off; for what else is refused, and in which order, see
        `start_evaluation`.
        """
        with self.writing(cyclotron_id, Role.OPERATOR) as held:
            require_live()
            model = decision_model()
            started = start_evaluation(
                held.store,
                classifier,
                model=model.identity,
                account_id=self.caller.account.id,
                confirmed_bound=confirmed_bound,
                confirmed_plan=confirmed_plan,
                request_id=request_id,
                set_id=set_id,
                minimum_per_label=minimum_per_label,
                now=clock.now(),
            )
            if started.new:
                self.audit(held, "evaluation.confirmed", evaluation=started.id, bound=confirmed_bound)
        return finish_at_once(held.store, started, model=model, clock=clock.now)

    def cancel_evaluation(self, cyclotron_id: str, evaluation_id: str) -> None:
        """Ask an evaluation to stop; one that has ended or was asked is left alone. Operators."""
        with self.writing(cyclotron_id, Role.OPERATOR) as held:
            held.store.lock()
            before = queries.evaluation_record(held.store, evaluation_id)
            cancel_evaluation(held.store, evaluation_id, now=clock.now())
            if before.state == "running" and not before.cancel_requested:
                self.audit(held, "evaluation.cancelled", evaluation=evaluation_id)

    def _asker(self, held: HeldCyclotron) -> Asker:
        """What asks the lab's decision model on behalf of a cyclotron."""
        return Asker(held.store, decision_model(), clock.now)
