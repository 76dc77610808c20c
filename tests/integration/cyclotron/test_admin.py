"""The admin shows and finds everything, and lets nobody change evidence."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from cyclotron.actions.evaluating import run_evaluation, start_evaluation
from cyclotron.adapters.local import LocalModel
from cyclotron.models import Item, Report
from cyclotron.plan import make_plan
from tests.support.frozen_cyclotrons import FROZEN_AT, LABELS, frozen_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db]

MODELS = list(apps.get_app_config("kapso_cyclotron").get_models())


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("operator"))
    return client


@pytest.fixture
def evaluated_cyclotron() -> None:
    """Rows in every table of the room: a cyclotron that learned, was frozen and evaluated."""
    store, model = frozen_cyclotron(training=40), LocalModel()
    bound = make_plan(store, store.classifier(), model=model.identity).bound
    started = start_evaluation(store, model=model.identity, confirmed_bound=bound, allow_live=True, now=FROZEN_AT)
    run_evaluation(store, started.id, model=model, fence=1, clock=lambda: FROZEN_AT)


def url(model: type, page: str, *arguments: object) -> str:
    return reverse(f"admin:kapso_cyclotron_{model.__name__.lower()}_{page}", args=arguments)


def test_every_table_of_the_room_is_in_the_admin() -> None:
    assert MODELS
    assert {model for model in admin.site._registry if model._meta.app_label == "kapso_cyclotron"} == set(MODELS)


def test_each_list_opens_and_searches(operator: Client, evaluated_cyclotron: None) -> None:
    for model in MODELS:
        assert operator.get(url(model, "changelist")).status_code == 200, model
        assert operator.get(url(model, "changelist"), {"q": "nothing has this"}).status_code == 200, model


def test_a_row_opens_but_is_never_added_changed_or_deleted(operator: Client, evaluated_cyclotron: None) -> None:
    for model in MODELS:
        row = model._default_manager.order_by("pk").first()
        assert row is not None, model
        before = model._default_manager.filter(pk=row.pk).values().get()
        assert operator.get(url(model, "change", row.pk)).status_code == 200, model
        assert operator.get(url(model, "add")).status_code == 403, model
        assert operator.post(url(model, "change", row.pk), {"label": LABELS[0]}).status_code == 403, model
        assert operator.post(url(model, "delete", row.pk), {"post": "yes"}).status_code == 403, model
        assert model._default_manager.filter(pk=row.pk).values().get() == before, model


def test_a_visitor_who_is_no_operator_sees_nothing_of_it(client: Client, evaluated_cyclotron: None) -> None:
    client.force_login(User.objects.create_user("reviewer"))
    for model in (Item, Report):
        answer = client.get(url(model, "changelist"))
        assert answer.status_code == 302
        assert "/admin/login/" in answer["Location"]
