"""Every field gives what it says: read with the least role that may, and refused to the role below."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from cyclotron.models import Decision, Item, Review
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.graphql.fields import root_fields
from kapsoweb.schema import schema
from tests.support.graphql import GraphQL
from tests.support.graphql_documents import DOCUMENTS, MUTATIONS, OF_A_CYCLOTRON, QUERIES
from tests.support.held_cyclotrons import run_queued_jobs
from tests.support.operations import everything
from tests.support.people import caller
from tests.support.whole_cyclotrons import Whole, whole_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db]

RULES = {field.name: field.access for field in root_fields(schema.graphql_schema)}
BELOW = {Role.REVIEWER: Role.VIEWER, Role.OPERATOR: Role.REVIEWER, Role.OWNER: Role.OPERATOR}
ABOVE_VIEWERS = [name for name, rule in RULES.items() if rule is not None and rule.needs in BELOW]
NEEDS_A_WHOLE_ACCOUNT = [name for name, rule in RULES.items() if rule is not None and rule.whole_account]


@pytest.fixture
def mine() -> Whole:
    """A cyclotron of the local account, with one of everything that a field can name."""
    whole = whole_cyclotron("mine")
    whole.ids["reviewId"] = whole.store.all(Review).order_by("id").values_list("identity", flat=True)[0]
    return whole


def needs(name: str) -> Role:
    """The least role of a root field."""
    rule = RULES[name]
    assert rule is not None
    assert rule.needs is not None
    return rule.needs


@pytest.mark.parametrize("name", RULES)
def test_every_root_field_has_an_access_rule(name: str) -> None:
    rule = RULES[name]
    assert rule is not None
    assert rule.needs is not None, "no field is public"


def test_a_query_is_answered_whole_to_the_least_role_and_changes_nothing(mine: Whole) -> None:
    programs = {role: GraphQL(role=role) for role in Role}
    before = everything()
    for name in (*QUERIES, *OF_A_CYCLOTRON):
        program = programs[needs(name) if name in RULES else Role.VIEWER]
        answer = DOCUMENTS[name].send(program, mine.ids)
        assert answer.status_code == 200, answer.content
        body = answer.json()
        assert "errors" not in body, (name, body)
        (found,) = body["data"].values()
        assert (found[name] if name in OF_A_CYCLOTRON else found) not in (None, []), name
    assert everything() == before


def test_the_role_below_is_refused_and_nothing_is_changed(mine: Whole) -> None:
    programs = {role: GraphQL(role=role) for role in Role}
    before = everything()
    for name in ABOVE_VIEWERS:
        body = DOCUMENTS[name].send(programs[BELOW[needs(name)]], mine.ids).json()
        assert body["data"] == {name: None}
        assert [error["extensions"]["id"] for error in body["errors"]] == ["not-allowed"], name
    assert everything() == before


def test_a_token_for_one_record_is_refused_what_concerns_the_account(mine: Whole) -> None:
    program = GraphQL(only=mine.ids["cyclotronId"])
    before = everything()
    for name in NEEDS_A_WHOLE_ACCOUNT:
        body = DOCUMENTS[name].send(program, mine.ids).json()
        assert [error["extensions"]["id"] for error in body["errors"]] == ["not-allowed"], name
    assert everything() == before


def test_a_token_for_one_record_reads_all_of_it_and_of_the_lists_what_concerns_it(mine: Whole) -> None:
    whole_cyclotron("other")
    program = GraphQL(role=Role.VIEWER, only=mine.ids["cyclotronId"])
    for name in OF_A_CYCLOTRON:
        assert "errors" not in DOCUMENTS[name].send(program, mine.ids).json(), name
    listed = program.data(QUERIES["cyclotrons"].query)["cyclotrons"]["nodes"]
    assert [row["id"] for row in listed] == [mine.ids["cyclotronId"]]
    jobs = program.data("{jobs{nodes{recordId}}}")["jobs"]["nodes"]
    assert {job["recordId"] for job in jobs} == {mine.ids["cyclotronId"]}


Check = Callable[[Any, Whole], Any]


def _answered(done: Any, mine: Whole) -> None:
    assert done["label"] == "include"
    assert Review.objects.get(identity=done["reviewId"]).explanation == "so"


def _decided(done: Any, mine: Whole) -> None:
    stored = mine.store.all(Decision).get(id=done["decisionId"])
    assert (stored.sent, stored.reason, stored.propensity) == (True, "low-confidence", 1.0)
    (output,) = done["outputs"]
    assert sum(each["share"] for each in output["probabilities"]) == pytest.approx(1)


def _imported(done: Any, mine: Whole) -> None:
    assert (done["recorded"], done["known"], len(done["decisionIds"])) == (1, 0, 1)
    assert mine.store.all(Item).get(identity="brought-in").values["number"] == 2**53 + 1


def _started(done: Any, mine: Whole) -> None:
    assert done["state"] == "queued"
    run_queued_jobs()
    assert {item.identity for item in mine.store.all(Item)} >= {"row-1", "row-2"}


DONE: dict[str, Check] = {
    "heldOutCommand": lambda done, _: done["heldOutSet"]["id"],
    "createCyclotron": lambda done, _: done["learnEvery"] == 7 and done["classifiers"][0]["labels"],
    "setLearningInterval": lambda done, mine: mine.store.cyclotron().learn_every == done["learnEvery"] == 9,
    "decide": _decided,
    "importDecisions": _imported,
    "undoReview": lambda done, mine: done is True,
    "takeItem": lambda done, mine: done["id"] and sum(each["share"] for each in done["probabilities"]),
    "answerAssignment": _answered,
    "skipAssignment": lambda done, mine: done is True,
    "undoLast": lambda done, mine: done is None,
    "uploadFile": lambda done, mine: (done["state"], done["rowCount"]) == ("received", 1),
    "startImport": _started,
    "discardImport": lambda done, mine: done is True,
    "cancelEvaluation": lambda done, mine: done["state"] == "done",
    "cancelJob": lambda done, mine: done["state"] == "done",
    "createToken": lambda done, mine: done["token"]["recordId"] == mine.ids["cyclotronId"],
    "revokeToken": lambda done, mine: done["revokedAt"].endswith("Z"),
}
OF_SOMEBODY_ELSE = {"undoReview", "revokeToken"}  # which their own maker could do with less
# Nothing is done that an audit is for: no new labels to freeze, no answer to undo, evaluation and job have ended.
UNAUDITED = {"heldOutCommand", "takeItem", "skipAssignment", "undoLast", "cancelEvaluation", "cancelJob"}


def test_a_mutation_does_what_it_says_by_the_least_role_and_leaves_its_audit_entry(mine: Whole) -> None:
    programs = {role: GraphQL(role=role) for role in Role}
    for name in DONE:
        with transaction.atomic():
            try_mutation(name, programs[Role.OWNER if name in OF_SOMEBODY_ELSE else needs(name)], mine)
            transaction.set_rollback(True)  # the next one begins with all that was there


def try_mutation(name: str, program: GraphQL, mine: Whole) -> None:
    ids = mine.ids
    if name in ("answerAssignment", "skipAssignment"):
        taken = MUTATIONS["takeItem"].send(program, ids).json()["data"]["takeItem"]
        ids = {**ids, "assignmentId": taken["id"]}
    audited = AuditEntry.objects.count()
    body = MUTATIONS[name].send(program, ids).json()
    assert "errors" not in body, (name, body)
    assert DONE[name](body["data"][name], mine) is not False, (name, body)
    entries = AuditEntry.objects.order_by("id")[audited:]
    expected = [("graphql", True)] * (name not in UNAUDITED)
    assert [(entry.door, entry.token_id != "") for entry in entries] == expected, name


def test_a_review_is_recorded_once_and_undone_by_its_reviewer_alone(mine: Whole) -> None:
    decision = mine.store.all(Decision).get(item__identity="waits too").pk
    review = {"reviewId": "said-now", "decisionId": decision, "label": "exclude"}
    ada, bea = GraphQL(role=Role.REVIEWER), GraphQL(role=Role.REVIEWER, user=caller_user())
    document, undo = MUTATIONS["recordReview"], MUTATIONS["undoReview"]
    first = document.send(ada, mine.ids, review=review).json()["data"]["recordReview"]
    again = document.send(ada, mine.ids, review=review).json()["data"]["recordReview"]
    assert (first["new"], again["new"], first["selectedBy"]) == (True, False, "program")
    ids = {**mine.ids, "reviewId": "said-now"}
    refused = undo.send(bea, ids).json()
    assert refused["errors"][0]["extensions"]["id"] == "not-allowed"
    assert undo.send(ada, ids).json()["data"] == {"undoReview": True}
    assert undo.send(ada, ids).json()["data"] == {"undoReview": False}


def caller_user() -> Any:
    """A reviewer of the local account."""
    caller(Role.REVIEWER, name="bea")
    return User.objects.get(username="bea")


def test_a_job_that_ended_is_not_repeated(mine: Whole) -> None:
    body = MUTATIONS["retryJob"].send(GraphQL(), mine.ids).json()
    assert body["data"] == {"retryJob": None}
    assert body["errors"][0]["path"] == ["retryJob"]


def test_mutations_are_carried_out_in_their_order_each_for_itself(mine: Whole) -> None:
    program = GraphQL()
    answer = program.ask(
        """mutation($c:ID!){
             a: setLearningInterval(cyclotronId:$c, learnEvery:5){learnEvery}
             b: setLearningInterval(cyclotronId:$c, learnEvery:0){learnEvery}
             c: setLearningInterval(cyclotronId:$c, learnEvery:6){learnEvery}
           }""",
        {"c": mine.ids["cyclotronId"]},
    )
    body = answer.json()
    assert body["data"] == {"a": {"learnEvery": 5}, "b": None, "c": {"learnEvery": 6}}
    assert [(error["path"], error["extensions"]["id"]) for error in body["errors"]] == [(["b"], "invalid-definition")]
    assert mine.store.cyclotron().learn_every == 6
