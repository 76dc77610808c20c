"""From labels to a report by REST."""

import csv
import io
from typing import Any

import pytest

from cyclotron.models import Evaluation
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.jobs.claims import Claim
from tests.support.api import Program, refusal
from tests.support.held_cyclotrons import held_cyclotron, run_queued_jobs
from tests.support.operations import everything

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture
def operator() -> Program:
    return Program(role=Role.OPERATOR)


@pytest.fixture
def where() -> str:
    return f"cyclotrons/{held_cyclotron().cyclotron_id}"


def overview(program: Program, where: str) -> dict[str, Any]:
    body: dict[str, Any] = program.get(f"{where}/held-out").json()
    return body


def evaluate(program: Program, where: str, **given: Any) -> Any:
    seen = overview(program, where)
    body = {"confirmedRequestBound": seen["requestBound"], "confirmedPlan": seen["planDigest"], **given}
    return program.post(f"{where}/held-out/evaluate", body)


def test_the_overview_is_that_of_the_workspace(operator: Program, where: str) -> None:
    seen = overview(Program(role=Role.VIEWER), where)
    assert seen["heldOutSet"]["size"] == 6
    assert seen["requestBound"] > 0
    assert seen["reports"] == []


def test_freezing_without_new_labels_gives_the_newest_set(operator: Program, where: str) -> None:
    current = overview(operator, where)["heldOutSet"]
    answer = operator.post(f"{where}/held-out/freeze", {"classifier": "screening"})
    assert answer.json() == {"action": "freeze", "heldOutSet": current}
    assert operator.post(f"{where}/held-out/freeze").json()["heldOutSet"] == current


def test_an_evaluation_is_confirmed_run_and_reported(operator: Program, where: str) -> None:
    bound = overview(operator, where)["requestBound"]
    confirmed = {"confirmedRequestBound": bound, "requestId": "mine", "minimumPerLabel": 3}
    answer = operator.post(f"{where}/held-out/evaluate", confirmed)
    assert answer.status_code == 200
    started = answer.json()
    assert (started["evaluation"]["state"], started["report"]) == ("running", None)
    one = f"{where}/evaluations/{started['evaluation']['id']}"
    assert operator.get(one).json()["state"] == "running"
    assert overview(operator, where)["running"]["id"] == started["evaluation"]["id"]
    run_queued_jobs()
    ended = operator.get(one).json()
    assert (ended["state"], ended["reason"]) == ("done", None)
    report = operator.get(f"{where}/reports/{ended['reportId']}").json()
    assert report["minimumPerLabel"] == 3
    listed = operator.get(f"{where}/reports").json()["items"]
    assert [(row["id"], row["verdict"]) for row in listed] == [(ended["reportId"], report["change"]["verdict"])]
    table = operator.get(f"{where}/reports/{ended['reportId']}/csv")
    assert table.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in table.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(table.content.decode(), newline="")))
    assert [row["itemId"] for row in rows] == [item["itemId"] for item in report["items"]]
    again = evaluate(operator, where).json()
    assert (again["evaluation"]["state"], again["report"]["schema"]) == ("done", "cyclotron-held-out-report/v1")
    assert AuditEntry.objects.filter(action="evaluation.confirmed").count() == 2


@pytest.mark.parametrize(
    ("given", "status", "error"),
    [
        ({"confirmedRequestBound": 999}, 409, "bound-changed"),
        ({"confirmedPlan": "0" * 64}, 409, "plan-changed"),
        ({"setId": "0" * 64}, 404, "no-such-held-out-set"),
        ({"classifier": "other"}, 404, "no-such-classifier"),
        ({"cyclotronId": "cy_other"}, 400, "invalid-request"),
        ({"confirmedRequestBound": True}, 400, "invalid-request"),
        ({"confirmedRequestBound": "6"}, 400, "invalid-request"),
        ({"confirmedRequestBound": 2**40}, 400, "invalid-request"),
        ({"minimumPerLabel": 0}, 400, "invalid-request"),
        ({"requestId": ""}, 400, "invalid-request"),
        ({"force": True}, 400, "invalid-request"),
    ],
)
def test_what_was_not_confirmed_is_not_evaluated(
    operator: Program, where: str, given: dict[str, Any], status: int, error: str
) -> None:
    before = everything()
    assert refusal(evaluate(operator, where, **given)) == (status, error)
    assert everything() == before


