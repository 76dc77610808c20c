"""What a classifier learned in a span of time."""

from dataclasses import dataclass
from datetime import datetime

from cyclotron.models import LearningStep
from cyclotron.store import Store


@dataclass(frozen=True)
class LearnedMeanwhile:
    """Learning steps taken, how many of them made a new version active, and how many fitted the ML model anew."""

    steps: int
    promoted: int
    refitted: int


def learned_between(store: Store, classifier: str | None, *, since: datetime, until: datetime) -> LearnedMeanwhile:
    """The learning steps of a classifier from `since` to `until`, both included."""
    steps = store.rows(LearningStep).filter(
        classifier=store.classifier(classifier), created_at__gte=since, created_at__lte=until
    )
    outcomes = list(steps.values_list("outcome", flat=True))
    return LearnedMeanwhile(len(outcomes), outcomes.count("promoted"), outcomes.count("refitted"))
