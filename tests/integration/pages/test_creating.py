"""Creating a cyclotron by its form: who may, what is refused and beside which field, and that nothing is lost."""

from html import unescape

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse

from cyclotron.models import StoredCyclotron
from cyclotron.store import Store
from kapsoweb.accounts.models import AuditEntry, Holding
from kapsoweb.accounts.roles import Role
from tests.support.people import member, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db]

CREATE = "/cyclotrons/new/"
FILLED = {
    "name": "screening",
    "question": "Is it about attention?\r\nSay so.",
    "labels": "include\r\n  exclude  \r\n\r\nعاجل 😡\r\n",
    "positive_label": "include",
    "rubric": "Read the abstract.",
    "input_field": "text",
    "seed": "",
    "learn_every": "20",
}


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(member("olga", Role.OPERATOR))
    return client


def body_of(answer: HttpResponseBase) -> str:
    return unescape(answer.getvalue().decode())


def refused(client: Client, status: int = 400, **changed: str) -> str:
    """The page that answers a form with these fields changed, once it is sure that nothing was made."""
    before = StoredCyclotron.objects.count()
    answer = client.post(CREATE, FILLED | changed)
    assert answer.status_code == status
    assert StoredCyclotron.objects.count() == Holding.objects.count() == before
    return body_of(answer)


def test_the_form_makes_a_cyclotron_as_it_was_described(operator: Client) -> None:
    answer = operator.post(CREATE, FILLED)
    holding = Holding.objects.get()
    assert answer.headers["Location"] == reverse("cyclotron:detail", args=[holding.record_id])
    stored = Store("default", holding.record_id)
    definition = stored.classifier("decision").definition
    assert (holding.name, stored.cyclotron().seed, stored.cyclotron().learn_every) == ("screening", "screening", 20)
    assert definition["labels"] == ["include", "exclude", "عاجل 😡"]
    assert definition["question"] == "Is it about attention?\nSay so."
    assert (definition["positiveLabel"], definition["rubric"]) == ("include", "Read the abstract.")
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.actor, entry.door) == ("cyclotron.created", "olga", "browser")


def test_the_same_form_sent_twice_is_one_cyclotron_and_leads_to_it(operator: Client) -> None:
    first, second = operator.post(CREATE, FILLED), operator.post(CREATE, FILLED)
    assert second.status_code == 302
    assert first.headers["Location"] == second.headers["Location"]
    assert StoredCyclotron.objects.count() == AuditEntry.objects.count() == 1


def test_a_name_in_use_by_another_definition_is_refused_beside_the_name(operator: Client) -> None:
    operator.post(CREATE, FILLED)
    body = refused(operator, 409, question="Another?")
    assert "There is a cyclotron named 'screening' already" in body
    assert 'id="id_name_error"' in body
    assert ">Another?</textarea>" in body.replace("\r\n", "").replace("\n", "")


def test_the_name_of_another_account_is_free_here(operator: Client) -> None:
    stranger = Client()
    stranger.force_login(member("nobody", Role.OWNER, other_account()))
    assert stranger.post(CREATE, FILLED).status_code == operator.post(CREATE, FILLED).status_code == 302
    assert Holding.objects.filter(name="screening").count() == 2


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "", "Give it a name."),
        ("name", "my study!", "is no name for a record"),
        ("name", "-x", "is no name for a record"),
        ("question", " \n ", "Ask a question."),
        ("labels", "", "Give two labels at least"),
        ("labels", "one", "at least two labels"),
        ("labels", "one\none", "must differ"),
        ("labels", "one\n" + "x" * 65, "1 to 64 characters"),
        ("labels", "\n".join(str(number) for number in range(101)), "100 labels at most"),
        ("positive_label", "neither", "none of the labels above"),
        ("input_field", "", "Name the field"),
        ("seed", "x" * 513, "512"),
        ("learn_every", "0", "Enter 1 or more."),
        ("learn_every", "often", "Enter a whole number."),
        ("learn_every", "9" * 30, "or less"),
    ],
)
def test_a_broken_rule_is_said_beside_its_field_and_nothing_typed_is_lost(
    operator: Client, field: str, value: str, said: str
) -> None:
    body = refused(operator, **{"positive_label": "", field: value})
    error = body[body.index(f'id="id_{field}_error"') :]
    assert said in error[: error.index("</div>")]
    assert f'aria-describedby="id_{field}_helptext id_{field}_error"' in body
    assert "<title>Error: " in body
    for name, typed in FILLED.items():
        if typed and name not in {field, "positive_label"}:
            assert typed.splitlines()[0] in body, name


def test_an_error_in_a_seldom_used_field_opens_them(operator: Client) -> None:
    assert '<details class="more" open>' in refused(operator, learn_every="0")
    assert '<details class="more">' in refused(operator, question="")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_who_may_not_create_is_told_so_before_and_refused_after(client: Client, role: Role) -> None:
    client.force_login(member("rita", role))
    listed = body_of(client.get("/cyclotrons/"))
    assert f"Your role here is {role.value}; creating a cyclotron needs operator." in listed
    assert CREATE not in listed
    assert client.get(CREATE).status_code == 403
    assert client.post(CREATE, FILLED).status_code == 403
    assert not StoredCyclotron.objects.exists()
    assert not AuditEntry.objects.exists()


def test_an_empty_list_leads_to_the_form(operator: Client) -> None:
    assert CREATE in body_of(operator.get("/cyclotrons/"))


def test_a_form_without_its_token_creates_nothing() -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(member("olga", Role.OPERATOR))
    assert strict.post(CREATE, FILLED).status_code == 403
    assert not StoredCyclotron.objects.exists()
