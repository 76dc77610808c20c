"""The one way to a decision model: the cache first, then ceiling, guard and permit, then the wire, then the record.

`decide`, learning and evaluation all ask through here, so that the shared cache is filled by each for the others and no
call can be made without passing the same gates in the same order. Source: spec held-out, section 4.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from django.db import connections

from cyclotron.adapters.decision_model import DecisionModel
from cyclotron.core.configuration import Answer, DecisionRequest, input_digest
from cyclotron.core.errors import InvalidEvaluationError, ModelError, ModelRefusedError, RequestCeilingError
from cyclotron.models import CachedAnswer
from cyclotron.store import Store

log = logging.getLogger(__name__)

LOOK_UP_AT_ONCE = 500  # fingerprints in one query; SQLite allows 999 parameters in its oldest supported form
RECORD_AT_ONCE = 100  # answers of an unmetered batch in one transaction
FAILURES_IN_A_ROW = 5  # after that many the endpoint is taken to be down and no further permit is spent

Guard = Callable[[DecisionRequest], None]
Clock = Callable[[], datetime]


class Permits(Protocol):
    """The permits of one evaluation: taken before a call, closed after it, never given back."""

    def take(self, fingerprint: str) -> int | None:
        """Take one permit, or raise `PermitsExhaustedError`; returns its number, None where the run should stop."""
        ...

    def record(self, number: int, request: DecisionRequest, answer: Answer) -> None:
        """Store the answer and close the permit, in one transaction."""
        ...

    def lose(self, number: int, reason: str) -> None:
        """Close the permit without an answer; `reason` is a short code."""
        ...


@dataclass
class Ceiling:
    """The most model requests that one open may make (None: no ceiling), shared by its threads."""

    most: int | None = None
    made: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        if self.most is not None and (isinstance(self.most, bool) or not isinstance(self.most, int) or self.most < 0):
            raise InvalidEvaluationError("max_requests must be a whole number, 0 or more, or None.")

    def take(self) -> None:
        """Count one request, or raise `RequestCeilingError`."""
        with self._lock:
            if self.most is not None and self.made >= self.most:
                raise RequestCeilingError(
                    f"this open may make {self.most} model requests and has made them; open it again with a higher "
                    "ceiling to go on.",
                    maxRequests=self.most,
                )
            self.made += 1

    def give_back(self) -> None:
        """Count one request less: what was taken for it stopped before a call."""
        with self._lock:
            self.made -= 1

    @property
    def left(self) -> int | None:
        """How many more requests may be made, or None without a ceiling."""
        return None if self.most is None else self.most - self.made


@dataclass
class Asked:
    """What came of asking: answers by fingerprint, how many were new, the tokens of the new ones, what failed.

    `stopped` is True when the caller's `stop` ended it, `failure` the last error of a call that brought no answer,
    `gave_up` True when so many calls failed in a row that the rest were not made.
    """

    answers: dict[str, Answer]
    new: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    failure: ModelError | None = None
    stopped: bool = False
    gave_up: bool = False


@dataclass(frozen=True)
class Asker:
    """Asks one model on behalf of one open store."""

    store: Store
    model: DecisionModel
    clock: Clock
    ceiling: Ceiling = field(default_factory=Ceiling)
    guard: Guard | None = None

    def ask(
        self,
        requests: Sequence[DecisionRequest],
        *,
        permits: Permits | None = None,
        stop: Callable[[], bool] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Asked:
        """Answer every request, from the cache or the model; identical requests are one.

        Without permits the first failed call raises its `ModelError`. With them the others are still asked, until the
        endpoint refuses or several calls in a row fail; `failure` then holds the last error. `progress` is called with
        (answered, distinct requests). What was answered before an exception is stored.
        """
        if any(request.model != self.model.identity for request in requests):
            raise AssertionError("a request names another model than the one that would answer it")
        distinct = {request.fingerprint: request for request in requests}
        asked = Asked(cached_answers(self.store, list(distinct)))
        missing = [request for fingerprint, request in distinct.items() if fingerprint not in asked.answers]
        run = _Run(self, asked, len(distinct), permits, stop, progress)
        run.note_progress()
        run.over(missing)
        if asked.new:
            # Another writer may have been first with another answer to the same request: the stored one counts.
            asked.answers |= cached_answers(self.store, list(distinct))
        return asked


@dataclass(frozen=True)
class _Called:
    """An answer that came, and the permit that paid for it."""

    permit: int | None
    answer: Answer


class _Run:
    """The calls of one `ask`: some threads that take requests from one queue and share what came of them.

    No more calls are under way at once than the model's concurrency, and no more permits are taken for them.
    """

    def __init__(
        self,
        asker: Asker,
        asked: Asked,
        total: int,
        permits: Permits | None,
        stop: Callable[[], bool] | None,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.asker, self.asked, self.total = asker, asked, total
        self.permits, self.stop, self.progress = permits, stop, progress
        self.lock = threading.Lock()
        self.telling = threading.Lock()
        self.slots = threading.Semaphore(max(1, asker.model.concurrency))
        self.failures_in_a_row = 0
        self.ended: BaseException | None = None
        self.finished = False
        self.unrecorded: list[tuple[DecisionRequest, Answer]] = []

    def over(self, requests: Sequence[DecisionRequest]) -> None:
        queue = iter(requests)
        concurrency = self.asker.model.concurrency
        # Some more threads than calls: while one records its answer, another has the model answer the next request.
        workers = min(concurrency + concurrency // 2, len(requests)) if concurrency > 1 else 1
        if workers <= 1:
            self._drain(queue)
        else:
            threads = [threading.Thread(target=self._drain_in_thread, args=(queue,)) for _ in range(workers)]
            for thread in threads:
                thread.start()
            try:
                for thread in threads:
                    thread.join()
            except BaseException:
                self.finished = True  # Ctrl-C reaches this thread alone; the others must not go on asking
                raise
        self._record_batch()
        if self.ended is not None:
            raise self.ended

    def note_progress(self) -> None:
        if self.progress is None:
            return
        with self.telling:  # one at a time, so that the count never falls; a listener may take its time
            with self.lock:
                done = len(self.asked.answers)
            self.progress(done, self.total)

    def _drain_in_thread(self, queue: Iterator[DecisionRequest]) -> None:
        try:
            self._drain(queue)
        finally:
            connections.close_all()

    def _drain(self, queue: Iterator[DecisionRequest]) -> None:
        while True:
            with self.lock:
                request = None if self.finished else next(queue, None)
            if request is None:
                return
            try:
                self._one(request)
            except BaseException as error:  # noqa: BLE001 - raised by the caller's thread, once all calls are recorded
                with self.lock:
                    self.finished = True
                    self.ended = self.ended or error
                return

    def _one(self, request: DecisionRequest) -> None:
        if self.stop is not None and self.stop():
            self._stop()
            return
        with self.slots:
            with self.lock:
                if self.finished:
                    return
            called = self._call(request)
        if called is not None:
            self._answered(called.permit, request, called.answer)

    def _call(self, request: DecisionRequest) -> "_Called | None":
        """Ask the model, if the gates let the request through; None where no answer came of it."""
        self.asker.ceiling.take()
        try:
            if self.asker.guard is not None:
                self.asker.guard(request)
            permit = self.permits.take(request.fingerprint) if self.permits else None
        except BaseException:
            self.asker.ceiling.give_back()
            raise
        if self.permits is not None and permit is None:
            self.asker.ceiling.give_back()
            self._stop()
            return None
        try:
            return _Called(permit, _checked(self.asker.model.answer(request)))
        except ModelError as error:
            self._failed(permit, error)
            return None

    def _stop(self) -> None:
        with self.lock:
            self.asked.stopped = self.finished = True

    def _failed(self, permit: int | None, error: ModelError) -> None:
        log.warning("a model call brought no answer", extra={"error": error.id, "detail": dict(error.detail)})
        if self.permits is None or permit is None:
            raise error
        self.permits.lose(permit, str(error.detail.get("code", error.id)))
        with self.lock:
            self.asked.failure = error
            self.failures_in_a_row += 1
            self.asked.gave_up |= self.failures_in_a_row >= FAILURES_IN_A_ROW
            if self.asked.gave_up or isinstance(error, ModelRefusedError):
                self.finished = True

    def _answered(self, permit: int | None, request: DecisionRequest, answer: Answer) -> None:
        if self.permits is not None and permit is not None:
            self.permits.record(permit, request, answer)
        else:
            with self.lock:
                self.unrecorded.append((request, answer))
            if self.asker.model.concurrency > 1 or len(self.unrecorded) >= RECORD_AT_ONCE:
                self._record_batch()
        with self.lock:
            self.failures_in_a_row = 0
            self.asked.answers[request.fingerprint] = answer
            self.asked.new += 1
            self.asked.tokens_in += answer.tokens_in
            self.asked.tokens_out += answer.tokens_out
        self.note_progress()

    def _record_batch(self) -> None:
        with self.lock:
            batch, self.unrecorded = self.unrecorded, []
        if batch:
            store_answers(self.asker.store, batch, now=self.asker.clock())


def _checked(answer: Answer) -> Answer:
    """An answer that can be stored and decided from; raises `ModelError` for shares outside 0..1 and the like."""
    shares = [*answer.probabilities.values(), *answer.answers.values()]
    tokens = (answer.tokens_in, answer.tokens_out)
    if (
        not isinstance(answer.label, str)
        or not all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares)
        or not all(isinstance(count, int) and count >= 0 for count in tokens)
    ):
        raise ModelError("the model's answer holds no label, a share outside 0 to 1, or no count.", code="unreadable")
    return answer


def cached_answers(store: Store, fingerprints: Sequence[str]) -> dict[str, Answer]:
    """The stored answers among some fingerprints."""
    found: dict[str, Answer] = {}
    for start in range(0, len(fingerprints), LOOK_UP_AT_ONCE):
        rows = store.all(CachedAnswer).filter(fingerprint__in=fingerprints[start : start + LOOK_UP_AT_ONCE])
        for row in rows.values_list("fingerprint", "answer", "tokens_in", "tokens_out"):
            found[row[0]] = Answer(
                label=row[1]["label"],
                probabilities=row[1]["probabilities"],
                answers=row[1]["answers"],
                tokens_in=row[2],
                tokens_out=row[3],
            )
    return found


def store_answers(store: Store, answered: Sequence[tuple[DecisionRequest, Answer]], *, now: datetime) -> None:
    """Insert answers under their fingerprints; one that is there already stays as it is."""
    rows = [
        CachedAnswer(
            cyclotron_id=store.cyclotron_id,
            fingerprint=request.fingerprint,
            model=request.model,
            endpoint_digest=request.endpoint.digest,
            input_digest=input_digest(request.text),
            clock=request.clock or "",
            answer=answer.as_json(),
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            created_at=now,
        )
        for request, answer in answered
    ]
    CachedAnswer.objects.using(store.using).bulk_create(rows, ignore_conflicts=True)
