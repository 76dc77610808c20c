"""The held-out service: one JSON for every panel, consent before any call, and nobody else's cyclotron."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import Http404
from jsonschema import Draft202012Validator
from pytest_django.fixtures import Settings

from cyclotron.actions.evaluating import cancel_evaluation, start_evaluation
from cyclotron.adapters.configured import ModelNotConfiguredError
from cyclotron.core.errors import (
    BoundChangedError,
    CyclotronError,
    LiveCallsOffError,
    NoHeldOutSetError,
    NoSuchCyclotronError,
    PlanChangedError,
    RequestCeilingError,
    RequestIdReusedError,
)
from cyclotron.core.held_out_format import (
    COMMAND_SCHEMA_FILE,
    OVERVIEW_SCHEMA_FILE,
    InvalidPayloadError,
    check_payload,
    schema_of,
)
from cyclotron.engine import Cyclotron
from cyclotron.models import Evaluation, HeldOutSet, Permit, StoredCyclotron
from cyclotron.service import HeldOutService
from cyclotron.store import Store
from cyclotron.workspace import Workspace
from kapsoweb.accounts.errors import NotAllowedError, RecordNotFound
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock
from kapsoweb.jobs.models import Job
from tests.support.cyclotrons import CountingModel
from tests.support.frozen_cyclotrons import frozen_cyclotron
from tests.support.held_cyclotrons import held_cyclotron, run_queued_jobs
from tests.support.people import caller, other_account
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


class Host:
    """An application with cyclotrons of its own and its own idea of who may open them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.model = CountingModel()
        self.opened: list[int | None] = []
        self.open = 0
        self.most: int | None = None  # a ceiling of the host's own
        self.refuses_with: Any = PermissionError("not yours")

    @contextmanager
    def open_cyclotron(self, cyclotron_id: str, max_requests: int | None = None) -> Iterator[Cyclotron]:
        if cyclotron_id != self.store.cyclotron_id:
            raise self.refuses_with
        self.opened.append(max_requests)
        self.open += 1
        try:
            ceiling = max_requests if self.most is None else self.most
            yield Cyclotron(self.store, self.model, max_requests=ceiling)
        finally:
            self.open -= 1

    def service(self, *, allow_live: bool = True) -> HeldOutService:
        return HeldOutService(open_cyclotron=self.open_cyclotron, allow_live=allow_live)


@pytest.fixture
def host() -> Host:
    return Host(frozen_cyclotron())


def evaluation_of(overview: dict[str, Any], **changed: Any) -> dict[str, Any]:
    given = {
        "cyclotronId": overview["cyclotronId"],
        "confirmedRequestBound": overview["requestBound"],
        "confirmedPlan": overview["planDigest"],
        "requestId": "request-1",
    }
    return given | changed


def assert_conforms(file: str, document: object) -> None:
    validator = Draft202012Validator(schema_of(file), format_checker=Draft202012Validator.FORMAT_CHECKER)
    assert [fault.message for fault in validator.iter_errors(document)] == []


@pytest.mark.parametrize("file", [OVERVIEW_SCHEMA_FILE, COMMAND_SCHEMA_FILE])
def test_each_schema_is_one_and_its_example_conforms(file: str) -> None:
    Draft202012Validator.check_schema(schema_of(file))
    example = files("cyclotron.schemas").joinpath(file.replace(".schema.", ".example.")).read_text()
    assert_conforms(file, json.loads(example))


@pytest.mark.parametrize("file", [OVERVIEW_SCHEMA_FILE, COMMAND_SCHEMA_FILE])
def test_each_payload_and_answer_has_examples_that_conform(file: str) -> None:
    definitions = schema_of(file)["$defs"]
    described = {name: part for name, part in definitions.items() if "examples" in part}
    assert described.keys() >= {name for name in definitions if name.lower().endswith(("payload", "answer"))}
    for name, part in described.items():
        validator = Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions})
        for example in part["examples"]:
            assert [fault.message for fault in validator.iter_errors(example)] == []
            action = name.removesuffix("Payload")
            if action in ("freeze", "evaluate"):
                assert check_payload(action, example) is example


def test_a_host_looks_freezes_and_evaluates_inside_the_call(host: Host) -> None:
    service = host.service()
    overview = service.overview(host.store.cyclotron_id)
    assert_conforms(OVERVIEW_SCHEMA_FILE, overview)
    assert overview["capabilities"] == {"liveEnabled": True}
    bound = overview["requestBound"]
    assert bound > 0
    done = service.command("evaluate", evaluation_of(overview))
    assert_conforms(COMMAND_SCHEMA_FILE, done)
    assert done["evaluation"]["state"] == "done"
    assert done["report"]["cost"]["newRequests"] == host.model.count <= bound
    assert host.opened == [None, bound, None]
    assert host.open == 0
    after = service.overview(host.store.cyclotron_id)
    assert_conforms(OVERVIEW_SCHEMA_FILE, after)
    assert (after["requestBound"], len(after["reports"]), after["running"]) == (0, 1, None)
    assert "items" not in after["reports"][0]["report"]
    again = service.command("freeze", {"cyclotronId": host.store.cyclotron_id})
    assert_conforms(COMMAND_SCHEMA_FILE, again)
    assert again["heldOutSet"] == after["heldOutSet"]


