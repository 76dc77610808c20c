"""Replaying rows: deciding each as it would have arrived, then recording its label, if any, as a selected review.

A labelled row is decided at a review rate of 1, so each review is one that the program selected and every weight is 1;
an item that was sent at a lower rate is decided again, because all rows of a labelled file are there and not a sample.
What is stored already is passed over, so a replay that was stopped goes on where it stood and ends the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from cyclotron.actions.asking import Asker
from cyclotron.actions.deciding import decide_item
from cyclotron.actions.learning import Learned, learn_if_due
from cyclotron.actions.reviewing import record_review
from cyclotron.core.errors import InvalidItemError, ItemChangedError, ReviewChangedError
from cyclotron.core.replay import ReplayRow, contradiction, review_identity
from cyclotron.models import Classifier, Decision, Item, Review
from cyclotron.store import Store
from kapsoweb.foundation.canonical import digest
from kapsoweb.foundation.strict_csv import BadRow

REVIEWER = "replay"


@dataclass(frozen=True)
class Replayed:
    """What a replay did: rows newly recorded, rows that were there already, rows refused, and what was learned.

    `stopped` when it was told to stop before the last row.
    """

    recorded: int
    known: int
    bad: tuple[BadRow, ...]
    learned: tuple[Learned, ...]
    stopped: bool = False


@dataclass(frozen=True)
class Rates:
    """At which rates rows without a label are sent to review; see `decide_item`."""

    review_rate: float = 1.0
    audit_rate: float = 0.05
    low_confidence: float | None = None


class _KnownByNowError(Exception):
    """Another replay has recorded the row since this one looked."""


def replay_rows(
    asker: Asker,
    rows: Sequence[ReplayRow],
    *,
    classifier: str | None = None,
    reviewer: str = REVIEWER,
    rates: Rates | None = None,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
    count: Callable[[], None] | None = None,
) -> Replayed:
    """Replay rows in order, learning as it goes. `progress` is called with (rows passed, rows), `stop` before each row,
    `count` for each row that is new, in the transaction that records it.

    Rows without a label are decided at `rates`, and wait for a review where they are sent.

    A row whose item or label is known with other content, or whose values no item may have, is refused and listed;
    nothing of it is kept.
    """
    store = asker.store
    row_classifier = store.classifier(classifier)
    recorded = known = 0
    bad: list[BadRow] = []
    rates = rates or Rates()
    stopped = False
    learned: list[Learned] = list(learn_if_due(asker, now=asker.clock()))
    for number, row in enumerate(rows, start=1):
        if stop is not None and stop():
            stopped = True
            break
        values = {row_classifier.definition["inputField"]: row.text}
        found = _known(store, row_classifier, row, digest(values))
        if found is False:
            try:
                if row.label is None:
                    _decide_first(asker, row, values, rates, count)
                else:
                    _replay_row(asker, row_classifier, row, values, reviewer, count)
                    learned += learn_if_due(asker, now=asker.clock())
                recorded += 1
            except InvalidItemError as error:
                bad.append(BadRow(row.line, None, error.id, error.message))
            except (ItemChangedError, ReviewChangedError, _KnownByNowError):
                # Another replay of the row was first, and what it recorded is what counts.
                found = _known(store, row_classifier, row, digest(values))
        if isinstance(found, BadRow):
            bad.append(found)
        elif found:
            known += 1
        if progress is not None:
            progress(number, len(rows))
    return Replayed(recorded, known, tuple(bad), tuple(learned), stopped)


def _known(store: Store, classifier: Classifier, row: ReplayRow, values_digest: str) -> BadRow | bool:
    """Whether a row is there already, or what contradicts it."""
    item = store.all(Item).filter(identity=row.item_id).first()
    if item is None:
        return False
    review = store.all(Review).filter(identity=review_identity(classifier.name, row.item_id)).first()
    wrong = contradiction(
        row, same_values=item.values_digest == values_digest, label=None if review is None else review.label
    )
    if wrong is not None:
        return wrong
    return store.all(Decision).filter(item=item).exists() if row.label is None else review is not None


def _decide_first(
    asker: Asker, row: ReplayRow, values: dict[str, str], rates: Rates, count: Callable[[], None] | None
) -> None:
    """Decide an item of which there is no decision, whoever else decides it meanwhile."""

    def recording(item: Item) -> None:
        if asker.store.all(Decision).filter(item=item).exists():
            raise _KnownByNowError
        if count is not None:
            count()

    decide_item(asker, identity=row.item_id, values=values, now=asker.clock(), recording=recording, **asdict(rates))


def _replay_row(
    asker: Asker,
    classifier: Classifier,
    row: ReplayRow,
    values: dict[str, str],
    reviewer: str,
    count: Callable[[], None] | None,
) -> None:
    decision_id = _decision_of(asker, row, values)
    with asker.store.transaction():
        recorded = record_review(
            asker.store,
            identity=review_identity(classifier.name, row.item_id),
            decision_id=decision_id,
            label=row.label,
            reviewer=reviewer,
            classifier=classifier.name,
            now=asker.clock(),
        )
        if not recorded.new:
            raise _KnownByNowError
        if count is not None:
            count()


def _decision_of(asker: Asker, row: ReplayRow, values: dict[str, str]) -> str:
    """The decision that sent a labelled row's item, made now unless the item was bound to be sent by an earlier one."""
    sent = asker.store.all(Decision).filter(item__identity=row.item_id, item__propensity=1.0, sent=True)
    earlier = sent.order_by("id").first()
    if earlier is not None:
        return earlier.id
    now = asker.clock()
    return decide_item(asker, identity=row.item_id, values=values, now=now, review_rate=1.0, audit_rate=0.0).decision_id
