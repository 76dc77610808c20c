"""The panel's two operations, in the lab and mounted by a host."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import RequestFactory
from pytest_django import Settings

from cyclotron.adapters.local import LocalModel
from cyclotron.core.held_out_format import COMMAND_SCHEMA_FILE, OVERVIEW_SCHEMA_FILE, schema_of
from cyclotron.engine import Cyclotron
from cyclotron.graphql.held_out import held_out_schema
from cyclotron.models import Evaluation, HeldOutSet, Permit, Report
from cyclotron.service import HeldOutService
from cyclotron.store import Store
from kapsoweb.accounts.errors import RecordNotFound
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.errors import NotAuthenticatedError
from kapsoweb.doors.graphql.view import graphql_view
from tests.support.frozen_cyclotrons import frozen_cyclotron
from tests.support.graphql import GraphQL, Page, refusal
from tests.support.held_cyclotrons import held_cyclotron, run_queued_jobs
from tests.support.operations import everything
from tests.support.people import member

pytestmark = [pytest.mark.services, pytest.mark.django_db]

OVERVIEW = "query($id:ID!){heldOutOverview(cyclotronId:$id)}"
COMMAND = "mutation($action:String!,$payload:JSON!){heldOutCommand(action:$action,payload:$payload)}"


@pytest.fixture
def store() -> Store:
    """A cyclotron of the local account with a frozen set, of whose evaluation nothing is cached for version 1."""
    return held_cyclotron()


def conforms(document: Any, file: str) -> Any:
    """The document, once it conforms to one of the schemas that ship with the product."""
    from jsonschema import Draft202012Validator

    Draft202012Validator(schema_of(file)).validate(document)
    return document


def overview(program: GraphQL, store: Store) -> Any:
    """What the panel shows."""
    return conforms(program.data(OVERVIEW, id=store.cyclotron_id)["heldOutOverview"], OVERVIEW_SCHEMA_FILE)


def command(program: GraphQL, action: str, **payload: Any) -> Any:
    """What a button of the panel answers."""
    done = program.data(COMMAND, action=action, payload=payload)["heldOutCommand"]
    return conforms(done, COMMAND_SCHEMA_FILE)


def test_a_panel_freezes_evaluates_and_shows_the_report(store: Store) -> None:
    page = Page(member("ada", Role.OPERATOR))
    shown = overview(page, store)
    frozen = command(page, "freeze", cyclotronId=store.cyclotron_id)
    assert frozen["heldOutSet"]["id"] == shown["heldOutSet"]["id"]
    started = command(
        page,
        "evaluate",
        cyclotronId=store.cyclotron_id,
        confirmedRequestBound=shown["requestBound"],
        confirmedPlan=shown["planDigest"],
        requestId="press-1",
    )
    assert started["evaluation"]["state"] == "running"
    assert overview(page, store)["running"]["id"] == started["evaluation"]["id"]
    run_queued_jobs()
    ended = overview(page, store)
    assert ended["running"] is None
    assert len(ended["reports"]) == 1
    again = command(page, "evaluate", cyclotronId=store.cyclotron_id, confirmedRequestBound=0, minimumPerLabel=3)
    assert again["report"]["minimumPerLabel"] == 3, "with everything cached the report is in the answer"


def test_the_operations_can_be_written_as_literals(store: Store) -> None:
    program = GraphQL(role=Role.OPERATOR)
    bound = overview(program, store)["requestBound"]
    done = program.data(
        f"""mutation {{
          freeze: heldOutCommand(action: "freeze", payload: {{cyclotronId: "{store.cyclotron_id}"}})
          evaluate: heldOutCommand(
            action: "evaluate", payload: {{cyclotronId: "{store.cyclotron_id}", confirmedRequestBound: {bound}}}
          )
        }}"""
    )
    assert done["freeze"]["action"] == "freeze"
    assert done["evaluate"]["evaluation"]["state"] == "running"


def test_a_bound_that_is_not_the_shown_one_spends_nothing(store: Store) -> None:
    program = GraphQL(role=Role.OPERATOR)
    shown = overview(program, store)
    before = everything()
    for payload, found in (
        ({"confirmedRequestBound": shown["requestBound"] + 1}, "bound-changed"),
        ({"confirmedRequestBound": shown["requestBound"], "confirmedPlan": "x"}, "plan-changed"),
        ({"confirmedRequestBound": True}, "invalid-payload"),
        ({"confirmedRequestBound": 2**31}, "invalid-payload"),
        ({"confirmedRequestBound": 2**53 + 1}, "invalid-payload"),
        ({"confirmedRequestBound": -1}, "invalid-payload"),
        ({"confirmedRequestBound": 1.5}, "invalid-payload"),
        ({"confirmedRequestBound": str(shown["requestBound"])}, "invalid-payload"),
        ({}, "invalid-payload"),
        ({"confirmedRequestBound": shown["requestBound"], "more": 1}, "invalid-payload"),
    ):
        whole = {"cyclotronId": store.cyclotron_id, **payload}
        assert program.field_error(COMMAND, action="evaluate", payload=whole) == (["heldOutCommand"], found), payload
    assert everything() == before
    assert not Evaluation.objects.exists()
    assert not Permit.objects.exists()


@pytest.mark.parametrize("action", ["", "burn", "FREEZE", "freeze "])
def test_another_action_is_refused(action: str, store: Store) -> None:
    payload = {"cyclotronId": store.cyclotron_id}
    assert GraphQL().field_error(COMMAND, action=action, payload=payload)[1] == "invalid-payload"


def test_an_action_stands_in_quotes(store: Store) -> None:
    query = f'mutation{{heldOutCommand(action: freeze, payload: {{cyclotronId: "{store.cyclotron_id}"}})}}'
    assert refusal(GraphQL().ask(query)) == (400, "invalid-query")


@pytest.mark.parametrize("payload", [[], "x", 5, True, {"cyclotronId": 5}, {"cyclotronId": None}, {}])
def test_a_payload_that_breaks_its_schema_is_refused(payload: Any, store: Store) -> None:
    assert GraphQL().field_error(COMMAND, action="freeze", payload=payload) == (["heldOutCommand"], "invalid-payload")


def test_a_viewer_and_a_reviewer_see_the_panel_and_press_nothing(store: Store) -> None:
    for role in (Role.VIEWER, Role.REVIEWER):
        program = GraphQL(role=role)
        bound = overview(program, store)["requestBound"]
        before = everything()
        for action, payload in (("freeze", {}), ("evaluate", {"confirmedRequestBound": bound})):
            whole = {"cyclotronId": store.cyclotron_id, **payload}
            assert program.field_error(COMMAND, action=action, payload=whole) == (["heldOutCommand"], "not-allowed")
        assert everything() == before


def test_a_lab_without_live_calls_freezes_and_does_not_evaluate(store: Store, settings: Settings) -> None:
    settings.KAPSOWEB_ALLOW_LIVE = False
    program = GraphQL()
    shown = overview(program, store)
    assert shown["capabilities"] == {"liveEnabled": False}
    command(program, "freeze", cyclotronId=store.cyclotron_id)
    payload = {"cyclotronId": store.cyclotron_id, "confirmedRequestBound": shown["requestBound"]}
    assert program.field_error(COMMAND, action="evaluate", payload=payload)[1] == "live-off"
    assert not Evaluation.objects.exists()


def test_a_request_id_with_other_content_is_refused(store: Store) -> None:
    program = GraphQL()
    payload = {
        "cyclotronId": store.cyclotron_id,
        "confirmedRequestBound": overview(program, store)["requestBound"],
        "requestId": "press-1",
    }
    one = command(program, "evaluate", **payload)
    two = command(program, "evaluate", **payload)
    assert one["evaluation"]["id"] == two["evaluation"]["id"]
    changed = {**payload, "minimumPerLabel": 4}
    assert program.field_error(COMMAND, action="evaluate", payload=changed)[1] == "request-id-reused"


def test_a_running_evaluation_is_cancelled_and_the_audit_log_says_by_whom(store: Store) -> None:
    program = GraphQL(role=Role.OPERATOR)
    bound = overview(program, store)["requestBound"]
    started = command(program, "evaluate", cyclotronId=store.cyclotron_id, confirmedRequestBound=bound)
    query = "mutation($c:ID!,$e:ID!){cancelEvaluation(cyclotronId:$c,evaluationId:$e){cancelRequested}}"
    ids = {"c": store.cyclotron_id, "e": started["evaluation"]["id"]}
    assert program.data(query, **ids) == {"cancelEvaluation": {"cancelRequested": True}}
    entries = AuditEntry.objects.order_by("id").values_list("action", "door")
    assert list(entries) == [("evaluation.confirmed", "graphql"), ("evaluation.cancelled", "graphql")]


class Host:
    """A host that mounts the two operations: its users are named in a header, and it evaluates inside the call."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.ceilings: list[int | None] = []
        self.view = graphql_view(held_out_schema(self._service_of), self._user_of)

    def ask(self, user: str, query: str, **variables: Any) -> tuple[int, Any]:
        """The status and the body of an answer."""
        body = json.dumps({"query": query, "variables": variables})
        request = RequestFactory().post("/api/graphql", body, "application/json", headers={"X-User": user})
        answer = self.view(request)
        return answer.status_code, json.loads(answer.content)

    @staticmethod
    def _user_of(request: HttpRequest) -> str:
        if not request.headers["X-User"]:
            raise NotAuthenticatedError("sign in first.")
        return request.headers["X-User"]

    def _service_of(self, user: str) -> HeldOutService:
        @contextmanager
        def opened(cyclotron_id: str, max_requests: int | None = None) -> Iterator[Cyclotron]:
            if user != "ada" or cyclotron_id != self.store.cyclotron_id:
                raise RecordNotFound("There is no such cyclotron here.")
            self.ceilings.append(max_requests)
            yield Cyclotron(self.store, LocalModel(), max_requests=max_requests)

        return HeldOutService(open_cyclotron=opened, allow_live=True)


