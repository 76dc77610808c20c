"""From stored answers to a stored report. Source: spec held-out, sections 3, 5 and 6."""

from datetime import datetime

from cyclotron.actions.events import append_event
from cyclotron.asking import cached_answers
from cyclotron.core.scored import ScoredItem
from cyclotron.endpoints import Column
from cyclotron.evaluation.permits import spent_by
from cyclotron.evaluation.plan import Plan, scored_items
from cyclotron.labels import current_labels
from cyclotron.models import Evaluation, HeldOutItem, Report
from cyclotron.store import Store
from kapsoweb.foundation.identifiers import new_id


def write_report(store: Store, evaluation: Evaluation, plan: Plan, *, now: datetime) -> Report | None:
    """Score every item from the cache and store the report with the end of the evaluation.

    None when the evaluation has ended meanwhile or a newer claim runs it: one evaluation has one report.
    """
    raise NotImplementedError
