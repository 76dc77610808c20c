"""Learning from training reviews: propose, cross-fit, compare on development, promote. Source: spec, section 4.

The ML model of a version is fitted on answers that did not know the labels: for the items a version was proposed from,
the answers of a configuration proposed without them (out of fold); for later ones, the version's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cyclotron.actions.asking import LOOK_UP_AT_ONCE, Asker, cached_answers
from cyclotron.actions.events import append_event
from cyclotron.core.configuration import Answer, Configuration, DecisionRequest, Endpoint
from cyclotron.core.draws import DEVELOPMENT, REVIEWER, TRAINING
from cyclotron.core.learning import FitExample, LabelledText, assign_folds, fit_ml_model, propose
from cyclotron.core.learning.ml_model import MlModel
from cyclotron.core.metrics import endpoint_metrics
from cyclotron.core.scored import ScoredItem, columns_of
from cyclotron.endpoints import Column, active_column, definition_of
from cyclotron.labels import CurrentLabel, current_labels, last_learning_step, reviews_until_due
from cyclotron.models import Classifier, LearningStep, MlModelRecord, OutOfFoldAnswer, Review, StoredCyclotron, Version
from cyclotron.store import Store

FOLDS = 5
PROMOTION_GAIN = 0.005  # half a percentage point of weighted balanced accuracy on development
ROUNDING = 1e-12  # what two sums of the same shares may differ by


@dataclass(frozen=True)
class Learned:
    """The outcome of one learning step: `promoted`, `refitted` or `kept`, and the version and refit active after it."""

    step: int
    outcome: str
    version: int
    refit: int


def learn_if_due(asker: Asker, *, now: datetime) -> list[Learned]:
    """Run a learning step of every classifier for which enough new training reviews are stored.

    Whether it is due, and everything it does, follows from what is stored, so an interrupted run that goes on ends
    with the same versions.
    """
    store = asker.store
    learn_every = store.cyclotron().learn_every
    return [
        learned
        for row in store.classifiers()
        if reviews_until_due(store, row, learn_every) == 0 and (learned := _learn(asker, row, now=now)) is not None
    ]


@dataclass(frozen=True)
class _Fitted:
    """A column that might become active, and its weighted balanced accuracy on development (None without labels)."""

    column: Column
    accuracy: float | None


def _learn(asker: Asker, row: Classifier, *, now: datetime) -> Learned | None:
    store = asker.store
    last = last_learning_step(store, row)
    number = last.number + 1 if last else 1
    reviews = row.training_reviews
    seed = f"{store.cyclotron().seed}:{row.name}:{number}"
    session = _Session(asker, row, seed)
    active, refit = session.active(), session.refit()
    base = refit if refit is not None and _at_least(refit.accuracy, active.accuracy) else active
    candidate = session.candidate()
    promoted = (
        candidate is not None
        and candidate.accuracy is not None
        and base.accuracy is not None
        and candidate.accuracy - base.accuracy >= PROMOTION_GAIN - ROUNDING
    )
    winner = candidate if promoted and candidate is not None else base
    outcome = "promoted" if promoted else "refitted" if winner is refit else "kept"
    with store.transaction():
        locked = store.lock()
        if _is_stale(store, locked, row, number):
            return None  # another process learned from the same reviews first; its step stands
        session.mark_what_taught()
        version, record = _activate(store, row, winner.column, outcome, session, reviews, now)
        LearningStep.objects.using(store.using).create(
            classifier=row,
            number=number,
            training_reviews=reviews,
            outcome=outcome,
            version=version.number,
            refit=record.refit if record else 0,
            candidate_digest=candidate.column.endpoint.digest if candidate else "",
            active_accuracy=base.accuracy,
            candidate_accuracy=candidate.accuracy if candidate else None,
            development_items=len(session.development),
            new_requests=session.new_requests,
            created_at=now,
        )
        append_event(
            store,
            locked,
            kind=f"learning-{outcome}",
            detail={
                "classifier": row.name,
                "step": number,
                "trainingReviews": reviews,
                "version": version.number,
                "refit": record.refit if record else 0,
            },
            now=now,
        )
    return Learned(number, outcome, version.number, record.refit if record else 0)


def _is_stale(store: Store, locked: StoredCyclotron, row: Classifier, number: int) -> bool:
    """Whether a step begun from `row` is no longer the next one, is not due, or rests on what was replaced."""
    now = store.classifier(row.name)
    newest = last_learning_step(store, now)
    return (
        (newest.number if newest else 0) != number - 1
        or (now.active_version_id, now.active_ml_model_id) != (row.active_version_id, row.active_ml_model_id)
        or reviews_until_due(store, now, locked.learn_every) > 0
    )


class _Session:
    """One learning step's reading and asking; writes nothing but answers into the shared cache."""

    def __init__(self, asker: Asker, row: Classifier, seed: str) -> None:
        self.asker, self.row, self.seed = asker, row, seed
        self.definition = definition_of(row)
        self.training = list(current_labels(asker.store, row, use=TRAINING))
        self.development = list(current_labels(asker.store, row, use=DEVELOPMENT))
        self.current = active_column(row)
        self.new_requests = 0
        self.out_of_fold: dict[int, str] = {}  # of the candidate: item key -> fingerprint

    def mark_what_taught(self) -> None:
        """Note which chosen reviews this step has read; the caller's transaction commits it with the step.

        One that was undone while the step ran is noted all the same: it has been read.
        """
        chosen = self.asker.store.all(Review).filter(classifier=self.row, selected_by=REVIEWER, taught=False)
        keys = [label.item_key for label in self.training if label.chosen]
        for start in range(0, len(keys), LOOK_UP_AT_ONCE):
            chosen.filter(item_id__in=keys[start : start + LOOK_UP_AT_ONCE]).update(taught=True)

    def active(self) -> _Fitted:
        return self._on_development(self.current)

    def refit(self) -> _Fitted | None:
        """The active version with an ML model fitted on all training reviews, or None where none can be fitted."""
        known = dict(
            self.asker.store.rows(OutOfFoldAnswer)
            .filter(version=self.row.active_version)
            .values_list("item_id", "fingerprint")
        )
        own = [self._request(self.current.endpoint, label) for label in self.training if label.item_key not in known]
        answers = self._ask(own) | cached_answers(self.asker.store, list(known.values()))
        pairs = [
            (label, answers[known.get(label.item_key) or self._request(self.current.endpoint, label).fingerprint])
            for label in self.training
        ]
        return self._fitted(self.current.version, self.current.endpoint, pairs)

    def candidate(self) -> _Fitted | None:
        """A configuration proposed from the training reviews, with its ML model fitted out of fold."""
        configuration = self._propose(self.training)
        endpoint = Endpoint(self.definition, configuration)
        if endpoint.digest == self.current.endpoint.digest:
            return None
        folds = assign_folds([label.item_id for label in self.training], seed=self.seed, folds=FOLDS)
        requests: dict[int, DecisionRequest] = {}
        for fold in range(FOLDS):
            held = [label for label in self.training if folds[label.item_id] == fold]
            others = [label for label in self.training if folds[label.item_id] != fold]
            fold_endpoint = Endpoint(self.definition, self._propose(others))
            requests |= {label.item_key: self._request(fold_endpoint, label) for label in held}
        answers = self._ask(list(requests.values()))
        self.out_of_fold = {key: request.fingerprint for key, request in requests.items()}
        pairs = [(label, answers[self.out_of_fold[label.item_key]]) for label in self.training]
        fitted = self._fitted(self.current.version + 1, endpoint, pairs)
        return fitted or self._on_development(Column(self.current.version + 1, 0, endpoint, None))

    def _fitted(self, version: int, endpoint: Endpoint, pairs: Sequence[tuple[CurrentLabel, Answer]]) -> _Fitted | None:
        examples = [FitExample(answer, label.label, label.weight) for label, answer in pairs]
        ml_model = fit_ml_model(self.definition, endpoint.configuration, examples, seed=self.seed)
        if ml_model is None:
            return None
        return self._on_development(Column(version, 0, endpoint, ml_model))

    def _on_development(self, column: Column) -> _Fitted:
        requests = [self._request(column.endpoint, label) for label in self.development]
        answers = self._ask(requests)
        if not requests:
            return _Fitted(column, None)
        scored = [
            ScoredItem(
                label.item_id, label.label, None, column.decide(answers[request.fingerprint]).label, label.weight
            )
            for label, request in zip(self.development, requests, strict=True)
        ]
        columns = columns_of(scored, self.definition.labels)
        accuracy = endpoint_metrics(columns, columns.after, self.definition.positive_label).balanced_accuracy
        return _Fitted(column, accuracy)

    def _propose(self, labels: Sequence[CurrentLabel]) -> Configuration:
        reviews = [LabelledText(label.item_id, self._text(label), label.label, label.weight) for label in labels]
        return propose(self.definition, Configuration.seed_of(self.definition), reviews, seed=self.seed)

    def _request(self, endpoint: Endpoint, label: CurrentLabel) -> DecisionRequest:
        # Learning asks without a clock: what it compares must not depend on when it ran.
        return DecisionRequest(self.asker.model.identity, endpoint, self._text(label))

    def _text(self, label: CurrentLabel) -> str:
        text: str = label.values[self.definition.input_field]
        return text

    def _ask(self, requests: Sequence[DecisionRequest]) -> dict[str, Answer]:
        asked = self.asker.ask(requests)
        self.new_requests += asked.new
        return asked.answers