def test_a_host_mounts_the_two_operations_and_nothing_else() -> None:
    store = frozen_cyclotron()
    host = Host(store)
    status, body = host.ask("ada", OVERVIEW, id=store.cyclotron_id)
    assert status == 200
    shown = conforms(body["data"]["heldOutOverview"], OVERVIEW_SCHEMA_FILE)
    payload = {"cyclotronId": store.cyclotron_id, "confirmedRequestBound": shown["requestBound"]}
    _, body = host.ask("ada", COMMAND, action="evaluate", payload=payload)
    done = conforms(body["data"]["heldOutCommand"], COMMAND_SCHEMA_FILE)
    assert done["report"]["schema"] == "cyclotron-held-out-report/v1"
    assert shown["requestBound"] in host.ceilings
    assert Report.objects.count() == 1
    status, body = host.ask("ada", "{me{role}}")
    assert (status, body["errors"][0]["extensions"]["id"]) == (400, "invalid-query")


def test_a_host_decides_who_asks_and_what_they_reach() -> None:
    store = frozen_cyclotron()
    host = Host(store)
    before = HeldOutSet.objects.count()
    status, body = host.ask("", OVERVIEW, id=store.cyclotron_id)
    assert (status, body["errors"][0]["extensions"]["id"]) == (401, "not-authenticated")
    answers = [
        host.ask("bea", query, **given)[1]["errors"][0]["extensions"]["id"]
        for query, given in (
            (OVERVIEW, {"id": store.cyclotron_id}),
            (COMMAND, {"action": "freeze", "payload": {"cyclotronId": store.cyclotron_id}}),
        )
    ]
    assert answers == ["record-not-found"] * 2
    assert HeldOutSet.objects.count() == before
