"""Every method of the workspace with the role that it needs, so that a test can go through all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cyclotron import queries
from cyclotron.actions.importing import ForeignDecision, ForeignOutput
from cyclotron.core.imports import ImportColumns
from cyclotron.core.replay import ReplayRow
from cyclotron.models import Decision, Review
from cyclotron.workspace import Workspace
from kapsoweb.accounts.roles import Role
from tests.support.cyclotrons import definition
from tests.support.whole_cyclotrons import CSV, Whole

COLUMNS = ImportColumns(id_column="record", text_columns=("text",), label_column="decision", mapping={}, otherwise=None)
FOREIGN = ForeignDecision(
    identity="foreign",
    values={"text": "attention"},
    outputs={"screening": ForeignOutput("include", 0.5)},
    sent=True,
    reason="program",
    propensity=0.5,
)
ROWS = [ReplayRow(2, "replayed", "attention in children", "include")]


@dataclass(frozen=True)
class Call:
    """`make(workspace, id, whole)` calls the method on the cyclotron of that id, with parts of the whole one.

    `audited` is the action of its audit entry, if any; `live` whether it may lead to a call of a model.
    """

    needs: Role
    make: Callable[[Workspace, str, Whole], Any]
    audited: str | None = None
    live: bool = False
    model_inside: bool = False  # so that the audit entry is not in one transaction with what was done


def waiting_decision() -> str:
    """A decision that was sent and that nobody reviewed."""
    return str(Decision.objects.get(item__identity="waits").id)


def first_review() -> str:
    """A review that somebody outside the account gave."""
    return str(Review.objects.order_by("id").values_list("identity", flat=True)[0])


def assignment(workspace: Workspace, cyclotron_id: str, whole: Whole) -> str:
    """One that the caller holds, or somebody else's for a caller who can hold none."""
    if not workspace.caller.role.allows(Role.REVIEWER) or cyclotron_id != whole.store.cyclotron_id:
        return whole.ids["assignmentId"]
    held = workspace.take(cyclotron_id)
    assert held is not None
    return held.id


def answer_and_undo(workspace: Workspace, cyclotron_id: str, whole: Whole) -> Any:
    """The caller's own last answer, taken back; without one there is nothing to take back."""
    if workspace.caller.role.allows(Role.REVIEWER) and cyclotron_id == whole.store.cyclotron_id:
        workspace.answer(cyclotron_id, assignment(workspace, cyclotron_id, whole), label="include")
    return workspace.undo_last(cyclotron_id)


def answer_and_undo_it(workspace: Workspace, cyclotron_id: str, whole: Whole) -> Any:
    """An answer of the caller's own, taken back by its identity."""
    answer = "as_none"
    if workspace.caller.role.allows(Role.REVIEWER) and cyclotron_id == whole.store.cyclotron_id:
        answer = workspace.answer(cyclotron_id, assignment(workspace, cyclotron_id, whole), label="include").identity
    return workspace.undo_answer(cyclotron_id, answer)


def bound(whole: Whole) -> int:
    """The number to confirm."""
    model = queries.evaluation_record(whole.store, whole.ids["evaluationId"]).model
    return queries.overview(whole.store, model=model, allow_live=True).request_bound or 0


CALLS: dict[str, Call] = {
    "open": Call(Role.VIEWER, lambda w, i, _: w.open(i)),
    "held_out.overview": Call(Role.VIEWER, lambda w, i, _: w.held_out.overview(i)),
    "review": Call(
        Role.REVIEWER,
        lambda w, i, _: w.review(i, identity="said", decision_id=waiting_decision(), label="include"),
        "review.recorded",
    ),
    "take": Call(Role.REVIEWER, lambda w, i, _: w.take(i)),
    "answer": Call(
        Role.REVIEWER, lambda w, i, whole: w.answer(i, assignment(w, i, whole), label="include"), "review.recorded"
    ),
    "skip": Call(Role.REVIEWER, lambda w, i, whole: w.skip(i, assignment(w, i, whole))),
    "undo_last": Call(Role.REVIEWER, answer_and_undo, "review.undone"),
    "undo_answer": Call(Role.REVIEWER, answer_and_undo_it, "review.undone"),
    "undo anybody's": Call(Role.OPERATOR, lambda w, i, _: w.undo(i, identity=first_review()), "review.undone"),
    "set_learning_interval": Call(Role.OPERATOR, lambda w, i, _: w.set_learning_interval(i, 7), "cyclotron.changed"),
    "decide": Call(
        Role.OPERATOR,
        lambda w, i, _: w.decide(i, identity="new", values={"text": "attention"}),
        "item.decided",
        live=True,
        model_inside=True,
    ),
    "replay": Call(Role.OPERATOR, lambda w, i, _: w.replay(i, ROWS), "replay.started", live=True, model_inside=True),
    "import_decisions": Call(Role.OPERATOR, lambda w, i, _: w.import_decisions(i, [FOREIGN]), "decisions.imported"),
    "freeze": Call(Role.OPERATOR, lambda w, i, _: w.freeze(i)),
    "evaluate": Call(
        Role.OPERATOR,
        lambda w, i, whole: w.evaluate(i, confirmed_bound=bound(whole)),
        "evaluation.confirmed",
        live=True,
    ),
    "cancel_evaluation": Call(Role.OPERATOR, lambda w, i, whole: w.cancel_evaluation(i, whole.ids["evaluationId"])),
    "upload": Call(Role.OPERATOR, lambda w, i, _: w.upload(i, filename="more.csv", data=CSV), "import.received"),
    "start_import": Call(
        Role.OPERATOR,
        lambda w, i, whole: w.start_import(i, whole.ids["importId"], columns=COLUMNS),
        "import.started",
        live=True,
    ),
    "discard_import": Call(
        Role.OPERATOR, lambda w, i, whole: w.discard_import(i, whole.ids["importId"]), "import.discarded"
    ),
    "held_out freeze": Call(Role.OPERATOR, lambda w, i, _: w.held_out.command("freeze", {"cyclotronId": i})),
    "held_out evaluate": Call(
        Role.OPERATOR,
        lambda w, i, whole: w.held_out.command("evaluate", {"cyclotronId": i, "confirmedRequestBound": bound(whole)}),
        "evaluation.confirmed",
        live=True,
    ),
}
# What concerns the account and no record of it; all need the whole account.
WHOLE_ACCOUNT: dict[str, Call] = {
    "create": Call(Role.OPERATOR, lambda w, *_: w.create(name="new", definition=definition()), "cyclotron.created"),
    "create_or_open": Call(
        Role.OPERATOR, lambda w, *_: w.create_or_open(name="new", definition=definition()), "cyclotron.created"
    ),
}
EVERY_CALL = {**CALLS, **WHOLE_ACCOUNT}
OTHER_METHODS = {"cyclotrons", "writing", "audit", "speaker"}  # what every role sees, and what methods are made of
