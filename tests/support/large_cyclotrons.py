"""Large cyclotrons, written in bulk: what `decide` and reviewers would have left behind, with every digest right.

Each item was decided once and reviewed once. Version 2 was promoted half-way, with an ML model, so the cache holds
version 1's answers about the first half of the items and version 2's about the rest: half of what an evaluation asks.
"""

import random
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import count, islice
from typing import Any

from cyclotron.actions import create_cyclotron
from cyclotron.core.configuration import (
    Answer,
    Configuration,
    Endpoint,
    SupportingQuestion,
    input_digest,
    request_fingerprint,
)
from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from cyclotron.core.draws import AUDIT, PROGRAM, partition_of, selection_draw
from cyclotron.core.learning.ml_model import FitExample, MlModel, fit_ml_model
from cyclotron.models import (
    CachedAnswer,
    Classifier,
    Decision,
    DecisionOutput,
    Item,
    MlModelRecord,
    Review,
    Version,
    WaitingItem,
)
from cyclotron.store import Store
from kapsoweb.foundation.canonical import digest

SEED = "large for tests"
LABELS = ("include", "exclude", "unclear")
MODEL = "large/1"
DECIDED_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WORDS = tuple(
    f"{start}{end}" for start in ("ad", "ber", "cal", "dro", "fen") for end in ("ation", "ic", "ol", "um", "ly")
)
RATES = (0.1, 0.25, 0.5, 1.0)  # each item was decided at the least of them at which it was sent
WORDS_PER_TEXT = 120  # about the length of an abstract
AT_ONCE = 2_000

DEFINITION = CyclotronDefinition(
    seed=SEED,
    classifiers=(
        ClassifierDefinition(
            "screening", LABELS, "Is it about attention?", positive_label="include", rubric="Include what is on it."
        ),
    ),
    learn_every=10_000_000,
)
LEARNED = Configuration(
    rubric="Include what is on it. Exclude the rest.",
    questions=(SupportingQuestion("words:include", "Does it speak of attention?", {"attention": 1.0}),),
    term_weights=dict.fromkeys(WORDS, 1.0),
)


