"""Permits in the database: the bound that a person confirmed, kept whatever happens to the workers.

A permit is taken before the call that it pays for, by the newest claim only, and is committed before the call is made;
the answer and the end of the permit are committed together. What the threads of one worker want at the same moment is
one transaction. Source: spec held-out, section 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, QuerySet, Sum

from cyclotron.actions.asking import LOOK_UP_AT_ONCE, Clock, store_answers
from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.core.errors import PermitsExhaustedError
from cyclotron.models import CachedAnswer, Evaluation, Permit
from cyclotron.store import Store
from kapsoweb.foundation.together import Together


@dataclass(frozen=True)
class _Wish:
    """A permit for the request of that fingerprint."""

    fingerprint: str


@dataclass(frozen=True)
class _Answered:
    """The answer that the permit of that number paid for."""

    number: int
    request: DecisionRequest
    answer: Answer


@dataclass(frozen=True)
class _Granted:
    """What became of a wish: the permit's number, or None where there is none to be had or the run should stop."""

    number: int | None
    stopped: bool = False


class EvaluationPermits:
    """The permits of one evaluation as one claim may take them."""

    def __init__(self, store: Store, evaluation_id: str, fence: int, clock: Clock) -> None:
        self.store, self.evaluation_id, self.fence, self.clock = store, evaluation_id, fence, clock
        self._together = Together(self._settle)

    def take(self, fingerprint: str) -> int | None:
        """Take the next permit; None once the evaluation was asked to stop.

        Raises `PermitsExhaustedError` when none is left or another claim has taken over.
        """
        granted = self._together(_Wish(fingerprint))
        if granted.number is None and not granted.stopped:
            raise PermitsExhaustedError(
                "the evaluation has no permit left for this claim.", evaluation=self.evaluation_id
            )
        return granted.number

    def record(self, number: int, request: DecisionRequest, answer: Answer) -> None:
        """Store the answer and close its permit. A late claim's answer is kept too: it was paid for."""
        self._together(_Answered(number, request, answer))

    def lose(self, number: int, reason: str) -> None:
        """Close a permit whose call brought no answer."""
        self._permits([number]).update(lost_to=reason[:40])

    def _settle(self, wanted: Sequence[_Wish | _Answered]) -> list[_Granted]:
        """Grant wishes and record answers, all in one transaction; the evaluation's row comes before its permits'."""
        now = self.clock()
        wishes = [each for each in wanted if isinstance(each, _Wish)]
        answered = [each for each in wanted if isinstance(each, _Answered)]
        with self.store.transaction():
            granted = iter(self._grant(wishes, now) if wishes else [])
            if answered:
                store_answers(self.store, [(each.request, each.answer) for each in answered], now=now)
                self._permits([each.number for each in answered]).update(answered_at=now, lost_to="")
        return [next(granted) if isinstance(each, _Wish) else _Granted(each.number) for each in wanted]

    def _grant(self, wishes: Sequence[_Wish], now: datetime) -> list[_Granted]:
        """As many permits as are left for this claim, in the order of the wishes."""
        evaluations = self.store.all(Evaluation).filter(id=self.evaluation_id)
        mine = evaluations.filter(state="running", fence=self.fence).select_for_update()
        row = mine.values_list("permits_taken", "bound", "cancel_requested").first()
        taken, bound, stopped = row or (0, 0, False)
        count = 0 if stopped else min(len(wishes), bound - taken)
        if count > 0:
            evaluations.update(permits_taken=F("permits_taken") + count, seen_at=now)
            issue_permits(self.store, self.evaluation_id, taken, [wish.fingerprint for wish in wishes[:count]], now)
        numbers = [*range(taken + 1, taken + count + 1), *[None] * (len(wishes) - count)]
        return [_Granted(number, stopped) for number in numbers]

    def _permits(self, numbers: Sequence[int]) -> QuerySet[Permit]:
        return self.store.rows(Permit).filter(evaluation_id=self.evaluation_id, number__in=numbers)


def issue_permits(store: Store, evaluation_id: str, taken: int, fingerprints: Sequence[str], now: datetime) -> None:
    """Write the permits after the first `taken`."""
    store.rows(Permit).bulk_create(
        Permit(evaluation_id=evaluation_id, number=number, fingerprint=fingerprint, taken_at=now)
        for number, fingerprint in enumerate(fingerprints, taken + 1)
    )


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
    fingerprints = sorted(set(answered.values_list("fingerprint", flat=True)))
    tokens_in = tokens_out = 0
    # Named in parts, and not by a subquery: PostgreSQL cannot know how many these are, and might compare all with all.
    for start in range(0, len(fingerprints), LOOK_UP_AT_ONCE):
        rows = store.all(CachedAnswer).filter(fingerprint__in=fingerprints[start : start + LOOK_UP_AT_ONCE])
        totals = rows.aggregate(tokens_in=Sum("tokens_in"), tokens_out=Sum("tokens_out"))
        tokens_in += totals["tokens_in"] or 0
        tokens_out += totals["tokens_out"] or 0
    return Spent(frozenset(fingerprints), tokens_in, tokens_out)
