"""Another application serves the panel's two operations: to its accounts, under its own check, with one live flag."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import Http404, HttpRequest
from django.test import Client
from django.urls import include, path
from pytest_django.fixtures import Settings

from cyclotron.actions.evaluating import start_evaluation
from cyclotron.adapters.local import LocalModel
from cyclotron.core.held_out_format import COMMAND_SCHEMA_FILE, OVERVIEW_SCHEMA_FILE
from cyclotron.engine import Cyclotron
from cyclotron.hosting import HostedConfig, HostedRuntime, HostedWorkspace, create_app
from cyclotron.models import Evaluation, HeldOutSet, Permit
from cyclotron.service import HeldOutService
from cyclotron.store import Store
from kapsoweb.accounts.errors import RecordNotFound
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.jobs.models import Job
from tests.integration.cyclotron.test_held_out_service import assert_conforms, evaluation_of
from tests.support.cyclotrons import CountingModel
from tests.support.frozen_cyclotrons import frozen_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db]

OVERVIEW = "query($id: ID!, $classifier: String) { heldOutOverview(cyclotronId: $id, classifier: $classifier) }"
COMMAND = "mutation($action: String!, $payload: JSON!) { heldOutCommand(action: $action, payload: $payload) }"


@dataclass
class Publisher:
    """A host of many accounts: whose cyclotron is whose, who carries which token, and what was opened for whom."""

    held_by: dict[str, Store] = field(default_factory=dict)
    model: Any = field(default_factory=CountingModel)
    opened: list[tuple[str, int | None]] = field(default_factory=list)
    open: int = 0

    @contextmanager
    def open_cyclotron(
        self, account_id: str, cyclotron_id: str, max_requests: int | None = None
    ) -> Iterator[Cyclotron]:
        store = self.held_by.get(account_id)
        if store is None or store.cyclotron_id != cyclotron_id:
            raise PermissionDenied
        self.opened.append((account_id, max_requests))
        self.open += 1
        try:
            yield Cyclotron(store, self.model, max_requests=max_requests)
        finally:
            self.open -= 1

    def account_of(self, request: HttpRequest) -> str:
        """The account that the header names, as if it were a token."""
        account = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if account not in self.held_by:
            raise PermissionDenied
        return account

    def runtime(self, *, allow_live: bool = True) -> HostedRuntime:
        return HostedRuntime(open_cyclotron=self.open_cyclotron, config=HostedConfig(allow_live=allow_live))


@pytest.fixture
def publisher() -> Publisher:
    return Publisher({"press": frozen_cyclotron(), "rival": frozen_cyclotron(audit=2, training=0)})


@pytest.fixture
def serve(settings: Settings) -> Callable[..., None]:
    """Serves what `create_app` makes of the parts under `/evidence/`."""

    def serve(**parts: Any) -> None:
        addresses = ModuleType("addresses_of_the_host")
        addresses.urlpatterns = [path("evidence/", include(create_app(**parts)))]  # type: ignore[attr-defined]
        settings.ROOT_URLCONF = addresses  # type: ignore[assignment]  # a module will do

    return serve


@pytest.fixture
def hosted(publisher: Publisher, serve: Callable[..., None]) -> Publisher:
    serve(runtime=publisher.runtime(), account_of=publisher.account_of)
    return publisher


def send(who: str | None, query: str, client: Client | None = None, **variables: Any) -> Any:
    headers = {"Authorization": f"Bearer {who}"} if who is not None else {}
    body = json.dumps({"query": query, "variables": variables})
    client = client or Client(raise_request_exception=False)
    return client.post("/evidence/graphql", body, content_type="application/json", headers=headers)


def ask(who: str, query: str, **variables: Any) -> Any:
    answer = send(who, query, **variables)
    body = answer.json()
    assert (answer.status_code, "errors" in body) == (200, False), body
    (found,) = body["data"].values()
    return found


def refused(who: str | None, query: str, **variables: Any) -> dict[str, Any]:
    """The one error of an answer, without its path."""
    (error,) = send(who, query, **variables).json()["errors"]
    return {**error["extensions"], "message": error["message"]}


def nothing_was_spent(host: Publisher) -> bool:
    return (host.model.count, Permit.objects.count(), Evaluation.objects.count(), host.open) == (0, 0, 0, 0)


# serving --------------------


def test_an_account_looks_freezes_and_evaluates_at_the_hosts_address(hosted: Publisher) -> None:
    mine = hosted.held_by["press"].cyclotron_id
    overview = ask("press", OVERVIEW, id=mine)
    assert_conforms(OVERVIEW_SCHEMA_FILE, overview)
    assert overview["capabilities"] == {"liveEnabled": True}
    done = ask("press", COMMAND, action="evaluate", payload=evaluation_of(overview))
    assert_conforms(COMMAND_SCHEMA_FILE, done)
    assert done["report"]["cost"]["newRequests"] == hosted.model.count == overview["requestBound"]
    frozen = ask("press", COMMAND, action="freeze", payload={"cyclotronId": mine})
    assert frozen["heldOutSet"] == overview["heldOutSet"]
    assert hosted.opened == [("press", None), ("press", overview["requestBound"]), ("press", None), ("press", None)]
    assert hosted.open == 0
    assert not Job.objects.exists()


def test_only_the_two_operations_are_served(hosted: Publisher) -> None:
    fields = "{__schema{queryType{fields{name}} mutationType{fields{name}}}}"
    schema = send("press", fields).json()["data"]["__schema"]
    assert schema["queryType"]["fields"] == [{"name": "heldOutOverview"}]
    assert schema["mutationType"]["fields"] == [{"name": "heldOutCommand"}]


def test_another_accounts_cyclotron_is_a_missing_one_to_the_letter(hosted: Publisher) -> None:
    theirs = hosted.held_by["rival"].cyclotron_id
    said = []
    for wanted in (theirs, "cy_missing"):
        for error in (
            refused("press", OVERVIEW, id=wanted),
            refused("press", COMMAND, action="freeze", payload={"cyclotronId": wanted}),
            refused("press", COMMAND, action="evaluate", payload={"cyclotronId": wanted, "confirmedRequestBound": 0}),
        ):
            assert error["id"] == "record-not-found"
            said.append(json.dumps(error).replace(wanted, "…"))
    assert len(set(said)) == 1
    assert nothing_was_spent(hosted)
    assert HeldOutSet.objects.count() == 2
    assert ask("rival", OVERVIEW, id=theirs)["heldOutSet"]["size"] == 2


@pytest.mark.parametrize("who", ["nobody", ""])
def test_whom_the_host_does_not_know_is_refused_before_anything_is_read(hosted: Publisher, who: str) -> None:
    answer = send(who, "not even a query")
    assert answer.status_code == 403
    assert answer.json()["errors"][0]["extensions"]["id"] == "not-allowed"
    assert hosted.opened == []


@pytest.mark.parametrize("said", [PermissionDenied, Http404, PermissionError("a secret")])
def test_however_the_host_turns_somebody_away_the_answer_is_one(
    publisher: Publisher, serve: Callable[..., None], said: Any
) -> None:
    def account_of(request: HttpRequest) -> str:
        raise said

    serve(runtime=publisher.runtime(), account_of=account_of)
    answer = send("press", OVERVIEW, id="x")
    assert (answer.status_code, answer.json()["errors"][0]["extensions"]["id"]) == (403, "not-allowed")
    assert b"secret" not in answer.content


def test_a_host_that_finds_no_account_serves_nobody(publisher: Publisher, serve: Callable[..., None]) -> None:
    for nobody in (None, ""):
        serve(runtime=publisher.runtime(), account_of=lambda request, nobody=nobody: nobody)
        assert send("press", OVERVIEW, id=publisher.held_by["press"].cyclotron_id).status_code == 403
    assert publisher.opened == []


def test_a_browser_must_prove_that_a_page_of_the_host_sent_the_request(hosted: Publisher, settings: Settings) -> None:
    client = Client(enforce_csrf_checks=True)
    answer = send(None, OVERVIEW, client, id="x")
    assert (answer.status_code, answer.json()["errors"][0]["extensions"]["id"]) == (403, "csrf-refused")
    client.cookies[settings.CSRF_COOKIE_NAME] = client.defaults["HTTP_X_CSRFTOKEN"] = "t" * 32
    answer = send(None, OVERVIEW, client, id="x")
    assert answer.json()["errors"][0]["extensions"]["id"] == "not-allowed"


@pytest.mark.parametrize("wanted", ["a\x00b", "\ud800", "", "x" * 5000])
def test_an_id_that_no_cyclotron_has_is_refused_and_is_no_fault_of_the_host(hosted: Publisher, wanted: str) -> None:
    answer = send("press", OVERVIEW, id=wanted)
    assert answer.status_code in (200, 400)
    assert answer.json()["errors"][0]["extensions"]["id"] != "internal-error"
    assert hosted.opened == []


# what is refused, and spends nothing --------------------


def running(host: Publisher, overview: dict[str, Any]) -> None:
    """Somebody else evaluates this very moment, by another minimum."""
    start_evaluation(
        host.held_by["press"],
        model=host.model.identity,
        confirmed_bound=overview["requestBound"],
        minimum_per_label=3,
        request_id="theirs",
        now=clock.now(),
    )


@pytest.mark.parametrize(
    ("changed", "while_one_runs", "error"),
    [
        # each has every later fault too, so that the order shows
        ({"requestId": "theirs", "confirmedRequestBound": 1, "confirmedPlan": "0"}, True, "request-id-reused"),
        ({"requestId": "mine", "confirmedRequestBound": 1, "confirmedPlan": "0"}, True, "evaluation-running"),
        ({"confirmedRequestBound": 1, "confirmedPlan": "0"}, False, "bound-changed"),
        ({"confirmedPlan": "0"}, False, "plan-changed"),
        ({"setId": "0" * 64}, False, "no-such-held-out-set"),
        ({"classifier": "other"}, False, "no-such-classifier"),
        ({"confirmedRequestBound": True}, False, "invalid-payload"),
        ({"force": True}, False, "invalid-payload"),
    ],
)
def test_what_was_not_confirmed_is_refused_in_order_and_spends_nothing(
    hosted: Publisher, changed: dict[str, Any], while_one_runs: bool, error: str
) -> None:
    overview = ask("press", OVERVIEW, id=hosted.held_by["press"].cyclotron_id)
    if while_one_runs:
        running(hosted, overview)
    before = Evaluation.objects.count()
    assert refused("press", COMMAND, action="evaluate", payload=evaluation_of(overview, **changed))["id"] == error
    assert (hosted.model.count, Permit.objects.count(), Evaluation.objects.count()) == (0, 0, before)


def test_with_calls_off_an_evaluation_is_refused_before_all_else(
    publisher: Publisher, serve: Callable[..., None], settings: Settings
) -> None:
    settings.KAPSOWEB_ALLOW_LIVE = False
    serve(runtime=publisher.runtime(allow_live=False), account_of=publisher.account_of)
    overview = ask("press", OVERVIEW, id=publisher.held_by["press"].cyclotron_id)
    assert overview["capabilities"] == {"liveEnabled": False}
    running(publisher, overview)
    for changed in ({}, {"requestId": "theirs"}, {"confirmedRequestBound": 1}, {"confirmedPlan": "0"}):
        payload = evaluation_of(overview, **changed)
        assert refused("press", COMMAND, action="evaluate", payload=payload)["id"] == "live-off"
    assert (publisher.model.count, Permit.objects.count()) == (0, 0)


# assembling --------------------


def test_a_host_of_one_account_serves_one_service_to_whom_it_admits(
    publisher: Publisher, serve: Callable[..., None]
) -> None:
    store = publisher.held_by["press"]
    service = HeldOutService(open_cyclotron=lambda found, max_requests=None: opened(store, found), allow_live=True)

    @contextmanager
    def opened(store: Store, wanted: str) -> Iterator[Cyclotron]:
        if wanted != store.cyclotron_id:
            raise Http404
        yield Cyclotron(store, LocalModel())

    def admit(request: HttpRequest) -> None:
        if request.headers.get("Authorization") != "Bearer editor":
            raise PermissionDenied

    serve(held_out=service, admit=admit)
    assert ask("editor", OVERVIEW, id=store.cyclotron_id)["heldOutSet"]["size"] == 6
    assert refused("editor", OVERVIEW, id="other")["id"] == "record-not-found"
    assert refused("stranger", OVERVIEW, id=store.cyclotron_id)["id"] == "not-allowed"


def service_of(publisher: Publisher, *, allow_live: bool = True, account_id: str | None = None) -> HeldOutService:
    return HeldOutService(
        open_cyclotron=lambda cyclotron_id, max_requests=None: publisher.open_cyclotron("press", cyclotron_id),
        allow_live=allow_live,
        account_id=account_id,
    )


def somebody(request: HttpRequest) -> str:
    return "press"


def test_an_assembly_that_is_not_served_is_refused_at_once(publisher: Publisher) -> None:
    runtime, service = publisher.runtime(), service_of(publisher)
    for parts, word in (
        ({}, "held_out or runtime"),
        ({"runtime": runtime, "account_of": somebody, "held_out": service}, "one service for all of them"),
        ({"runtime": runtime, "account_of": somebody, "held_out": service, "admit": somebody}, "for all of them"),
        ({"runtime": runtime}, "account_of"),
        ({"runtime": runtime, "admit": somebody}, "account_of"),
        ({"held_out": service}, "admit"),
        ({"held_out": service, "account_of": somebody}, "admit"),
    ):
        with pytest.raises(ImproperlyConfigured, match=word):
            create_app(**parts)  # type: ignore[arg-type]


@pytest.mark.parametrize("deployment", [True, False])
def test_flags_that_disagree_with_the_deployments_are_refused(
    publisher: Publisher, settings: Settings, deployment: bool
) -> None:
    settings.KAPSOWEB_ALLOW_LIVE = deployment
    for flag in (True, False):
        for parts in (
            {"runtime": publisher.runtime(allow_live=flag), "account_of": somebody},
            {"held_out": service_of(publisher, allow_live=flag), "admit": somebody},
        ):
            if flag == deployment:
                assert len(create_app(**parts)) == 1  # type: ignore[arg-type]
                continue
            with pytest.raises(ImproperlyConfigured, match="one flag"):
                create_app(**parts)  # type: ignore[arg-type]


def test_a_host_whose_settings_have_no_flag_says_its_own(publisher: Publisher, settings: Settings) -> None:
    del settings.KAPSOWEB_ALLOW_LIVE
    assert create_app(runtime=publisher.runtime(allow_live=True), account_of=somebody)
    assert create_app(runtime=publisher.runtime(allow_live=False), account_of=somebody)


@dataclass(frozen=True, kw_only=True)
class Careless(HostedRuntime):
    """A runtime that hands out a service that somebody else made."""

    service: HeldOutService

    def workspace(self, account_id: str) -> HostedWorkspace:
        return HostedWorkspace(account_id, self.service)


@pytest.mark.parametrize("scope", [{}, {"account_id": "rival"}, {"account_id": "press", "allow_live": False}])
def test_a_workspace_with_a_global_service_or_another_flag_serves_nobody(
    publisher: Publisher, serve: Callable[..., None], scope: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    runtime = Careless(
        open_cyclotron=publisher.open_cyclotron,
        config=HostedConfig(allow_live=True),
        service=service_of(publisher, **scope),
    )
    serve(runtime=runtime, account_of=somebody)
    answer = send("press", OVERVIEW, id=publisher.held_by["press"].cyclotron_id)
    assert (answer.status_code, answer.json()["errors"][0]["extensions"]["id"]) == (500, "internal-error")
    assert publisher.opened == []
    assert "ImproperlyConfigured" in caplog.text


@pytest.mark.parametrize("flag", [None, 0, 1, "", "true", "false"])
def test_a_flag_that_is_no_boolean_is_refused(flag: Any) -> None:
    with pytest.raises(ImproperlyConfigured):
        HostedConfig(allow_live=flag)


def test_calls_are_off_unless_they_are_switched_on(publisher: Publisher) -> None:
    assert not HostedRuntime(open_cyclotron=publisher.open_cyclotron).workspace("press").held_out.allow_live


@pytest.mark.parametrize("account", ["", None, 7])
def test_a_workspace_is_of_an_account(publisher: Publisher, account: Any) -> None:
    with pytest.raises(ImproperlyConfigured):
        publisher.runtime().workspace(account)


def test_a_workspace_is_used_without_any_request(publisher: Publisher) -> None:
    workspace = publisher.runtime().workspace("press")
    overview = workspace.held_out.overview(publisher.held_by["press"].cyclotron_id)
    done = workspace.held_out.command("evaluate", evaluation_of(overview))
    assert done["evaluation"]["state"] == "done"
    with pytest.raises(RecordNotFound) as missing:
        workspace.held_out.overview(publisher.held_by["rival"].cyclotron_id)
    assert isinstance(missing.value, KapsoError)
