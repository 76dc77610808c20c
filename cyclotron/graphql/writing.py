"""The cyclotron's fields of Mutation: each is one call of the workspace, which checks the role and leaves the audit."""

from collections.abc import Mapping, Sequence
from typing import Any

import graphene
from graphene import ID, Argument, Boolean, String

from cyclotron.actions.importing import ImportedDecisions
from cyclotron.actions.reviewing import RecordedReview
from cyclotron.api.evaluations import evaluation_shown
from cyclotron.graphql import decision_types as given
from cyclotron.graphql.cyclotron_type import Cyclotron, Shown, shown
from cyclotron.graphql.definition_types import CyclotronInput, named_definition
from cyclotron.graphql.evaluation_types import Evaluation
from cyclotron.graphql.import_types import FileImport, ImportColumnsInput, columns_in, import_shown
from cyclotron.workspace import Workspace
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.graphql.fields import costs, many_given, root_field
from kapsoweb.doors.limits import GRAPHQL_FILE_COST, GRAPHQL_WORK_COST

_RECORD = "cyclotronId"
_REVIEWER = Access(needs=Role.REVIEWER, record=_RECORD)
_OPERATOR = Access(needs=Role.OPERATOR, record=_RECORD)
_OF: dict[str, Any] = {"cyclotron_id": ID(required=True)}
_CLASSIFIER: dict[str, Any] = {
    "classifier": String(description="A classifier's name; the first of the cyclotron without.")
}


def create_cyclotron(caller: Caller, cyclotron: Mapping[str, Any]) -> Shown:
    """Create a cyclotron; raises `NameTakenError`."""
    name, definition = named_definition(cyclotron)
    return shown(Workspace(caller).create(name=name, definition=definition))


def set_learning_interval(caller: Caller, cyclotron_id: str, learn_every: int) -> Shown:
    """Change the one setting of a cyclotron that may change."""
    workspace = Workspace(caller)
    workspace.set_learning_interval(cyclotron_id, learn_every)
    return shown(workspace.open(cyclotron_id))


@costs(GRAPHQL_WORK_COST)
def decide(caller: Caller, cyclotron_id: str, item: Mapping[str, Any]) -> dict[str, Any]:
    """Decide one item."""
    decided = Workspace(caller).decide(
        cyclotron_id, identity=item["item_id"], values=item["values"], **given.rates_in(item)
    )
    return given.decided_shown(decided)


@costs(GRAPHQL_FILE_COST)
def import_decisions(caller: Caller, cyclotron_id: str, decisions: Sequence[Mapping[str, Any]]) -> ImportedDecisions:
    """Bring in decisions that were made elsewhere, all or none."""
    foreign = [given.foreign_decision(decision) for decision in decisions]
    return Workspace(caller).import_decisions(cyclotron_id, foreign)


def record_review(caller: Caller, cyclotron_id: str, review: Mapping[str, Any]) -> RecordedReview:
    """Record what the caller says of a decision."""
    return Workspace(caller).review(
        cyclotron_id,
        identity=review["review_id"],
        decision_id=review["decision_id"],
        label=review.get("label"),
        classifier=review.get("classifier"),
        explanation=review.get("explanation") or "",
        reason_code=review.get("reason_code") or "",
        selected_by=review.get("selected_by"),
    )


def undo_review(caller: Caller, cyclotron_id: str, review_id: str) -> bool:
    """Retract a review; false when it had been undone."""
    return Workspace(caller).undo(cyclotron_id, identity=review_id)


def take_item(caller: Caller, cyclotron_id: str, classifier: str | None = None) -> dict[str, Any] | None:
    """The item that the caller holds, or the next of the queue."""
    return given.assignment_shown(Workspace(caller).take(cyclotron_id, classifier))


def answer_assignment(
    caller: Caller,
    cyclotron_id: str,
    assignment_id: str,
    label: str | None = None,
    explanation: str | None = None,
    reason_code: str | None = None,
) -> RecordedReview:
    """Say what the item is that the caller holds."""
    return Workspace(caller).answer(
        cyclotron_id, assignment_id, label=label, explanation=explanation or "", reason_code=reason_code or ""
    )


def skip_assignment(caller: Caller, cyclotron_id: str, assignment_id: str) -> bool:
    """Give the item back unanswered."""
    Workspace(caller).skip(cyclotron_id, assignment_id)
    return True


def undo_last(caller: Caller, cyclotron_id: str, classifier: str | None = None) -> dict[str, Any] | None:
    """Take the caller's newest answer back, and its item with it."""
    return given.assignment_shown(Workspace(caller).undo_last(cyclotron_id, classifier))


