"""A cyclotron as the schema shows it, with all that can be read of it. Each field is one call of a query."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphene import ID, Argument, Field, Int, List, NonNull, ObjectType, String
from graphql import GraphQLResolveInfo as Info

from cyclotron import queries
from cyclotron.api.evaluations import evaluation_shown
from cyclotron.endpoints import definition_of
from cyclotron.graphql import decision_types, evaluation_types, import_types, item_types
from cyclotron.graphql.definition_types import Classifier, ClassifierStatus, classifier_shown, status_shown
from cyclotron.queries.items import NoSuchItemError, item_key_of
from cyclotron.store import Store
from cyclotron.workspace import HeldCyclotron
from kapsoweb.doors.cursors import make_cursor
from kapsoweb.doors.graphql.errors import InvalidArgumentError
from kapsoweb.doors.graphql.fields import costs, many
from kapsoweb.doors.graphql.pages import Listed, PageWanted, page_arguments, page_type, page_wanted
from kapsoweb.doors.graphql.scalars import Time
from kapsoweb.doors.limits import GRAPHQL_FILE_COST
from kapsoweb.foundation import clock
from kapsoweb.foundation.whole_numbers import whole_number

_ONE = {"id": ID(required=True)}


def _classifier() -> String:
    return String(description="A classifier's name; the first of the cyclotron without.")


@dataclass(frozen=True)
class Shown:
    """A cyclotron that somebody reached, with what its row says."""

    id: str
    name: str
    created_at: datetime
    seed: str
    fingerprint: str
    learn_every: int
    store: Store

    def page(self, info: Info, of: str, first: int | None, after: str | None, **filters: Any) -> PageWanted:
        """Which page of this cyclotron's list `of` is wanted."""
        return page_wanted(info.context, [of, self.id, filters], first, after)


def shown(held: HeldCyclotron) -> Shown:
    """A held cyclotron as the schema shows it."""
    row = held.store.cyclotron()
    return Shown(held.id, held.name, row.created_at, row.seed, row.fingerprint, row.learn_every, held.store)


class CyclotronSummary(ObjectType):
    """A cyclotron in a list."""

    record_id = ID(required=True, name="id")
    name = String(required=True)
    created_at = Time(required=True)


CyclotronPage = page_type(CyclotronSummary)


