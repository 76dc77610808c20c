"""Every address of the lab has an access rule, and every page answers for another account's ids as for missing ones.

The REST and GraphQL doors try each of their own operations the same way; here every address must be known to somebody.
"""

import re
from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from kapsoweb.accounts.actions.invitations import invite
from kapsoweb.accounts.models import Account, Invitation, Membership
from kapsoweb.accounts.roles import Role
from kapsoweb.admin_site import LabAdminSite
from kapsoweb.doors.access_rules import access_of
from kapsoweb.doors.graphql.fields import root_fields
from kapsoweb.foundation import clock
from kapsoweb.readonly import ReadOnlyAdmin
from kapsoweb.schema import schema
from tests.support.operations import everything
from tests.support.people import caller, member, other_account
from tests.support.whole_cyclotrons import Whole, whole_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

PROBES = {"healthz", "readyz"}  # answer without a database's rows, and to anybody
ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")
# Which id of a whole cyclotron fills which argument. A new argument stands here, or the test says that it is missing.
FILLS = {
    "cyclotron_id": "cyclotronId",
    "key": "itemKey",
    "assignment_id": "assignmentId",
    "import_id": "importId",
    "evaluation_id": "evaluationId",
    "report_id": "reportId",
    "job_id": "jobId",
    "token_id": "tokenId",
    "member_id": "memberId",
    "invitation_id": "invitationId",
}
BY_SECRET = {"sign-in/<str:token>/", "invitations/<str:secret>/"}  # whoever has the secret may use it
NONCE_AND_TOKEN = re.compile(rb'(nonce|name="csrfmiddlewaretoken" value|X-CSRFToken)[="\s:]+[^"]+')
CHANGING = {"X-Request-ID", "Date", "Expires", "Content-Security-Policy"}
FORM = {"label": "include", "role": "viewer", "name": "somebody", "review": "r", "classifier": ""}


def addresses(resolver: URLResolver, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for entry in resolver.url_patterns:
        where = prefix + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield where, entry
        else:
            yield from addresses(entry, where)


ALL = dict(addresses(get_resolver()))
PAGES = [
    where
    for where in ALL
    if not where.startswith(("admin/", "api/", "^")) and ARGUMENT.search(where) and where not in BY_SECRET
]


def test_every_address_has_an_access_rule_beside_its_code() -> None:
    without = [
        where
        for where, pattern in ALL.items()
        if not where.startswith("admin/") and where not in PROBES and access_of(pattern.callback) is None
    ]
    assert without == []
    assert len(PAGES) > 20


def test_an_address_that_names_a_cyclotron_says_so_in_its_rule() -> None:
    for where, pattern in ALL.items():
        if "cyclotron_id" in where:
            rule = access_of(pattern.callback)
            assert rule is not None
            assert rule.record == "cyclotron_id", where


def test_every_field_of_the_graph_has_an_access_rule() -> None:
    assert [field.name for field in root_fields(schema.graphql_schema) if field.access is None] == []


def test_every_table_of_the_admin_says_whose_its_rows_are_or_is_for_superusers() -> None:
    assert isinstance(admin.site._wrapped, LabAdminSite)  # type: ignore[attr-defined]  # the site is made lazily
    for model, shown in admin.site._registry.items():
        assert isinstance(shown, ReadOnlyAdmin) or model._meta.app_label == "auth", model


def test_every_argument_of_an_address_is_tried() -> None:
    unknown = {name for where in PAGES for name in ARGUMENT.findall(where)} - set(FILLS)
    assert unknown == set(), f"say in FILLS which id fills {unknown}"


@pytest.fixture
def theirs() -> Whole:
    """One of everything that an address can name, in another account."""
    whole = whole_cyclotron("theirs", account=other_account())
    invitation, _ = invite(caller(account=whole.account), role=Role.VIEWER, note="", days=3, now=clock.now())
    whole.ids["invitationId"] = invitation.pk
    whole.ids["memberId"] = str(Membership.objects.filter(account=whole.account).values_list("pk", flat=True)[0])
    return whole


def ask(client: Client, ids: dict[str, str]) -> dict[tuple[str, str], tuple[int, dict[str, str], bytes]]:
    """What each page says to GET and POST, after what differs from one answer to the next."""
    said = {}
    for where in PAGES:
        address = "/" + ARGUMENT.sub(lambda found: ids[FILLS[found.group(1)]], where)
        for method in ("get", "post"):
            answer = getattr(client, method)(address, FORM)
            headers = {name: value for name, value in answer.headers.items() if name not in CHANGING}
            said[where, method] = (answer.status_code, headers, NONCE_AND_TOKEN.sub(b"", answer.content))
    return said


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.OWNER])
def test_pages_of_another_account_answer_as_for_what_is_missing_and_change_nothing(theirs: Whole, role: Role) -> None:
    client = Client()
    client.force_login(member("stranger", role))
    before = everything()
    there = ask(client, theirs.ids)
    assert everything() == before
    forget(theirs.account, theirs)
    missing = ask(client, theirs.ids)
    assert {where: answer for where, answer in there.items() if answer != missing[where]} == {}
    wrong = {where: answer[0] for where, answer in there.items() if answer[0] not in {403, 404, 405}}
    assert wrong == {}
    if role is Role.OWNER:
        assert {answer[0] for (_, method), answer in there.items() if method == "post"} <= {404, 405}


def forget(account: Account, whole: Whole) -> None:
    whole.forget()
    Membership.objects.filter(account=account).delete()
    Invitation.objects.filter(account=account).delete()