@costs(GRAPHQL_FILE_COST)
def upload_file(
    caller: Caller, cyclotron_id: str, filename: str, csv: str, classifier: str | None = None
) -> dict[str, Any]:
    """Keep a CSV file, of which nothing is brought in yet."""
    found = Workspace(caller).upload(cyclotron_id, filename=filename, data=csv.encode(), classifier=classifier)
    return import_shown(found)


@costs(GRAPHQL_FILE_COST)
def start_import(caller: Caller, cyclotron_id: str, import_id: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Queue the job that brings the rows in."""
    return import_shown(Workspace(caller).start_import(cyclotron_id, import_id, columns=columns_in(columns)))


def discard_import(caller: Caller, cyclotron_id: str, import_id: str) -> bool:
    """Throw away a file of which nothing was brought in."""
    Workspace(caller).discard_import(cyclotron_id, import_id)
    return True


def cancel_evaluation(caller: Caller, cyclotron_id: str, evaluation_id: str) -> dict[str, Any]:
    """Ask an evaluation to stop."""
    workspace = Workspace(caller)
    workspace.cancel_evaluation(cyclotron_id, evaluation_id)
    store = workspace.open(cyclotron_id).store
    return evaluation_shown(store, evaluation_id)


class CyclotronMutation(graphene.ObjectType):
    """What can be done with cyclotrons."""

    create_cyclotron = root_field(
        Cyclotron,
        Access(needs=Role.OPERATOR, whole_account=True),
        create_cyclotron,
        "Create a cyclotron. Operators.",
        cyclotron=Argument(CyclotronInput, required=True),
    )
    set_learning_interval = root_field(
        Cyclotron,
        _OPERATOR,
        set_learning_interval,
        "Change after how many new training reviews learning is due. Operators.",
        **_OF,
        learn_every=graphene.Int(required=True),
    )
    decide = root_field(
        given.Decided,
        _OPERATOR,
        decide,
        "Decide an item: asks the decision model once for each classifier, unless the answer is stored. Operators.",
        **_OF,
        item=Argument(given.ItemInput, required=True),
    )
    import_decisions = root_field(
        given.ImportedDecisions,
        _OPERATOR,
        import_decisions,
        "Bring in decisions that were made elsewhere, all or none, 500 at most; no model is called. Operators.",
        **_OF,
        decisions=many_given(given.ForeignDecisionInput, required=True),
    )
    record_review = root_field(
        given.RecordedReview,
        _REVIEWER,
        record_review,
        "Record a review of a decision. Reviewers.",
        **_OF,
        review=Argument(given.ReviewInput, required=True),
    )
    undo_review = root_field(
        Boolean,
        _REVIEWER,
        undo_review,
        "Retract a review; false when it had been undone. Reviewers their own, operators anybody's.",
        **_OF,
        review_id=ID(required=True),
    )
    take_item = root_field(
        given.Assignment,
        _REVIEWER,
        take_item,
        "Take the next item of the review queue, or the one already held; null where nothing waits. Reviewers.",
        **_OF,
        **_CLASSIFIER,
    )
    answer_assignment = root_field(
        given.RecordedReview,
        _REVIEWER,
        answer_assignment,
        "Say what the item is; without a label it is closed. Reviewers.",
        **_OF,
        assignment_id=ID(required=True),
        label=String(),
        explanation=String(),
        reason_code=String(),
    )
    skip_assignment = root_field(
        Boolean,
        _REVIEWER,
        skip_assignment,
        "Give the item back unanswered. Reviewers.",
        **_OF,
        assignment_id=ID(required=True),
    )
    undo_last = root_field(
        given.Assignment,
        _REVIEWER,
        undo_last,
        "Take one's newest answer back and get its item again; null where there is none. Reviewers.",
        **_OF,
        **_CLASSIFIER,
    )
    upload_file = root_field(
        FileImport,
        _OPERATOR,
        upload_file,
        "Keep a CSV file, sent as text; a larger one comes in by REST. Nothing is brought in yet. Operators.",
        **_OF,
        filename=String(required=True),
        csv=String(required=True),
        **_CLASSIFIER,
    )
    start_import = root_field(
        FileImport,
        _OPERATOR,
        start_import,
        "Queue the job that brings a file's rows in. Operators.",
        **_OF,
        import_id=ID(required=True),
        columns=Argument(ImportColumnsInput, required=True),
    )
    discard_import = root_field(
        Boolean,
        _OPERATOR,
        discard_import,
        "Throw away a file of which nothing was brought in. Operators.",
        **_OF,
        import_id=ID(required=True),
    )
    cancel_evaluation = root_field(
        Evaluation,
        _OPERATOR,
        cancel_evaluation,
        "Ask an evaluation to stop; every answer it got is kept. Operators.",
        **_OF,
        evaluation_id=ID(required=True),
    )