def large_cyclotron(
    size: int, *, audit_only: bool = False, model: str | None = MODEL, using: str = "default", reviewed: bool = True
) -> Store:
    """A cyclotron of `size` items, a fifth of them in the audit partition as drawn (all of them with `audit_only`).

    The cache holds answers of `model` (None: it is empty). Nothing is frozen. Without `reviewed` every item waits.
    """
    store = create_cyclotron(name="large", definition=DEFINITION, now=DECIDED_AT, using=using)
    with store.transaction():
        classifier = store.classifier()
        first = store.rows(Version).get(classifier=classifier, number=1)
        learned = _learn(store, classifier)
        items = _create(store, Item, _items(store, size, audit_only=audit_only))
        draw = random.Random(size)
        labels = [draw.choice(LABELS) for _ in items]
        decided = [label if draw.random() < 0.7 else draw.choice(LABELS) for label in labels]
        versions = [first if number < size // 2 else learned for number in range(size)]
        decisions = _create(store, Decision, (_decision(item, number) for number, item in enumerate(items)))
        answers = [_answer(label, draw.random()) for label in decided]
        prints = [
            request_fingerprint(model or MODEL, version.digest, input_digest(item.values["text"]), None)
            for item, version in zip(items, versions, strict=True)
        ]
        _create(
            store,
            DecisionOutput,
            (
                DecisionOutput(
                    decision=decision,
                    classifier=classifier,
                    label=answer.label,
                    confidence=answer.probabilities[answer.label],
                    probabilities=answer.probabilities,
                    version=version.number,
                    refit=version.number - 1,
                    fingerprint=fingerprint,
                )
                for decision, answer, version, fingerprint in zip(decisions, answers, versions, prints, strict=True)
            ),
        )
        if model is not None:
            _create(
                store,
                CachedAnswer,
                (
                    _cached(store, model, fingerprint, version.digest, item, answer)
                    for item, answer, version, fingerprint in zip(items, answers, versions, prints, strict=True)
                ),
            )
        if reviewed:
            _create(
                store,
                Review,
                (_review(classifier, decision, label) for decision, label in zip(decisions, labels, strict=True)),
            )
        else:
            _create(store, WaitingItem, (_waiting(classifier, decision) for decision in decisions))
    return store


def fill_cache(store: Store, *, model: str = MODEL) -> None:
    """Add the answers of both versions about every item of the audit partition that the cache does not hold."""
    versions = list(store.rows(Version).filter(classifier__cyclotron_id=store.cyclotron_id))
    draw = random.Random(0)

    def rows() -> Iterator[CachedAnswer]:
        for item in store.all(Item).filter(partition=AUDIT).order_by("id").iterator(chunk_size=AT_ONCE):
            for version in versions:
                fingerprint = request_fingerprint(model, version.digest, input_digest(item.values["text"]), None)
                answer = _answer(draw.choice(LABELS), draw.random())
                yield _cached(store, model, fingerprint, version.digest, item, answer)

    with store.transaction():
        _create(store, CachedAnswer, rows(), ignore_conflicts=True)


def answer_about(number: int) -> Answer:
    """An answer that a model could give; every number makes another one."""
    draw = random.Random(number)
    return _answer(draw.choice(LABELS), draw.random())


def _learn(store: Store, classifier: Classifier) -> Version:
    definition = DEFINITION.classifiers[0]
    version = Version.objects.using(store.using).create(
        classifier=classifier,
        number=2,
        configuration=LEARNED.as_json(),
        digest=Endpoint(definition, LEARNED).digest,
        created_at=DECIDED_AT,
    )
    model = _ml_model(definition)
    classifier.active_version = version
    classifier.active_ml_model = MlModelRecord.objects.using(store.using).create(
        version=version, refit=1, numbers=model.as_json(), digest=model.digest, fitted_on=60, created_at=DECIDED_AT
    )
    classifier.save(using=store.using)
    return version


def _ml_model(definition: ClassifierDefinition) -> MlModel:
    draw = random.Random(1)
    examples = [FitExample(_answer(LABELS[place % 3], draw.random()), LABELS[place % 3]) for place in range(60)]
    fitted = fit_ml_model(definition, LEARNED, examples, seed=SEED)
    if fitted is None:
        raise AssertionError("sixty examples are enough for a fit")
    return fitted


def _items(store: Store, size: int, *, audit_only: bool) -> Iterator[Item]:
    draw = random.Random(SEED)
    names = (f"item-{number:07}" for number in count())
    wanted = (name for name in names if not audit_only or partition_of(SEED, name) == AUDIT)
    for number, identity in enumerate(islice(wanted, size)):
        values = {"text": f"Study {number}: {' '.join(draw.choices(WORDS, k=WORDS_PER_TEXT))}"}
        selected = selection_draw(SEED, identity)
        yield Item(
            cyclotron_id=store.cyclotron_id,
            identity=identity,
            values=values,
            values_digest=digest(values),
            partition=partition_of(SEED, identity),
            selection_draw=selected,
            propensity=next(rate for rate in RATES if selected < rate),
            selected_because=PROGRAM,
            created_at=DECIDED_AT,
        )


def _decision(item: Item, number: int) -> Decision:
    return Decision(
        id=f"dec_{item.cyclotron_id}_{number:07}"[-40:],
        cyclotron_id=item.cyclotron_id,
        item=item,
        sent=True,
        reason=PROGRAM,
        propensity=item.propensity or 1.0,
        decided_at=DECIDED_AT,
    )


def _review(classifier: Classifier, decision: Decision, label: str) -> Review:
    identity = f"review of {decision.pk}"
    return Review(
        cyclotron_id=decision.cyclotron_id,
        identity=identity,
        classifier=classifier,
        item_id=decision.item_id,
        decision=decision,
        label=label,
        reviewer="ada",
        selected_by=decision.reason,
        content_digest=digest([classifier.name, decision.pk, label, "", "", "ada", None]),
        recorded_at=DECIDED_AT,
    )


def _answer(label: str, surety: float) -> Answer:
    share = 0.4 + surety * 0.6
    shares = {name: share if name == label else (1.0 - share) / (len(LABELS) - 1) for name in LABELS}
    return Answer(label, shares, {"words:include": shares["include"]}, tokens_in=200, tokens_out=1)


def _waiting(classifier: Classifier, decision: Decision) -> WaitingItem:
    return WaitingItem(
        cyclotron_id=decision.cyclotron_id, classifier=classifier, item_id=decision.item_id, sent_at=DECIDED_AT
    )


def _cached(
    store: Store, model: str, fingerprint: str, endpoint_digest: str, item: Item, answer: Answer
) -> CachedAnswer:
    return CachedAnswer(
        cyclotron_id=store.cyclotron_id,
        fingerprint=fingerprint,
        model=model,
        endpoint_digest=endpoint_digest,
        input_digest=input_digest(item.values["text"]),
        answer=answer.as_json(),
        tokens_in=answer.tokens_in,
        tokens_out=answer.tokens_out,
        created_at=DECIDED_AT,
    )


def _create(store: Store, model: Any, rows: Iterable[Any], *, ignore_conflicts: bool = False) -> list[Any]:
    source = iter(rows)
    created: list[Any] = []
    while batch := list(islice(source, AT_ONCE)):
        model.objects.using(store.using).bulk_create(batch, ignore_conflicts=ignore_conflicts)
        created += batch
    return created
