"""Permits in the database: the bound that a person confirmed, kept whatever happens to the workers.

A permit is taken in a transaction of its own before the call that it pays for, by the newest claim only; the answer
and the end of the permit are recorded in one. Source: spec held-out, section 4.
"""

from dataclasses import dataclass

from django.db.models import F, QuerySet, Sum

from cyclotron.actions.asking import Clock, store_answers
from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.core.errors import PermitsExhaustedError
from cyclotron.models import CachedAnswer, Evaluation, Permit
from cyclotron.store import Store


@dataclass(frozen=True)
class EvaluationPermits:
    """The permits of one evaluation as one claim may take them."""

    store: Store
    evaluation_id: str
    fence: int
    clock: Clock

    def take(self, fingerprint: str) -> int:
        """Take the next permit; raises `PermitsExhaustedError` when none is left or another claim has taken over."""
        now = self.clock()
        with self.store.transaction():
            taken = (
                self.store.all(Evaluation)
                .filter(id=self.evaluation_id, state="running", fence=self.fence, permits_taken__lt=F("bound"))
                .update(permits_taken=F("permits_taken") + 1, seen_at=now)
            )
            if not taken:
                raise PermitsExhaustedError(
                    "the evaluation has no permit left for this claim.", evaluation=self.evaluation_id
                )
            number = self.store.all(Evaluation).values_list("permits_taken", flat=True).get(id=self.evaluation_id)
            self.store.rows(Permit).create(
                evaluation_id=self.evaluation_id, number=number, fingerprint=fingerprint, taken_at=now
            )
        return number

    def record(self, number: int, request: DecisionRequest, answer: Answer) -> None:
        """Store the answer and close its permit. A late claim's answer is kept too: it was paid for."""
        now = self.clock()
        with self.store.transaction():
            store_answers(self.store, [(request, answer)], now=now)
            self._permit(number).update(answered_at=now, lost_to="")

    def lose(self, number: int, reason: str) -> None:
        """Close a permit whose call brought no answer."""
        self._permit(number).update(lost_to=reason[:40])

    def _permit(self, number: int) -> QuerySet[Permit]:
        return self.store.rows(Permit).filter(evaluation_id=self.evaluation_id, number=number)


def claim_evaluation(store: Store, evaluation_id: str, *, fence: int) -> bool:
    """Make `fence` the evaluation's newest claim; False when it has ended or a newer claim has it.

    Permits that an earlier claim took and never closed are closed as lost: their calls may have been made.
    """
    with store.transaction():
        won = store.all(Evaluation).filter(id=evaluation_id, state="running", fence__lt=fence).update(fence=fence)
        if won:
            store.rows(Permit).filter(evaluation_id=evaluation_id, answered_at=None, lost_to="").update(lost_to="crash")
    return bool(won)


@dataclass(frozen=True)
class Spent:
    """What an evaluation's own calls brought: the answered requests by their fingerprints, and tokens in and out."""

    fingerprints: frozenset[str]
    tokens_in: int
    tokens_out: int


def spent_by(store: Store, evaluation_id: str) -> Spent:
    """The answered requests of an evaluation's permits, over all of its claims."""
    answered = store.rows(Permit).filter(evaluation_id=evaluation_id, answered_at__isnull=False)
    rows = store.all(CachedAnswer).filter(fingerprint__in=answered.values("fingerprint"))
    totals = rows.aggregate(tokens_in=Sum("tokens_in"), tokens_out=Sum("tokens_out"))
    fingerprints = frozenset(answered.values_list("fingerprint", flat=True))
    return Spent(fingerprints, totals["tokens_in"] or 0, totals["tokens_out"] or 0)
