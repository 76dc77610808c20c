"""The review page and the items' pages, by Django's client: who may, what is recorded, and what is refused."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from cyclotron.actions import create_cyclotron
from cyclotron.models import HeldItem, Item, Review
from cyclotron.store import Store
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from tests.support.cyclotrons import NOW, Workbench, definition
from tests.support.held_cyclotrons import hold
from tests.support.people import member, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

HELD = re.compile(r"/review/(as_\w+)/answer/")


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def store() -> Store:
    made = create_cyclotron(name="pages", definition=definition(), now=NOW)
    bench = Workbench(made)
    for number in range(3):
        bench.decide(f"item-{number}", values={"text": f"<b>text</b> {number}", "year": 1998, "note": "עברית"})
    return hold(made, "pages")


@pytest.fixture
def ada() -> Client:
    return signed_in(member("ada", Role.REVIEWER))


def where(store: Store, view: str = "review", *arguments: object) -> str:
    return reverse(f"cyclotron:{view}", args=[store.cyclotron_id, *arguments])


def held_by(client: Client, store: Store) -> str:
    client.post(where(store, "review-take"))
    found = HELD.search(client.get(where(store)).content.decode())
    assert found is not None
    return found.group(1)


def test_looking_hands_nothing_out_and_starting_does(ada: Client, store: Store) -> None:
    assert "Start reviewing" in ada.get(where(store)).content.decode()
    assert not HeldItem.objects.exists()
    assert ada.post(where(store, "review-take")).status_code == 302
    body = ada.get(where(store)).content.decode()
    assert HeldItem.objects.get().reviewer == "ada"
    assert "&lt;b&gt;text&lt;/b&gt; 0" in body
    assert "The review program sent it." in body
    assert "1998" in body
    assert 'data-key="1"' in body


def test_an_answer_is_recorded_with_its_reason_and_the_next_item_is_there(ada: Client, store: Store) -> None:
    held = held_by(ada, store)
    given = {"label": "include", "explanation": "it says so\r\ntwice", "reasonCode": " dose "}
    after = ada.post(where(store, "review-answer", held), given, follow=True)
    review = Review.objects.get()
    assert (review.label, review.reviewer, review.explanation, review.reason_code, review.selected_by) == (
        "include",
        "ada",
        "it says so\ntwice",
        "dose",
        "program",
    )
    body = unescape(after.content.decode())
    assert "Recorded: “\u2068include\u2069”." in body
    assert "item-1" in body
    assert '<option value="dose">' in body
    assert list(AuditEntry.objects.values_list("action", "actor")) == [("review.recorded", "ada")]


def test_the_same_answer_sent_twice_is_one_review(ada: Client, store: Store) -> None:
    held = held_by(ada, store)
    for _ in range(2):
        ada.post(where(store, "review-answer", held), {"label": "include"})
    assert Review.objects.count() == 1


def test_no_label_skip_and_undo(ada: Client, store: Store) -> None:
    ada.post(where(store, "review-answer", held_by(ada, store)), {"close": "yes"})
    assert Review.objects.get().label is None
    ada.post(where(store, "review-skip", held_by(ada, store)))
    assert "item-2" in ada.get(where(store)).content.decode()
    body = ada.post(where(store, "review-undo"), follow=True).content.decode()
    assert "Your last answer is taken back" in body
    assert "item-0" in body
    assert Review.objects.get().undone_at is not None


@pytest.mark.parametrize(
    "given", [{"label": "perhaps"}, {}, {"label": "include", "explanation": "x" * 20_001}, {"label": "in\x00clude"}]
)
def test_an_answer_that_cannot_be_is_refused_in_words_and_the_item_stays(
    ada: Client, store: Store, given: dict[str, str]
) -> None:
    held = held_by(ada, store)
    answer = ada.post(where(store, "review-answer", held), given)
    assert answer.status_code == 400
    assert "Not recorded" in answer.content.decode()
    assert held in answer.content.decode()
    assert not Review.objects.exists()


def test_an_item_that_is_another_reviewers_by_now_is_not_answered(ada: Client, store: Store) -> None:
    ben = signed_in(member("ben", Role.REVIEWER))
    held = held_by(ada, store)
    body = ben.post(where(store, "review-answer", held), {"label": "include"}, follow=True).content.decode()
    assert "no longer yours to answer" in body
    assert not Review.objects.exists()
    assert held_by(ben, store) != held


def test_a_viewer_is_told_what_it_takes_and_changes_nothing(store: Store) -> None:
    viewer = signed_in(member("vic", Role.VIEWER))
    assert "reviewing needs reviewer" in viewer.get(where(store)).content.decode()
    key = Item.objects.get(identity="item-0").id
    for view, arguments in (
        ("review-take", ()),
        ("review-undo", ()),
        ("review-answer", ("as_x",)),
        ("review-skip", ("as_x",)),
        ("item-review", (key,)),
        ("item-undo", (key,)),
    ):
        assert viewer.post(where(store, view, *arguments), {"label": "include"}).status_code == 403
    assert not Review.objects.exists()
    assert not HeldItem.objects.exists()


def test_forms_need_their_token(store: Store) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(member("ada", Role.REVIEWER))
    assert strict.post(where(store, "review-take")).status_code == 403
    assert not HeldItem.objects.exists()


def test_every_page_of_anothers_cyclotron_is_a_missing_page(store: Store) -> None:
    stranger = signed_in(member("eve", Role.OWNER, other_account()))
    missing = Store("default", "cy_missing")
    key = Item.objects.first().id  # type: ignore[union-attr]
    for view, arguments in (("review", ()), ("items", ()), ("item", (key,))):
        theirs, none = (stranger.get(where(one, view, *arguments)) for one in (store, missing))
        assert (theirs.status_code, theirs.content) == (none.status_code, none.content)
        assert theirs.status_code == 404
    for view, arguments in (
        ("review-take", ()),
        ("review-undo", ()),
        ("review-answer", ("as_x",)),
        ("item-review", (key,)),
    ):
        assert stranger.post(where(store, view, *arguments), {"label": "include"}).status_code == 404
    assert not HeldItem.objects.exists()


def test_items_are_listed_and_chosen_by_the_address(ada: Client, store: Store) -> None:
    ada.post(where(store, "review-answer", held_by(ada, store)), {"label": "include"})
    body = ada.get(where(store, "items")).content.decode()
    assert [name in body for name in ("item-0", "item-1", "item-2")] == [True] * 3
    chosen = ada.get(where(store, "items"), {"state": "reviewed", "label": "include"}).content.decode()
    assert "1 of 3 items" in chosen
    assert "item-1" not in chosen
    none = ada.get(where(store, "items"), {"changed": "yes"}).content.decode()
    assert "No item is like that." in none
    odd = ada.get(where(store, "items"), {"state": "lost", "begins": "\x00", "after": "x" * 50})
    assert odd.status_code == 200
    assert "3 items" in odd.content.decode()


def test_an_items_page_shows_its_history_and_takes_a_choice_and_its_undo(ada: Client, store: Store) -> None:
    key = Item.objects.get(identity="item-0").id
    page = ada.get(where(store, "item", key))
    body = page.content.decode()
    assert "Review it by your own choice" in body
    assert page.context["item"].steps[0].change == ""
    form = {
        "decision": page.context["item"].latest_decision,
        "reviewId": page.context["review_id"],
        "label": "exclude",
        "chosen": "yes",
    }
    for _ in range(2):
        assert ada.post(where(store, "item-review", key), form).status_code == 302
    review = Review.objects.get()
    assert (review.label, review.selected_by) == ("exclude", "reviewer")
    corrected = {**form, "reviewId": "other", "label": "include", "chosen": ""}
    ada.post(where(store, "item-review", key), corrected)
    assert Review.objects.get(identity="other").selected_by == "reviewer"
    ada.post(where(store, "item-undo", key), {"review": "other"})
    assert Review.objects.get(identity="other").undone_by == "ada"
    assert "Correct the label" in ada.get(where(store, "item", key)).content.decode()


def test_a_correction_of_a_selected_review_keeps_its_selection(ada: Client, store: Store) -> None:
    ada.post(where(store, "review-answer", held_by(ada, store)), {"label": "include"})
    key = Item.objects.get(identity="item-0").id
    page = ada.get(where(store, "item", key))
    form = {"decision": page.context["item"].latest_decision, "reviewId": "r", "label": "exclude"}
    ada.post(where(store, "item-review", key), form)
    assert Review.objects.get(identity="r").selected_by == "program"


def test_a_reviewer_undoes_only_their_own_and_an_operator_anybodys(ada: Client, store: Store) -> None:
    ada.post(where(store, "review-answer", held_by(ada, store)), {"label": "include"})
    key, given = Item.objects.get(identity="item-0").id, {"review": Review.objects.get().identity}
    ben = signed_in(member("ben", Role.REVIEWER))
    assert ben.post(where(store, "item-undo", key), given).status_code == 403
    assert Review.objects.get().undone_at is None
    elsewhere = Item.objects.get(identity="item-1").id
    assert ada.post(where(store, "item-undo", elsewhere), given).status_code == 404
    operator = signed_in(member("olga", Role.OPERATOR))
    assert operator.post(where(store, "item-undo", key), given).status_code == 302
    assert Review.objects.get().undone_by == "olga"


def test_an_item_that_is_not_there_is_a_missing_page(ada: Client, store: Store) -> None:
    for key in (0, 10**9, 10**30):
        assert ada.get(where(store, "item", key)).status_code == 404
