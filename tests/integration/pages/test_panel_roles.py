"""What the held-out panel offers to each role, and that what it does not offer is refused and changes nothing."""

from html import unescape

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse

from cyclotron.models import Evaluation, HeldOutSet
from cyclotron.store import Store
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.jobs.models import Job
from tests.support.held_cyclotrons import held_cyclotron, run_queued_jobs
from tests.support.people import member

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


def address(store: Store, view: str = "detail", *arguments: str) -> str:
    return reverse(f"cyclotron:{view}", args=[store.cyclotron_id, *arguments])


def visitor(role: Role) -> Client:
    client = Client()
    client.force_login(member(f"a-{role}", role))
    return client


def body_of(answer: HttpResponseBase) -> str:
    return unescape(answer.getvalue().decode())


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_a_lesser_role_sees_the_buttons_off_with_the_reason_beside_them(role: Role) -> None:
    body = body_of(visitor(role).get(address(held_cyclotron())))
    assert f"Your role here is {role.value}; evaluating needs operator." in body
    assert f"Your role here is {role.value}; freezing needs operator." in body
    assert 'disabled aria-describedby="evaluate-reason"' in body
    assert 'disabled aria-describedby="freeze-reason"' in body


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
@pytest.mark.parametrize("view", ["evaluate", "freeze"])
def test_a_lesser_role_is_refused_in_the_panel_and_nothing_changes(role: Role, view: str) -> None:
    store = held_cyclotron()
    store.all(type(store.classifier())).update(current_set=None)
    sets = HeldOutSet.objects.count()
    answer = visitor(role).post(address(store, view), {"confirmedRequestBound": "0"})
    assert answer.status_code == 403
    assert f"yours is {role.value}" in body_of(answer)
    assert HeldOutSet.objects.count() == sets
    assert not Evaluation.objects.exists()
    assert not AuditEntry.objects.exists()


def test_a_viewer_sees_an_evaluation_run_and_cannot_cancel_it() -> None:
    store = held_cyclotron()
    operator, viewer = visitor(Role.OPERATOR), visitor(Role.VIEWER)
    bound = body_of(operator.get(address(store))).split('name="confirmedRequestBound" value="')[1].split('"')[0]
    operator.post(address(store, "evaluate"), {"confirmedRequestBound": bound})
    running = Evaluation.objects.get()
    part = viewer.get(address(store, "progress", running.id), headers={"HX-Request": "true"})
    for body in (body_of(viewer.get(address(store))), body_of(part)):
        assert "Evaluation running" in body
        assert 'disabled aria-describedby="cancel-reason"' in body
        assert "Your role here is viewer; cancelling needs operator." in body
    assert viewer.post(address(store, "cancel", running.id)).status_code == 403
    running.refresh_from_db()
    assert not running.cancel_requested
    assert Job.objects.get().state == "queued"
    assert [entry.action for entry in AuditEntry.objects.all()] == ["evaluation.confirmed"]


def test_what_an_operator_does_in_the_panel_is_in_the_audit_log() -> None:
    store = held_cyclotron()
    operator = visitor(Role.OPERATOR)
    bound = body_of(operator.get(address(store))).split('name="confirmedRequestBound" value="')[1].split('"')[0]
    operator.post(address(store, "evaluate"), {"confirmedRequestBound": bound})
    operator.post(address(store, "cancel", Evaluation.objects.get().id))
    operator.post(address(store, "freeze"))  # nothing is new, so nothing is done
    store.all(type(store.classifier())).update(current_set=None)
    operator.post(address(store, "freeze"))
    run_queued_jobs()
    entries = AuditEntry.objects.order_by("id")
    assert [(entry.action, entry.actor, entry.record_id) for entry in entries] == [
        ("evaluation.confirmed", "a-operator", store.cyclotron_id),
        ("evaluation.cancelled", "a-operator", store.cyclotron_id),
        ("set.frozen", "a-operator", store.cyclotron_id),
    ]


def test_the_pages_of_a_cyclotron_are_named_in_one_place_with_the_present_one_marked() -> None:
    store = held_cyclotron()
    body = body_of(visitor(Role.VIEWER).get(address(store)))
    assert f'<a href="{address(store)}" aria-current="page">Held-out</a>' in body