def test_a_refused_bound_is_told_the_present_one(operator: Program, where: str) -> None:
    bound = overview(operator, where)["requestBound"]
    answer = operator.post(f"{where}/held-out/evaluate", {"confirmedRequestBound": bound + 1})
    assert answer.json()["error"]["detail"]["requestBound"] == bound


def test_where_calls_are_off_nothing_is_evaluated(operator: Program, where: str, settings: Any) -> None:
    settings.KAPSOWEB_ALLOW_LIVE = False
    assert overview(operator, where)["capabilities"] == {"liveEnabled": False}
    assert refusal(evaluate(operator, where)) == (403, "live-off")
    assert not Evaluation.objects.exists()


def test_a_running_evaluation_is_cancelled(operator: Program, where: str) -> None:
    started = evaluate(operator, where).json()["evaluation"]["id"]
    one = f"{where}/evaluations/{started}"
    assert operator.post(f"{one}/cancel").json()["state"] in ("running", "interrupted")
    run_queued_jobs()
    seen = overview(operator, where)
    assert seen["running"] is None
    assert seen["interrupted"]["id"] == started
    ended = operator.get(one).json()
    assert (ended["state"], ended["reason"], ended["reportId"]) == ("interrupted", "cancelled", None)


def test_an_evaluation_that_is_told_to_stop_on_its_way_leaves_a_cancelled_job(
    operator: Program, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = evaluate(operator, where).json()["evaluation"]["id"]
    job = operator.get("jobs").json()["items"][0]
    asked = iter([False] * 2 + [True] * 100)
    with monkeypatch.context() as patched:
        patched.setattr(Claim, "cancel_requested", lambda self: next(asked))
        run_queued_jobs()
    ended = operator.get(f"jobs/{job['id']}").json()
    assert (ended["state"], ended["result"]["reason"], ended["result"]["report"]) == ("cancelled", "cancelled", None)
    assert ended["finishedAt"] is not None
    assert [row["id"] for row in operator.get("jobs", state="cancelled").json()["items"]] == [job["id"]]
    evaluation = operator.get(f"{where}/evaluations/{started}").json()
    assert (evaluation["state"], evaluation["reason"]) == ("interrupted", "cancelled")
    assert refusal(operator.post(f"jobs/{job['id']}/retry")) == (409, "job-not-repeatable")
    assert evaluate(operator, where).json()["evaluation"]["id"] != started


def test_a_request_id_that_found_an_evaluation_running_gets_its_report_when_it_has_ended(
    operator: Program, where: str
) -> None:
    seen = overview(operator, where)
    body = {"confirmedRequestBound": seen["requestBound"], "confirmedPlan": seen["planDigest"]}
    first = operator.post(f"{where}/held-out/evaluate", body).json()
    mine = {**body, "requestId": "mine"}
    other = Program(role=Role.OPERATOR)
    assert other.post(f"{where}/held-out/evaluate", mine).json()["evaluation"] == first["evaluation"]
    run_queued_jobs()
    before = everything()
    again = other.post(f"{where}/held-out/evaluate", mine).json()
    assert (again["evaluation"]["id"], again["evaluation"]["state"]) == (first["evaluation"]["id"], "done")
    assert again["report"]["schema"] == "cyclotron-held-out-report/v1"
    changed = {**mine, "minimumPerLabel": 4}
    assert refusal(other.post(f"{where}/held-out/evaluate", changed)) == (409, "request-id-reused")
    assert everything() == before


def test_an_evaluation_sent_twice_under_one_key_is_one(operator: Program, where: str) -> None:
    body = {"confirmedRequestBound": overview(operator, where)["requestBound"]}
    first, second = (operator.post(f"{where}/held-out/evaluate", body, Idempotency_Key="once") for _ in range(2))
    assert first.content == second.content
    assert Evaluation.objects.count() == 1


def test_reports_are_pages(operator: Program, where: str) -> None:
    evaluate(operator, where)
    run_queued_jobs()
    for _ in range(2):
        assert evaluate(operator, where).json()["evaluation"]["state"] == "done"
    page = operator.get(f"{where}/reports", limit=2).json()
    rest = operator.get(f"{where}/reports", limit=2, cursor=page["next"]).json()
    ids = [row["id"] for row in page["items"] + rest["items"]]
    assert ids == sorted(ids, reverse=True)
    assert (len(ids), rest["next"]) == (3, None)
