"""Every address, field and table of the lab has a rule, and answers for another account's ids as for missing ones.

The walk finds what there is by itself; the tables below, and `RECORDS`, say how to ask for it. A new address, argument,
field or table fails here until it has its rule and its place.
"""

from collections.abc import Iterable

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model

from cyclotron.models import Assignment, ImportTally, MlModelRecord, Version
from cyclotron.workspace import Workspace
from kapsoweb.accounts.actions import create_sign_in_link
from kapsoweb.accounts.actions.invitations import invite
from kapsoweb.accounts.models import Invitation, Membership
from kapsoweb.accounts.roles import Role
from kapsoweb.admin_site import LabAdminSite
from kapsoweb.doors.access_rules import access_of
from kapsoweb.doors.graphql.fields import root_fields
from kapsoweb.foundation import clock
from kapsoweb.jobs.models import WorkerHeartbeat
from kapsoweb.readonly import ReadOnlyAdmin
from kapsoweb.schema import schema
from tests.support.graphql_documents import DOCUMENTS
from tests.support.people import caller, other_account
from tests.support.strangers import ARGUMENT, METHODS, RECORDS, Seen, Stranger, absent, all_rows, filled, seen, walk
from tests.support.whole_cyclotrons import Whole, whole_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

PROBES = {"healthz", "readyz"}  # answer to anybody, without a row of the database
SECRETS = {"token", "secret"}  # whoever has one may use it, from whatever account
OF_THE_ADMIN = {"object_id", "id", "content_type_id"}  # filled with a row of each table
NO_RECORDS = {"app_label", "url"}  # the admin's index of an app, and what it has no page for

ADDRESSES = dict(walk())
ADMIN = {where for where in ADDRESSES if where.startswith("admin/")}
OF_A_RECORD = [where for where in ADDRESSES if set(ARGUMENT.findall(where)) & set(RECORDS)]

Told = dict[tuple[str, str], tuple[Seen, Seen]]


def arguments(addresses: Iterable[str]) -> set[str]:
    return {name for where in addresses for name in ARGUMENT.findall(where)}


def test_every_address_has_an_access_rule_beside_its_code() -> None:
    ruled = {where: access_of(pattern.callback) for where, pattern in ADDRESSES.items() if where not in ADMIN | PROBES}
    assert [where for where, rule in ruled.items() if rule is None] == []
    assert len(ruled) > 60


def test_an_address_that_names_a_cyclotron_says_so_in_its_rule() -> None:
    ruled = {where: access_of(pattern.callback) for where, pattern in ADDRESSES.items() if "cyclotron_id" in where}
    assert [where for where, rule in ruled.items() if rule is None or rule.record != "cyclotron_id"] == []


def test_every_argument_of_an_address_is_tried() -> None:
    unknown = arguments(set(ADDRESSES) - ADMIN) - set(RECORDS) - SECRETS
    unknown |= arguments(ADMIN) - OF_THE_ADMIN - NO_RECORDS
    assert unknown == set(), (
        f"nothing fills {sorted(unknown)} in an address: say in RECORDS of tests/support/strangers.py which id does, "
        "and let `theirs` have one; or say above why none is needed"
    )


def test_every_field_of_the_graph_has_a_rule_and_those_of_a_record_are_tried_with_another_accounts_id() -> None:
    fields = root_fields(schema.graphql_schema)
    assert [field.name for field in fields if field.access is None] == []
    of_records = [field.name for field in fields if field.access is not None and field.access.record is not None]
    untried = [field.name for field in fields if field.name not in DOCUMENTS]
    untried += [name for name in of_records if not DOCUMENTS[name].ids]
    assert untried == [], "give each a document, with the ids that it takes, in tests/support/graphql_documents.py"


def test_every_table_of_the_admin_says_whose_its_rows_are_or_is_for_superusers() -> None:
    assert isinstance(admin.site._wrapped, LabAdminSite)  # type: ignore[attr-defined]  # the site is made lazily
    for model, shown in admin.site._registry.items():
        assert isinstance(shown, ReadOnlyAdmin) or model._meta.app_label == "auth", model


@pytest.fixture
def theirs() -> Whole:
    """One of everything that an address can name, in another account."""
    whole = with_people(whole_cyclotron("theirs", account=other_account()))
    workspace = Workspace(caller(account=whole.account, name="skipper"))
    held = workspace.take(whole.store.cyclotron_id)
    assert held is not None
    workspace.skip(whole.store.cyclotron_id, held.id)
    return whole


