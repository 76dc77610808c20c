"""The pages of items, by Django's client: what is chosen and shown, and what a reviewer may do there."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from cyclotron import queries
from cyclotron.actions import create_cyclotron
from cyclotron.core.outcome import Outcome
from cyclotron.models import Item, Review
from cyclotron.presentation.sentences import OUTCOME_WORDS
from cyclotron.store import Store
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.limits import PAGE_DEFAULT
from tests.support.cyclotrons import NOW, Workbench, definition
from tests.support.held_cyclotrons import hold
from tests.support.people import member
from tests.support.whole_cyclotrons import whole_cyclotron

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


def test_items_are_listed_and_chosen_by_the_address(ada: Client, store: Store) -> None:
    ada.post(where(store, "review-answer", held_by(ada, store)), {"label": "include"})
    body = ada.get(where(store, "items")).content.decode()
    assert [name in body for name in ("item-0", "item-1", "item-2")] == [True] * 3
    chosen = ada.get(where(store, "items"), {"state": "reviewed", "label": "include"}).content.decode()
    assert "1 of 3 items" in chosen
    assert "item-1" not in chosen
    none = ada.get(where(store, "items"), {"changed": "yes"}).content.decode()
    assert "No item is like that: 0 of 3 items." in none
    odd = ada.get(where(store, "items"), {"state": "lost", "begins": "\x00", "after": "x" * 50})
    assert odd.status_code == 200
    assert "3 items" in odd.content.decode()


def test_the_list_of_items_leads_on_and_back(ada: Client, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyclotron.views.items.PAGE_DEFAULT", 1)

    def looked_at(address: str) -> tuple[list[str], dict[str, str]]:
        body = ada.get(address).content.decode()
        links = re.findall(r'<a href="([^"]+)" rel="(\w+)">', body)
        return re.findall(r"<bdi>(item-\d)</bdi>", body), {rel: unescape(to) for to, rel in links}

    first, on = looked_at(where(store, "items") + "?begins=item")
    second, around = looked_at(on["next"])
    third, back = looked_at(around["next"])
    assert (first, second, third) == (["item-0"], ["item-1"], ["item-2"])
    assert (on.keys(), around.keys(), back.keys()) == ({"next"}, {"first", "next"}, {"first", "prev"})
    assert looked_at(back["prev"]) == (second, around)
    assert looked_at(around["first"]) == (first, on)


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
    elsewhere = Item.objects.get(identity="item-1").id
    assert ada.post(where(store, "item-review", elsewhere), form).status_code == 404
    refused = ada.post(where(store, "item-review", key), {**form, "label": "perhaps"})
    assert refused.status_code == 400
    assert "Not recorded" in refused.content.decode()
    assert Review.objects.count() == 1
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


def test_whoever_may_not_undo_or_review_is_told_what_it_takes(ada: Client, store: Store) -> None:
    ada.post(where(store, "review-answer", held_by(ada, store)), {"label": "include"})
    key = Item.objects.get(identity="item-0").id
    ben = signed_in(member("ben", Role.REVIEWER)).get(where(store, "item", key)).content.decode()
    assert "another&#x27;s; needs operator" in ben or "another's; needs operator" in ben
    assert where(store, "item-undo", key) not in ben
    viewer = signed_in(member("vic", Role.VIEWER)).get(where(store, "item", key)).content.decode()
    assert "reviewing needs reviewer" in viewer
    assert where(store, "item-review", key) not in viewer


def test_identities_and_texts_of_any_kind_are_shown_as_they_are(ada: Client, store: Store) -> None:
    bench = Workbench(store)
    odd = ("a/b?c=d&e#f g%20", "<script>alert(1)</script>", "مرحبا 🧪", "x" * 512)
    for identity in odd:
        bench.decide(identity, values={"text": f"<img src=x> {identity}\n  second line", "more": {"<b>": [1, "עברית"]}})
    listed = unescape(ada.get(where(store, "items")).content.decode())
    for identity in odd:
        key = Item.objects.get(identity=identity).id
        assert where(store, "item", key) in listed
        body = ada.get(where(store, "item", key)).content.decode()
        assert "<img src=x>" not in body
        assert "<script>alert" not in body
        shown = unescape(body)
        assert f"<img src=x> {identity}\n  second line" in shown
        assert '{"<b>":[1,"עברית"]}' in shown


def test_a_very_long_text_is_shown_whole_in_a_box_that_the_keyboard_reaches(ada: Client, store: Store) -> None:
    Workbench(store).decide("long", values={"text": "word " * 200_000})
    key = Item.objects.get(identity="long").id
    body = ada.get(where(store, "item", key)).content.decode()
    assert "word " * 200_000 in body
    assert 'class="item-text in-box" dir="auto" tabindex="0" role="region"' in body


def test_pages_of_items_lead_on_and_back_to_the_first_with_what_was_chosen(ada: Client, store: Store) -> None:
    bench = Workbench(store)
    for number in range(PAGE_DEFAULT):
        bench.decide(f"other-{number:03d}")
    first = ada.get(where(store, "items"), {"begins": "other", "partition": "training"})
    assert first.context["next"] == ""
    whole = ada.get(where(store, "items"), {"state": "waiting"})
    assert whole.context["first"] == ""
    second = ada.get(whole.context["next"])
    assert [row.identity for row in second.context["rows"]] == ["other-047", "other-048", "other-049"]
    assert second.context["chosen"]["state"] == "waiting"
    assert second.context["next"] == ""
    again = ada.get(second.context["first"])
    assert again.context["rows"] == whole.context["rows"]
    beyond = ada.get(where(store, "items"), {"after": "9" * 18})
    assert "No item comes after this place in the list." in beyond.content.decode()


def test_an_items_page_says_which_sets_hold_it_and_what_reports_say_of_it(ada: Client) -> None:
    store = whole_cyclotron("measured").store
    report = queries.report_records(store)[-1]
    counted = report.items[0]
    key = queries.item_key_of(store, counted["itemId"])
    (said,) = ada.get(where(store, "item", key)).context["item"].held_out
    assert (said.report_id, said.label, said.before, said.after) == (
        report.id,
        counted["label"],
        counted["before"],
        counted["after"],
    )
    assert said.outcome == OUTCOME_WORDS[Outcome(counted["outcome"])].name
    page = ada.get(where(store, "item", key))
    assert where(store, "report", report.id) in page.content.decode()
    report.items = report.items[1:]
    report.save()
    (left_out,) = ada.get(where(store, "item", key)).context["item"].held_out
    assert (left_out.outcome, left_out.reason) == ("", "left out: a reviewer had chosen it by then")
    report.delete()
    (unreported,) = ada.get(where(store, "item", key)).context["item"].held_out
    assert unreported.reason == "no report counts it yet"
