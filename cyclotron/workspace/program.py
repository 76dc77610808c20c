"""What a program that holds a cyclotron in its own process writes to it, with a model of its own.

A cyclotron of the lab is written through the workspace, so that each write leaves its audit entry. A host's store is
nobody's in the lab: the host knows who may what, and keeps its own record of who did it.
"""

from typing import Any

from django.conf import settings

from cyclotron import actions
from cyclotron.actions.asking import Asker
from cyclotron.actions.deciding import DecidedItem, decide_item
from cyclotron.actions.evaluating import StartedEvaluation, evaluate_inside, run_inside, start_evaluation
from cyclotron.actions.learning import Learned, learn_if_due
from cyclotron.actions.reviewing import RecordedReview
from cyclotron.core.live_calls import refuse_unless_live
from cyclotron.core.overview import SetSummary
from cyclotron.store import Store
from cyclotron.workspace.access import require_live
from cyclotron.workspace.held import HeldCyclotron
from cyclotron.workspace.workspace import Workspace
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock


class HostWrites:
    """The writes to a host's store. `LiveCallsOffError` for what may call a model, where the settings switch that off.

    Settings that say nothing about it leave it to the host, whose own code calls.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def decide(self, asker: Asker, **given: Any) -> DecidedItem:
        """Decide one item; see `decide_item`."""
        _require_live_in_a_host()
        return decide_item(asker, now=clock.now(), **given)

    def learn(self, asker: Asker) -> list[Learned]:
        """Run the learning that is due; see `learn_if_due`."""
        _require_live_in_a_host()
        return learn_if_due(asker, now=clock.now())

    def review(self, reviewer: str, **said: Any) -> RecordedReview:
        """Record what `reviewer` said; see `record_review`."""
        return actions.record_review(self.store, reviewer=reviewer, now=clock.now(), **said)

    def undo(self, identity: str, actor: str) -> bool:
        """Retract a review in the name of `actor`; see `undo_review`."""
        return actions.undo_review(self.store, identity=identity, actor=actor, now=clock.now())

    def freeze(self, classifier: str | None) -> SetSummary:
        """Freeze the eligible labels; see `freeze_held_out_set`."""
        return actions.freeze_held_out_set(self.store, classifier, now=clock.now())

    def evaluate(self, asker: Asker, classifier: str | None, **confirmation: Any) -> StartedEvaluation:
        """Evaluate inside the call; see `evaluate_inside`."""
        _require_live_in_a_host()
        return evaluate_inside(
            self.store,
            classifier,
            model=asker.model,
            ceiling=asker.ceiling,
            clock=asker.clock,
            guard=asker.guard,
            **confirmation,
        )


class LabWrites(HostWrites):
    """The same to a cyclotron that the caller's account holds in the lab: each leaves one audit entry of the caller."""

    def __init__(self, store: Store, caller: Caller) -> None:
        super().__init__(store)
        self.caller = caller

    def decide(self, asker: Asker, **given: Any) -> DecidedItem:
        """See `Workspace.decide`."""
        return self._workspace(asker).decide(self.store.cyclotron_id, **given)

    def learn(self, asker: Asker) -> list[Learned]:
        """Run the learning that is due. Calls to a model run outside any transaction, so the audit entry follows."""
        return self._workspace(asker).learn(self.store.cyclotron_id)

    def review(self, reviewer: str, **said: Any) -> RecordedReview:
        """See `Workspace.review`."""
        return self._workspace(speaker=reviewer).review(self.store.cyclotron_id, **said)

    def undo(self, identity: str, actor: str) -> bool:
        """See `Workspace.undo`."""
        return self._workspace(speaker=actor).undo(self.store.cyclotron_id, identity=identity)

    def freeze(self, classifier: str | None) -> SetSummary:
        """See `Workspace.freeze`."""
        return self._workspace().freeze(self.store.cyclotron_id, classifier)

    def evaluate(self, asker: Asker, classifier: str | None, **confirmation: Any) -> StartedEvaluation:
        """Evaluate inside the call; what is refused, and in which order, is as in `start_evaluation`."""
        return self._workspace(asker).evaluate_inside(self.store.cyclotron_id, classifier, **confirmation)

    def _workspace(self, asker: Asker | None = None, speaker: str | None = None) -> "_ProgramWorkspace":
        return _ProgramWorkspace(self.caller, asker, speaker)


class _ProgramWorkspace(Workspace):
    """A workspace for one write of a program, which asks its own model and says whose word it brings."""

    def __init__(self, caller: Caller, asker: Asker | None, speaker: str | None) -> None:
        super().__init__(caller)
        self._own_asker, self._speaker = asker, speaker

    @property
    def speaker(self) -> str:
        return self.caller.actor if self._speaker is None else self._speaker

    def learn(self, cyclotron_id: str) -> list[Learned]:
        held = self.open(cyclotron_id, needs=Role.OPERATOR)
        require_live()
        learned = learn_if_due(self._asker(held), now=clock.now())
        if learned:
            self.audit(held, "cyclotron.learned", steps=len(learned))
        return learned

    def evaluate_inside(self, cyclotron_id: str, classifier: str | None, **confirmation: Any) -> StartedEvaluation:
        with self.writing(cyclotron_id, Role.OPERATOR) as held:
            require_live()
            asker = self._asker(held)
            started = start_evaluation(
                held.store,
                classifier,
                model=asker.model.identity,
                ceiling_left=asker.ceiling.left,
                now=asker.clock(),
                **confirmation,
            )
            if started.new:
                bound = confirmation["confirmed_bound"]
                self.audit(held, "evaluation.confirmed", evaluation=started.id, bound=bound)
        return run_inside(asker, started)

    def _asker(self, held: HeldCyclotron) -> Asker:
        return super()._asker(held) if self._own_asker is None else self._own_asker


def _require_live_in_a_host() -> None:
    refuse_unless_live(getattr(settings, "KAPSOWEB_ALLOW_LIVE", True))
