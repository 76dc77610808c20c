"""The workspace's review queue: take an item, answer or skip it, take the last answer back. For reviewers."""

from cyclotron.actions import queueing
from cyclotron.actions.reviewing import RecordedReview
from cyclotron.queries import AssignmentShown
from cyclotron.workspace.learning import Learning
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock


class Reviewing(Learning):
    """What reviewers do with the queue, in the caller's name."""

    def take(self, cyclotron_id: str, classifier: str | None = None) -> AssignmentShown | None:
        """The item that the caller holds, or the next of the queue; see `take_item`."""
        held = self.open(cyclotron_id, needs=Role.REVIEWER)
        return queueing.take_item(held.store, classifier, reviewer=self.caller.actor, now=clock.now())

    def answer(
        self,
        cyclotron_id: str,
        assignment_id: str,
        *,
        label: str | None,
        explanation: str = "",
        reason_code: str = "",
    ) -> RecordedReview:
        """Record what the caller says of the item they hold; see `answer_assignment`."""
        with self.writing(cyclotron_id, Role.REVIEWER) as held:
            recorded = queueing.answer_assignment(
                held.store,
                assignment_id,
                reviewer=self.caller.actor,
                label=label,
                explanation=explanation,
                reason_code=reason_code,
                now=clock.now(),
            )
            if recorded.new:
                self.audit(held, "review.recorded", review=recorded.identity, item=recorded.item_id, label=label)
                self._learn_when_due(held)
        return recorded

    def skip(self, cyclotron_id: str, assignment_id: str) -> None:
        """Give the item back unanswered; see `skip_assignment`."""
        held = self.open(cyclotron_id, needs=Role.REVIEWER)
        queueing.skip_assignment(held.store, assignment_id, reviewer=self.caller.actor, now=clock.now())

    def undo_last(self, cyclotron_id: str, classifier: str | None = None) -> AssignmentShown | None:
        """Take the caller's newest answer back, and its item with it; see `queueing.undo_last`."""
        with self.writing(cyclotron_id, Role.REVIEWER) as held:
            back = queueing.undo_last(held.store, classifier, reviewer=self.caller.actor, now=clock.now())
            if back is not None:
                self.audit(held, "review.undone", item=back.item_id)
        return back

    def undo_answer(self, cyclotron_id: str, review: str) -> AssignmentShown:
        """Take the caller's answer of that identity back, and its item with it; see `queueing.undo_answer`."""
        with self.writing(cyclotron_id, Role.REVIEWER) as held:
            back = queueing.undo_answer(held.store, review, reviewer=self.caller.actor, now=clock.now())
            self.audit(held, "review.undone", review=review, item=back.item_id)
        return back