def with_people(whole: Whole) -> Whole:
    """The same with an invitation and a member of its account."""
    invitation, _ = invite(caller(account=whole.account), role=Role.VIEWER, note="", days=3, now=clock.now())
    whole.ids["invitationId"] = invitation.pk
    whole.ids["memberId"] = str(Membership.objects.filter(account=whole.account).values_list("pk", flat=True)[0])
    return whole


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.OWNER])
def test_records_of_another_account_answer_as_missing_ones_to_every_method(theirs: Whole, role: Role) -> None:
    stranger = Stranger(role)
    before = all_rows()
    there = stranger.ask_all(OF_A_RECORD, theirs.ids)
    assert all_rows() == before
    theirs.forget()
    Membership.objects.filter(account=theirs.account).delete()
    Invitation.objects.filter(account=theirs.account).delete()
    missing = stranger.ask_all(OF_A_RECORD, theirs.ids)
    assert {case: (there[case], missing[case]) for case in there if there[case] != missing[case]} == {}
    refused = {404, 405} if role is Role.OWNER else {403, 404, 405}
    assert {case: answer.status for case, answer in there.items() if answer.status not in refused} == {}


def test_parts_of_another_accounts_cyclotron_answer_under_ones_own_as_missing_ones(theirs: Whole) -> None:
    stranger = Stranger(Role.OWNER)
    mine = with_people(whole_cyclotron("mine"))
    told: Told = {}
    before = all_rows()
    for where in OF_A_RECORD:
        for part in (RECORDS[name] for name in ARGUMENT.findall(where)[1:]):
            key, nothing = theirs.ids[part], absent(theirs.ids[part])
            for method in METHODS:
                there, missing = (
                    seen(stranger.ask(filled(where, {**mine.ids, part: each}), method, where), key, nothing)
                    for each in (key, nothing)
                )
                if there != missing or there.status == 200:
                    told[where, method] = (there, missing)
    assert told == {}
    # Whoever answers for an item that they do not hold is handed the next one of the queue, which is their own.
    Assignment.objects.filter(cyclotron_id=mine.store.cyclotron_id, reviewer="stranger").delete()
    assert all_rows() == before


@pytest.fixture
def tables(theirs: Whole) -> dict[type[Model], str]:
    """The key of a row of each of the admin's tables: another account's where rows belong to accounts."""
    now = clock.now()
    Group.objects.create(name="a group")
    create_sign_in_link(now)
    WorkerHeartbeat.objects.create(id="wkr_1", pid=1, host="here", started_at=now, seen_at=now)
    version = Version.objects.filter(classifier__cyclotron_id=theirs.store.cyclotron_id)[0]
    MlModelRecord.objects.create(version=version, refit=1, numbers={}, digest="0" * 64, fitted_on=1, created_at=now)
    ImportTally.objects.create(file_import_id=theirs.ids["importId"], recorded=1)
    found = {model: row_of(model, theirs.account.pk) for model in admin.site._registry}
    assert [model.__name__ for model, row in found.items() if row is None] == [], "let `theirs` have one of each"
    return {model: str(row.pk) for model, row in found.items() if row is not None}


def row_of(model: type[Model], account: str) -> Model | None:
    shown, rows = admin.site._registry[model], model._default_manager.order_by("pk")
    if isinstance(shown, ReadOnlyAdmin) and shown.is_for_operators():
        return shown.of_accounts(rows, [account]).first()
    return rows.first()


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.OWNER])
def test_rows_of_another_account_answer_in_the_admin_as_missing_ones(
    tables: dict[type[Model], str], role: Role
) -> None:
    stranger = Stranger(role)
    told: Told = {}
    before = all_rows()
    for model, key in tables.items():
        kind = str(ContentType.objects.get_for_model(model).pk)
        for where in pages_of(model):
            for method in METHODS:
                there, missing = (
                    seen(stranger.ask(in_the_admin(where, kind, each), method), key, absent(key))
                    for each in (key, absent(key))
                )
                if there != missing or there.status == 200:
                    told[f"{model.__name__}: {where}", method] = (there, missing)
    assert told == {}
    assert all_rows() == before


def pages_of(model: type[Model]) -> list[str]:
    """The admin's addresses about a row of a table."""
    start = f"admin/{model._meta.app_label}/{model._meta.model_name}/"
    of_it = [where for where in ADMIN if where.startswith(start) and ARGUMENT.search(where)]
    return ["admin/r/<path:content_type_id>/<path:object_id>/", *of_it]


def in_the_admin(where: str, kind: str, key: str) -> str:
    return "/" + ARGUMENT.sub(lambda found: kind if found.group(1) == "content_type_id" else key, where)
