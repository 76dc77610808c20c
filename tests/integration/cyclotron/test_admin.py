"""The admin shows and finds everything, and lets nobody change evidence."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from cyclotron.actions.evaluating import run_evaluation, start_evaluation
from cyclotron.actions.file_imports import receive_file, start_file_import
from cyclotron.actions.queueing import skip_assignment, take_item
from cyclotron.adapters.local import LocalModel
from cyclotron.core.draws import PARTITIONS
from cyclotron.core.imports import ImportColumns
from cyclotron.models import Evaluation, Item, Report
from cyclotron.plan import make_plan
from cyclotron.store import Store
from kapsoweb.accounts.models import Account
from kapsoweb.accounts.roles import Role
from tests.support.cyclotrons import Workbench
from tests.support.frozen_cyclotrons import FROZEN_AT, LABELS, frozen_cyclotron
from tests.support.held_cyclotrons import hold
from tests.support.people import member, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db]

MODELS = list(apps.get_app_config("kapso_cyclotron").get_models())


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("operator"))
    return client


@pytest.fixture
def evaluated_cyclotron() -> Store:
    """Rows in every table of the room: a cyclotron that learned, was frozen and evaluated."""
    store, model = frozen_cyclotron(training=40), LocalModel()
    bound = make_plan(store, store.classifier(), model=model.identity).bound
    started = start_evaluation(store, model=model.identity, confirmed_bound=bound, request_id="once", now=FROZEN_AT)
    run_evaluation(store, started.id, model=model, fence=1, clock=lambda: FROZEN_AT)
    Workbench(store, model).decide("waits-1")
    Workbench(store, model).decide("waits-2")
    put_off = take_item(store, reviewer="ada", now=FROZEN_AT)
    assert put_off is not None
    skip_assignment(store, put_off.id, reviewer="ada", now=FROZEN_AT)
    take_item(store, reviewer="ada", now=FROZEN_AT)
    received = receive_file(store, filename="rows.csv", data=b"id\n1\n", created_by="ada", now=FROZEN_AT)
    columns = ImportColumns(id_column="id", text_columns=("id",))
    start_file_import(store, received.id, columns=columns, account_id="acc_1", now=FROZEN_AT)
    return store


def url(model: type, page: str, *arguments: object) -> str:
    return reverse(f"admin:kapso_cyclotron_{model.__name__.lower()}_{page}", args=arguments)


def test_every_table_of_the_room_is_in_the_admin() -> None:
    assert MODELS
    assert {model for model in admin.site._registry if model._meta.app_label == "kapso_cyclotron"} == set(MODELS)


def test_each_list_opens_and_searches(operator: Client, evaluated_cyclotron: Store) -> None:
    for model in MODELS:
        assert operator.get(url(model, "changelist")).status_code == 200, model
        assert operator.get(url(model, "changelist"), {"q": "nothing has this"}).status_code == 200, model


def test_a_row_opens_but_is_never_added_changed_or_deleted(operator: Client, evaluated_cyclotron: Store) -> None:
    for model in MODELS:
        row = model._default_manager.order_by("pk").first()
        assert row is not None, model
        before = model._default_manager.filter(pk=row.pk).values().get()
        assert operator.get(url(model, "change", row.pk)).status_code == 200, model
        assert operator.get(url(model, "add")).status_code == 403, model
        assert operator.post(url(model, "change", row.pk), {"label": LABELS[0]}).status_code == 403, model
        assert operator.post(url(model, "delete", row.pk), {"post": "yes"}).status_code == 403, model
        assert model._default_manager.filter(pk=row.pk).values().get() == before, model


def test_a_visitor_who_is_no_operator_sees_nothing_of_it(client: Client, evaluated_cyclotron: Store) -> None:
    client.force_login(User.objects.create_user("reviewer"))
    for model in (Item, Report):
        answer = client.get(url(model, "changelist"))
        assert answer.status_code == 302
        assert "/admin/login/" in answer["Location"]


def signed_in(role: Role, account: Account | None = None) -> Client:
    client = Client()
    client.force_login(member(f"{role}-{account.slug if account else 'here'}", role, account))
    return client


def test_an_operator_sees_the_rows_of_their_account_and_a_strangers_are_missing(evaluated_cyclotron: Store) -> None:
    hold(evaluated_cyclotron, "theirs")
    operator, stranger = signed_in(Role.OPERATOR), signed_in(Role.OPERATOR, other_account())
    for model in MODELS:
        row = model._default_manager.order_by("pk").first()
        assert row is not None, model
        assert operator.get(url(model, "change", row.pk)).status_code == 200, model
        assert operator.get(url(model, "changelist")).context["cl"].result_count > 0, model
        assert stranger.get(url(model, "changelist")).context["cl"].result_count == 0, model
        missing = "cy_missing" if isinstance(row.pk, str) else 10**9
        for page in ("change", "history", "delete"):
            theirs, none = (stranger.get(url(model, page, key)) for key in (row.pk, missing))
            assert (theirs.status_code, theirs.headers.get("Location")) == (
                none.status_code,
                none.headers.get("Location"),
            )
            assert theirs.status_code != 200, (model, page)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_whoever_operates_no_account_is_not_let_into_the_admin(role: Role) -> None:
    answer = signed_in(role).get(reverse("admin:index"))
    assert answer.status_code == 302
    assert "/admin/login/" in answer.headers["Location"]


def test_a_strangers_search_and_filters_tell_nothing_of_others(evaluated_cyclotron: Store) -> None:
    hold(evaluated_cyclotron, "theirs")
    stranger = signed_in(Role.OWNER, other_account())
    for model in MODELS:
        body = stranger.get(url(model, "changelist")).content.decode()
        assert evaluated_cyclotron.cyclotron_id not in body, model
        assert not any(f">{label}<" in body for label in LABELS), model


def test_filters_show_the_rows_with_the_chosen_value_and_ignore_what_is_none(
    operator: Client, evaluated_cyclotron: Store
) -> None:
    def shown(parameters: dict[str, str]) -> int:
        return int(operator.get(url(Item, "changelist"), parameters).context["cl"].result_count)

    Workbench(evaluated_cyclotron, LocalModel()).decide("unsent", review_rate=0.0, audit_rate=2.0**-60)
    total = Item.objects.count()
    for partition in PARTITIONS:
        assert shown({"partition": partition}) == Item.objects.filter(partition=partition).count()
    unsent = Item.objects.filter(selected_because="").count()
    assert shown({"selected_because": "none"}) == unsent
    assert 0 < unsent < total
    assert shown({"partition": "nowhere"}) == total


def test_a_list_looks_through_no_table_for_the_values_of_its_filters(
    operator: Client, evaluated_cyclotron: Store
) -> None:
    for model in MODELS:
        with CaptureQueriesContext(connection) as ran:
            operator.get(url(model, "changelist"))
        distinct = [each["sql"] for each in ran if "DISTINCT" in each["sql"]]
        if model is not Evaluation:  # an evaluation is something that a person starts
            assert distinct == [], model