class Cyclotron(ObjectType):
    """One AI decision about one kind of item, with all that is known of it."""

    id = ID(required=True)
    name = String(required=True)
    created_at = Time(required=True)
    seed = String(required=True)
    fingerprint = String(required=True)
    learn_every = Int(required=True, description="After how many new training reviews learning is due.")
    classifiers = many(Classifier)
    status = Field(ClassifierStatus, classifier=_classifier())
    items = Field(
        item_types.ItemPage,
        description="In the order in which they came.",
        args=page_arguments(classifier=_classifier(), filters=Argument(item_types.ItemFiltersInput)),
    )
    item = Field(
        item_types.ItemHistory,
        description="One item, by its key or by its identity.",
        args={"key": ID(), "item_id": String(), "classifier": _classifier()},
    )
    decisions = Field(
        decision_types.DecisionPage,
        description="Newest first; of one item if asked.",
        args=page_arguments(item_key=ID()),
    )
    reviews = Field(
        decision_types.ReviewPage,
        description="Newest first, undone ones too; of all classifiers or of one.",
        args=page_arguments(classifier=String()),
    )
    queue = Field(decision_types.QueueState, classifier=_classifier())
    imports = Field(List(NonNull(import_types.FileImport)), description="Newest first, one hundred at most.")
    file_import = Field(import_types.FileImport, args=_ONE)
    file_columns = Field(List(NonNull(import_types.FileColumn)), args=_ONE)
    import_preview = Field(
        import_types.ImportPreview,
        description="What a choice of columns would bring in; nothing is written.",
        args={**_ONE, "columns": Argument(import_types.ImportColumnsInput, required=True)},
    )
    evaluation = Field(evaluation_types.Evaluation, args=_ONE)
    reports = Field(
        evaluation_types.ReportPage, description="Newest first.", args=page_arguments(classifier=_classifier())
    )
    report = Field(evaluation_types.Report, args=_ONE)
    events = Field(evaluation_types.EventPage, description="Oldest first.", args=page_arguments())

    @staticmethod
    def resolve_classifiers(of: Shown, _: Info) -> list[dict[str, Any]]:
        """In their declared order."""
        return [classifier_shown(definition_of(row)) for row in of.store.classifiers()]

    @staticmethod
    def resolve_status(of: Shown, _: Info, classifier: str | None = None) -> dict[str, Any]:
        """Counts and the active version."""
        return status_shown(queries.status(of.store, classifier))

    @staticmethod
    def resolve_items(
        of: Shown,
        info: Info,
        first: int | None = None,
        after: str | None = None,
        classifier: str | None = None,
        filters: Mapping[str, Any] | None = None,
    ) -> Listed:
        """A page of items."""
        chosen = item_types.filters_in(filters)
        wanted = of.page(info, "items", first, after, classifier=classifier, chosen=vars(chosen))
        return wanted.read(queries.items(of.store, classifier, chosen, after=wanted.after, limit=wanted.limit))

    @staticmethod
    def resolve_item(
        of: Shown, _: Info, key: str | None = None, item_id: str | None = None, classifier: str | None = None
    ) -> dict[str, Any]:
        """All that is known of one item."""
        if (key is None) == (item_id is None):
            raise InvalidArgumentError("an item is named by its `key` or by its `itemId`, and by one of them.")
        number = _number(key) if key is not None else item_key_of(of.store, item_id or "")
        return item_types.history_shown(queries.item(of.store, number, classifier))

    @staticmethod
    def resolve_decisions(
        of: Shown, info: Info, first: int | None = None, after: str | None = None, item_key: str | None = None
    ) -> Listed:
        """A page of decisions."""
        number = None if item_key is None else _number(item_key)
        wanted = of.page(info, "decisions", first, after, item=number)
        page = queries.decisions(of.store, after=wanted.after, limit=wanted.limit, item_key=number)
        return wanted.read(page, decision_types.decision_shown)

    @staticmethod
    def resolve_reviews(
        of: Shown, info: Info, first: int | None = None, after: str | None = None, classifier: str | None = None
    ) -> Listed:
        """A page of reviews."""
        wanted = of.page(info, "reviews", first, after, classifier=classifier)
        page = queries.reviews(of.store, classifier=classifier, after=wanted.after, limit=wanted.limit)
        return wanted.read(page)

    @staticmethod
    def resolve_queue(of: Shown, _: Info, classifier: str | None = None) -> queries.QueueState:
        """The lengths of the review queue now."""
        return queries.queue_state(of.store, classifier, now=clock.now())

    @staticmethod
    def resolve_imports(of: Shown, _: Info) -> list[dict[str, Any]]:
        """The files that were received."""
        return [import_types.import_shown(found) for found in queries.file_imports(of.store)]

    @staticmethod
    def resolve_file_import(of: Shown, _: Info, id: str) -> dict[str, Any]:  # noqa: A002 - the argument's name outside
        """One import."""
        return import_types.import_shown(queries.file_import(of.store, id))

    @staticmethod
    @costs(GRAPHQL_FILE_COST)
    def resolve_file_columns(of: Shown, _: Info, id: str) -> tuple[queries.FileColumn, ...]:  # noqa: A002 - as above
        """The columns of a file that waits."""
        return queries.file_columns(of.store, id)

    @staticmethod
    @costs(GRAPHQL_FILE_COST)
    def resolve_import_preview(of: Shown, _: Info, id: str, columns: Mapping[str, Any]) -> dict[str, Any]:  # noqa: A002
        """What a choice of columns would bring in."""
        return import_types.preview_shown(queries.import_preview(of.store, id, import_types.columns_in(columns)))

    @staticmethod
    def resolve_evaluation(of: Shown, _: Info, id: str) -> dict[str, Any]:  # noqa: A002 - as above
        """How one evaluation stands."""
        return evaluation_shown(of.store, id)

    @staticmethod
    def resolve_reports(
        of: Shown, info: Info, first: int | None = None, after: str | None = None, classifier: str | None = None
    ) -> Listed:
        """A page of reports, without their items."""
        wanted = of.page(info, "reports", first, after, classifier=classifier)
        page = queries.reports(of.store, classifier, after=wanted.after, limit=wanted.limit)
        return wanted.read(page, lambda report: evaluation_types.summary_shown(report.id, report.document))

    @staticmethod
    def resolve_report(of: Shown, _: Info, id: str) -> dict[str, Any]:  # noqa: A002 - as above
        """One report, whole."""
        return evaluation_types.report_shown(queries.report_record(of.store, id))

    @staticmethod
    def resolve_events(of: Shown, info: Info, first: int | None = None, after: str | None = None) -> Listed:
        """A page of events; its cursor is there even when nothing follows."""
        wanted = of.page(info, "events", first, after)
        found = queries.events(of.store, after=wanted.after or 0, limit=wanted.limit)
        return Listed(found.events, make_cursor(wanted.of, found.cursor))


def _number(key: str) -> int:
    """An item's key as a number; raises `NoSuchItemError` for what is none."""
    number = whole_number(key)
    if number is None:
        raise NoSuchItemError("there is no such item.", key=key[:64])
    return number