def test_a_repeated_request_is_the_same_evaluation_and_costs_nothing_more(host: Host) -> None:
    service = host.service()
    payload = evaluation_of(service.overview(host.store.cyclotron_id))
    first = service.command("evaluate", payload)
    made = host.model.count
    assert service.command("evaluate", payload) == first
    assert host.model.count == made
    assert Evaluation.objects.count() == 1


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"confirmedRequestBound": 1}, BoundChangedError),
        ({"confirmedPlan": "0" * 64}, PlanChangedError),
    ],
)
def test_a_stale_bound_or_plan_spends_nothing(host: Host, changed: dict[str, Any], error: type[CyclotronError]) -> None:
    service = host.service()
    payload = evaluation_of(service.overview(host.store.cyclotron_id), **changed)
    with pytest.raises(error):
        service.command("evaluate", payload)
    assert (host.model.count, Permit.objects.count(), Evaluation.objects.count()) == (0, 0, 0)


def test_a_bound_beyond_the_hosts_own_ceiling_spends_nothing(host: Host) -> None:
    payload = evaluation_of(host.service().overview(host.store.cyclotron_id))
    host.most = payload["confirmedRequestBound"] - 1
    with pytest.raises(RequestCeilingError) as refused:
        host.service().command("evaluate", payload)
    assert refused.value.detail == {"requestBound": host.most + 1, "left": host.most}
    assert (host.model.count, Permit.objects.count(), Evaluation.objects.count(), host.open) == (0, 0, 0, 0)


def test_a_request_id_with_other_content_is_an_error_and_spends_nothing(host: Host) -> None:
    service = host.service()
    service.command("evaluate", evaluation_of(service.overview(host.store.cyclotron_id)))
    made = host.model.count
    other = evaluation_of(service.overview(host.store.cyclotron_id), minimumPerLabel=3)
    with pytest.raises(RequestIdReusedError):
        service.command("evaluate", other)
    assert (host.model.count, Evaluation.objects.count()) == (made, 1)


def test_live_calls_that_are_off_refuse_an_evaluation_and_nothing_else(host: Host) -> None:
    service = host.service(allow_live=False)
    overview = service.overview(host.store.cyclotron_id)
    assert overview["capabilities"] == {"liveEnabled": False}
    assert overview["disabledReason"]
    for wanted in (host.store.cyclotron_id, "theirs"):
        with pytest.raises(LiveCallsOffError):
            service.command("evaluate", evaluation_of(overview, cyclotronId=wanted))
    assert (host.model.count, Evaluation.objects.count(), host.opened) == (0, 0, [None])
    assert service.command("freeze", {"cyclotronId": host.store.cyclotron_id})["heldOutSet"]


def test_without_a_set_there_is_nothing_to_confirm() -> None:
    host = Host(frozen_cyclotron())
    row = host.store.classifier()
    row.current_set = None
    row.save()
    overview = host.service().overview(host.store.cyclotron_id)
    assert_conforms(OVERVIEW_SCHEMA_FILE, overview)
    assert (overview["heldOutSet"], overview["requestBound"], overview["planDigest"]) == (None, None, None)
    with pytest.raises(NoHeldOutSetError):
        host.service().command("evaluate", {"cyclotronId": host.store.cyclotron_id, "confirmedRequestBound": 0})
    assert not Evaluation.objects.exists()


REFUSALS = [
    PermissionError("not yours"),
    PermissionDenied,
    Http404,
    StoredCyclotron.DoesNotExist,
    NoSuchCyclotronError("?"),
]


def calls_for(service: HeldOutService, cyclotron_id: str) -> list[Callable[[], object]]:
    return [
        lambda: service.overview(cyclotron_id),
        lambda: service.command("freeze", {"cyclotronId": cyclotron_id}),
        lambda: service.command("evaluate", {"cyclotronId": cyclotron_id, "confirmedRequestBound": 0}),
    ]


@pytest.mark.parametrize("said", REFUSALS, ids=lambda said: getattr(said, "__name__", type(said).__name__))
def test_however_a_host_refuses_to_open_the_cyclotron_is_missing_and_nothing_is_held(host: Host, said: Any) -> None:
    host.refuses_with = said
    for call in calls_for(host.service(), "theirs"):
        with pytest.raises(RecordNotFound) as missing:
            call()
        assert missing.value.as_json() == {
            "id": "record-not-found",
            "message": "There is no cyclotron with the id 'theirs' here.",
            "detail": {"room": "cyclotron", "recordId": "theirs"},
        }
        assert isinstance(missing.value.__cause__, said if isinstance(said, type) else type(said))
    assert (host.opened, host.open) == ([], 0)