def _activate(
    store: Store,
    row: Classifier,
    column: Column,
    outcome: str,
    session: _Session,
    reviews: int,
    now: datetime,
) -> tuple[Version, MlModelRecord | None]:
    version, record = row.active_version, row.active_ml_model
    if version is None:
        raise AssertionError("a stored classifier always has an active version")
    if outcome == "kept":
        return version, record
    if outcome == "promoted":
        version = Version.objects.using(store.using).create(
            classifier=row,
            number=store.rows(Version).filter(classifier=row).count() + 1,
            configuration=column.endpoint.configuration.as_json(),
            digest=column.endpoint.digest,
            training_reviews=reviews,
            created_at=now,
        )
        OutOfFoldAnswer.objects.using(store.using).bulk_create(
            (
                OutOfFoldAnswer(version=version, item_id=key, fingerprint=fingerprint)
                for key, fingerprint in session.out_of_fold.items()
            ),
            batch_size=500,
        )
    record = _record_fit(store, version, column.ml_model, len(session.training), now) if column.ml_model else None
    row.active_version, row.active_ml_model = version, record
    row.save(using=store.using, update_fields=["active_version", "active_ml_model"])
    return version, record


def _record_fit(store: Store, version: Version, ml_model: MlModel, fitted_on: int, now: datetime) -> MlModelRecord:
    return MlModelRecord.objects.using(store.using).create(
        version=version,
        refit=store.rows(MlModelRecord).filter(version=version).count() + 1,
        numbers=ml_model.as_json(),
        digest=ml_model.digest,
        fitted_on=fitted_on,
        created_at=now,
    )


def _at_least(new: float | None, old: float | None) -> bool:
    """Whether a refit may replace what is active: not where development says that it decides worse."""
    return new is None or old is None or new >= old - ROUNDING
