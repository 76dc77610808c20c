"""Small cyclotrons that were really decided, reviewed and learned from, with a frozen held-out set.

The embedded model decides and learns, so that an evaluation by another model starts with nothing cached.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count

from cyclotron.actions import create_cyclotron, freeze_held_out_set, record_review
from cyclotron.actions.asking import Asker
from cyclotron.actions.deciding import decide_item
from cyclotron.actions.learning import learn_if_due
from cyclotron.adapters.decision_model import DecisionModel
from cyclotron.adapters.local import LocalModel
from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from cyclotron.core.draws import AUDIT, DEVELOPMENT, TRAINING, partition_of
from cyclotron.store import Store
from tests.support.chat_completions import Asked, by_digest

SEED = "frozen for tests"
LABELS = ("include", "exclude")
MINIMUM_PER_LABEL = 3  # what a set of six items can satisfy
FROZEN_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WORDS = {
    "include": ("attention", "children", "stimulant", "placebo", "rating"),
    "exclude": ("asphalt", "bridges", "gravel", "tunnels", "bearing"),
}


def text_of(label: str, number: int) -> str:
    """A text about what its label is about; every number makes another text."""
    words = WORDS[label]
    return f"{words[number % 5]} and {words[(number // 5 + number + 1) % 5]} in study {number}"


def label_of(text: str) -> str:
    """The right label of such a text."""
    return next(label for label in LABELS if any(word in text for word in WORDS[label]))


def learns_from_questions(asked: Asked) -> str:
    """A rule for the loopback model: right where supporting questions are asked (version 2), by chance elsewhere."""
    return label_of(asked.text) if asked.questions else by_digest(asked)


def identities(partition: str) -> Iterator[str]:
    """Item identities of one partition under `SEED`, in a fixed order without end."""
    return (name for number in count() if partition_of(SEED, name := f"item-{number:04}") == partition)


def definition(*, learn_every: int, uses_clock: bool = False) -> CyclotronDefinition:
    """One classifier that knows nothing yet: no rubric and no examples."""
    return CyclotronDefinition(
        seed=SEED,
        classifiers=(
            ClassifierDefinition(
                "screening", LABELS, "Is it about attention?", positive_label="include", uses_clock=uses_clock
            ),
        ),
        learn_every=learn_every,
    )


def frozen_cyclotron(
    *,
    audit: int = 6,
    development: int = 2,
    training: int = 8,
    repeated: int = 0,
    uses_clock: bool = False,
    model: DecisionModel | None = None,
) -> Store:
    """A cyclotron whose version 2 was promoted by learning, and its set of `audit` items frozen at `FROZEN_AT`.

    `repeated` of the held-out items have the text of another one. `training` 0 learns nothing.
    """
    store = create_cyclotron(
        name="frozen", definition=definition(learn_every=max(1, training), uses_clock=uses_clock), now=FROZEN_AT
    )
    asker = Asker(store, model or LocalModel(), lambda: FROZEN_AT)
    numbers = count()
    for partition, size in ((DEVELOPMENT, development), (TRAINING, training), (AUDIT, audit - repeated)):
        for identity in take(identities(partition), size):
            number = next(numbers)
            label = LABELS[number % 2]
            add_item(asker, identity, text_of(label, number), label)
    for copied, identity in enumerate(list(take(identities(AUDIT), audit))[audit - repeated :]):
        number = development + training + copied
        label = LABELS[number % 2]
        add_item(asker, identity, text_of(label, number), label)
    learn_if_due(asker, now=FROZEN_AT)
    freeze_held_out_set(store, now=FROZEN_AT)
    return store


def add_item(
    asker: Asker, identity: str, text: str, label: str | None, *, now: datetime = FROZEN_AT, by: str | None = None
) -> None:
    """Decide an item and review it; `by="reviewer"` says that a person chose it."""
    decided = decide_item(asker, identity=identity, values={"text": text}, now=now)
    record_review(
        asker.store,
        identity=f"review of {identity} {decided.decision_id}",
        decision_id=decided.decision_id,
        label=label,
        reviewer="somebody",
        selected_by=by,
        now=now,
    )


def take(names: Iterator[str], size: int) -> Iterator[str]:
    return (next(names) for _ in range(size))