def test_what_else_goes_wrong_while_opening_is_told_as_it_is(host: Host) -> None:
    host.refuses_with = ConnectionError("the store is away")
    for call in calls_for(host.service(), "theirs"):
        with pytest.raises(ConnectionError, match="away"):
            call()


def test_what_fails_inside_a_call_gives_the_lease_back(host: Host) -> None:
    for call in calls_for(host.service(), host.store.cyclotron_id)[2:]:
        with pytest.raises(BoundChangedError):
            call()
    with pytest.raises(CyclotronError):
        host.service().overview(host.store.cyclotron_id, "no such classifier")
    assert len(host.opened) == 2
    assert host.open == 0


def test_the_lease_is_held_while_the_model_is_asked_and_no_longer(host: Host) -> None:
    service = host.service()
    payload = evaluation_of(service.overview(host.store.cyclotron_id))
    seen: list[int] = []
    answer = host.model.answer
    host.model.answer = lambda request: (seen.append(host.open), answer(request))[1]  # type: ignore[method-assign]
    service.command("evaluate", payload)
    assert set(seen) == {1}
    assert host.open == 0


@pytest.mark.parametrize("flag", [None, 0, 1, "", "true", "false"])
def test_a_flag_that_is_no_boolean_switches_nothing_on(host: Host, flag: Any) -> None:
    with pytest.raises(ImproperlyConfigured):
        host.service(allow_live=flag)


@pytest.mark.parametrize("payload", [None, [], "x", 7, {}])
@pytest.mark.parametrize("action", ["freeze", "evaluate"])
def test_a_payload_of_another_shape_is_refused(host: Host, action: str, payload: Any) -> None:
    with pytest.raises(InvalidPayloadError):
        host.service().command(action, payload)
    assert host.opened == []


@pytest.mark.parametrize(
    "changed",
    [
        {"confirmedRequestBound": True},
        {"confirmedRequestBound": "3"},
        {"confirmedRequestBound": -1},
        {"confirmedRequestBound": 1.5},
        {"confirmedRequestBound": 3.0},
        {"confirmedRequestBound": 2**31},
        {"confirmedRequestBound": None},
        {"confirmedPlan": ""},
        {"confirmedPlan": 7},
        {"requestId": "x" * 513},
        {"requestId": "a\x00"},
        {"requestId": "\ud800"},
        {"classifier": 7},
        {"minimumPerLabel": 0},
        {"minimumPerLabel": True},
        {"minimumPerLabel": 3.0},
        {"setId": ""},
        {"unknown": 1},
        {"cyclotronId": 7},
    ],
)
def test_a_payload_that_breaks_its_schema_is_refused_by_its_path_without_being_repeated(
    host: Host, changed: dict[str, Any]
) -> None:
    payload = {"cyclotronId": host.store.cyclotron_id, "confirmedRequestBound": 3} | changed
    with pytest.raises(InvalidPayloadError) as refused:
        host.service().command("evaluate", payload)
    assert "x" * 100 not in str(refused.value.as_json())
    assert host.opened == []


@pytest.mark.parametrize("action", ["", "delete", "Freeze", "evaluate "])
def test_there_are_two_actions(host: Host, action: str) -> None:
    with pytest.raises(InvalidPayloadError, match="freeze, evaluate"):
        host.service().command(action, {"cyclotronId": host.store.cyclotron_id})


def test_in_the_lab_an_evaluation_answers_at_once_and_a_job_brings_the_report() -> None:
    store = held_cyclotron()
    service = Workspace(caller(Role.OPERATOR)).held_out
    overview = service.overview(store.cyclotron_id)
    started = service.command("evaluate", evaluation_of(overview))
    assert_conforms(COMMAND_SCHEMA_FILE, started)
    assert (started["evaluation"]["state"], started["report"]) == ("running", None)
    running = service.overview(store.cyclotron_id)
    assert_conforms(OVERVIEW_SCHEMA_FILE, running)
    assert running["running"]["id"] == started["evaluation"]["id"]
    assert run_queued_jobs() == 1
    ended = service.command("evaluate", evaluation_of(overview))
    assert ended["evaluation"] == {"id": started["evaluation"]["id"], "state": "done", "reason": None}
    assert ended["report"]["schema"] == "cyclotron-held-out-report/v1"
    cached = service.command("evaluate", evaluation_of(service.overview(store.cyclotron_id), requestId="request-2"))
    assert cached["evaluation"]["state"] == "done"
    assert cached["report"]["cost"]["newRequests"] == 0
    assert Job.objects.count() == 1


