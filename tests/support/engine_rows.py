"""All rows of one cyclotron, and which of them may change."""

from collections.abc import Iterable
from typing import Any

from django.db import connection, models

from cyclotron.labels import labels_that_count
from cyclotron.models import (
    CachedAnswer,
    Classifier,
    Decision,
    DecisionOutput,
    Evaluation,
    EvaluationRequest,
    Event,
    HeldOutItem,
    HeldOutSet,
    Item,
    LearningStep,
    MlModelRecord,
    OutOfFoldAnswer,
    Permit,
    Report,
    Review,
    StoredCyclotron,
    Version,
    WaitingItem,
)
from cyclotron.store import Store

Row = dict[str, Any]
Rows = dict[str, dict[Any, Row]]  # by table, by primary key, in the order in which they were written

# Each table, the way from it to its cyclotron, and the columns that may change once a row is written.
_TABLES: dict[type[models.Model], tuple[str, set[str]]] = {
    StoredCyclotron: ("id", {"event_count"}),
    Classifier: ("cyclotron", {"training_reviews", "active_version_id", "active_ml_model_id", "current_set_id"}),
    Item: ("cyclotron", {"propensity", "selected_because"}),
    Decision: ("cyclotron", set()),
    DecisionOutput: ("decision__cyclotron", set()),
    Review: ("cyclotron", {"taught", "undone_at", "undone_by"}),
    Event: ("cyclotron", set()),
    CachedAnswer: ("cyclotron", set()),
    HeldOutSet: ("cyclotron", set()),
    HeldOutItem: ("held_out_set__cyclotron", set()),
    Evaluation: (
        "cyclotron",
        {
            *("permits_taken", "state", "cancel_requested", "reason", "unanswered", "fence", "job_id"),
            *("seen_at", "ended_at"),
        },
    ),
    EvaluationRequest: ("cyclotron", set()),
    Permit: ("evaluation__cyclotron", {"answered_at", "lost_to"}),
    Report: ("cyclotron", set()),
    Version: ("classifier__cyclotron", set()),
    MlModelRecord: ("version__classifier__cyclotron", set()),
    OutOfFoldAnswer: ("version__classifier__cyclotron", set()),
    LearningStep: ("classifier__cyclotron", set()),
    WaitingItem: ("cyclotron", {"sent_at"}),
}
VANISHING = {"WaitingItem"}


class Reader:
    """Reads every row of one cyclotron. A table whose rows are as they were when last read is not built anew."""

    def __init__(self, store: Store) -> None:
        self._queries = {
            table.__name__: store.rows(table).filter(**{way: store.cyclotron_id}).order_by("pk")
            for table, (way, _) in _TABLES.items()
        }
        self._statements = {name: rows.query.sql_with_params() for name, rows in self._queries.items()}
        self._raw: dict[str, list[tuple[Any, ...]]] = {}
        self._rows: Rows = {}

    def rows(self) -> Rows:
        """Every row of the cyclotron in every table."""
        with connection.cursor() as cursor:
            for name, (statement, parameters) in self._statements.items():
                cursor.execute(statement, parameters)
                raw = cursor.fetchall()
                if self._raw.get(name) != raw:
                    key = self._queries[name].model._meta.pk.attname
                    self._raw[name] = raw
                    self._rows = {**self._rows, name: {row[key]: row for row in self._queries[name].values()}}
        return self._rows


class LabelReader:
    """The product's own query for the labels that count, built once for each classifier and use."""

    def __init__(self, store: Store, classifiers: Iterable[str]) -> None:
        self._statements = {
            (name, use): labels_that_count(store, store.classifier(name), use=use)
            .values_list("item__identity", "label")
            .query.sql_with_params()
            for name in classifiers
            for use in (None, "training", "development", "audit")
        }

    def labels(self) -> dict[tuple[str, str | None], dict[str, str]]:
        """The label of each item by classifier and use."""
        found = {}
        with connection.cursor() as cursor:
            for key, (statement, parameters) in self._statements.items():
                cursor.execute(statement, parameters)
                found[key] = dict(cursor.fetchall())
        return found


def new_in(before: Rows, after: Rows, table: str) -> list[Row]:
    """Rows that were not there before."""
    return [row for key, row in after[table].items() if key not in before[table]]


def changed_tables(before: Rows, after: Rows) -> set[str]:
    """Tables in which anything differs."""
    return {table for table in before if before[table] is not after[table] and before[table] != after[table]}


def check_nothing_was_rewritten(before: Rows, after: Rows) -> None:
    """No row vanished, and none changed but in what may change."""
    for table, (_, may_change) in _TABLES.items():
        old, new = before[table.__name__], after[table.__name__]
        if old is new:
            continue
        for key, row in old.items():
            if key not in new:
                assert table.__name__ in VANISHING, f"a row of {table.__name__} is gone"
            elif new[key] != row:
                touched = {column for column, value in row.items() if new[key][column] != value}
                assert touched <= may_change, f"{table.__name__} was rewritten: {sorted(touched - may_change)}"