def test_in_the_lab_roles_are_asked_and_what_was_done_is_written_down() -> None:
    store = held_cyclotron()
    viewer, operator = Workspace(caller(Role.VIEWER)).held_out, Workspace(caller(Role.OPERATOR)).held_out
    overview = viewer.overview(store.cyclotron_id)
    for action, payload in (
        ("freeze", {"cyclotronId": store.cyclotron_id}),
        ("evaluate", evaluation_of(overview)),
    ):
        with pytest.raises(NotAllowedError):
            viewer.command(action, payload)
    assert not Evaluation.objects.exists()
    assert not AuditEntry.objects.exists()
    operator.command("evaluate", evaluation_of(overview))
    operator.command("evaluate", evaluation_of(overview))
    assert list(AuditEntry.objects.values_list("action", "actor", "record_id")) == [
        ("evaluation.confirmed", "operator-of-local", store.cyclotron_id)
    ]


def test_another_accounts_cyclotron_is_a_missing_one_to_the_letter() -> None:
    store = held_cyclotron()
    stranger = Workspace(caller(Role.OWNER, other_account())).held_out
    said = []
    for wanted in (store.cyclotron_id, "cy_missing"):
        for call in (
            lambda wanted=wanted: stranger.overview(wanted),
            lambda wanted=wanted: stranger.command("freeze", {"cyclotronId": wanted}),
            lambda wanted=wanted: stranger.command("evaluate", {"cyclotronId": wanted, "confirmedRequestBound": 0}),
        ):
            with pytest.raises(RecordNotFound) as missing:
                call()
            said.append(json.dumps(missing.value.as_json()).replace(wanted, "…"))
    assert len(set(said)) == 1
    assert not Evaluation.objects.exists()
    assert HeldOutSet.objects.count() == 1


def test_an_evaluation_that_is_being_cancelled_is_shown_as_such(host: Host) -> None:
    service = host.service()
    bound = service.overview(host.store.cyclotron_id)["requestBound"]
    started = start_evaluation(host.store, model=host.model.identity, confirmed_bound=bound, now=clock.now())
    cancel_evaluation(host.store, started.id, now=clock.now())
    overview = service.overview(host.store.cyclotron_id)
    assert_conforms(OVERVIEW_SCHEMA_FILE, overview)
    assert (overview["running"]["id"], overview["running"]["state"]) == (started.id, "cancelling")


def test_a_double_click_is_one_evaluation_one_job_and_one_audit_entry() -> None:
    store = held_cyclotron()
    operator = caller(Role.OPERATOR)
    payload = evaluation_of(Workspace(operator).held_out.overview(store.cyclotron_id))
    seen: list[dict[str, Any]] = []
    assert in_threads(2, lambda _: seen.append(Workspace(operator).held_out.command("evaluate", payload))) == []
    assert seen[0] == seen[1]
    assert (Evaluation.objects.count(), Job.objects.count(), AuditEntry.objects.count()) == (1, 1, 1)


def test_a_double_click_at_a_host_is_one_evaluation_within_the_confirmed_bound(host: Host) -> None:
    service = host.service()
    payload = evaluation_of(service.overview(host.store.cyclotron_id))
    seen: list[str] = []
    raised = in_threads(2, lambda _: seen.append(service.command("evaluate", payload)["evaluation"]["id"]))
    assert raised == []
    assert len(seen) == 2
    assert len(set(seen)) == 1
    assert host.model.count == payload["confirmedRequestBound"] == Permit.objects.count()


def test_two_tabs_that_confirm_at_once_get_one_evaluation() -> None:
    store = held_cyclotron()
    operator = caller(Role.OPERATOR)
    overview = Workspace(operator).held_out.overview(store.cyclotron_id)
    seen: list[str] = []

    def confirm(number: int) -> None:
        payload = evaluation_of(overview, requestId=f"tab-{number}")
        seen.append(Workspace(operator).held_out.command("evaluate", payload)["evaluation"]["id"])

    assert in_threads(4, confirm) == []
    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert (Evaluation.objects.count(), Job.objects.count(), Permit.objects.count()) == (1, 1, 0)
    assert AuditEntry.objects.count() == 1


def test_a_lab_without_a_model_shows_the_overview_with_the_reason_and_evaluates_nothing(settings: Settings) -> None:
    store = held_cyclotron()
    settings.KAPSOWEB_DECISION_MODEL = "openai"
    service = Workspace(caller(Role.OPERATOR)).held_out
    overview = service.overview(store.cyclotron_id)
    assert_conforms(OVERVIEW_SCHEMA_FILE, overview)
    assert "KAPSOWEB_MODEL_URL" in overview["disabledReason"]
    with pytest.raises(ModelNotConfiguredError):
        service.command("evaluate", evaluation_of(overview))
    assert not Evaluation.objects.exists()
