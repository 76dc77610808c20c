"""The review page, by Django's client: who may, what is recorded, and what is refused."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from cyclotron.actions import create_cyclotron, record_review
from cyclotron.models import Assignment, Decision, Item, Review
from cyclotron.store import Store
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from tests.support.cyclotrons import NOW, Workbench, classifier, definition
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
    assert not Assignment.objects.exists()
    assert ada.post(where(store, "review-take")).status_code == 302
    body = ada.get(where(store)).content.decode()
    assert Assignment.objects.get().reviewer == "ada"
    assert "&lt;b&gt;text&lt;/b&gt; 0" in body
    assert "Sent by the review program." in body
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
    assert "Recorded: “\u2068include\u2069”" in body
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
    body = undo(ada, store).content.decode()
    assert "Taken back: the close without a label on “\u2068item-0\u2069”. Here it is again." in body
    assert "Undo last" not in body
    assert Review.objects.get().undone_at is not None


def undo(client: Client, store: Store) -> Any:
    """Press the page's button."""
    meant = client.get(where(store)).context["undo_review"]
    return client.post(where(store, "review-undo"), {"review": meant}, follow=True)


def test_a_second_press_of_undo_takes_nothing_more_back(ada: Client, store: Store) -> None:
    for _ in range(2):
        ada.post(where(store, "review-answer", held_by(ada, store)), {"label": "include"})
    page = ada.get(where(store))
    meant = page.context["undo_review"]
    assert f'name="review" value="{meant}"' in page.content.decode()
    first, second = (ada.post(where(store, "review-undo"), {"review": meant}, follow=True) for _ in range(2))
    assert "Taken back: “\u2068include\u2069” on “\u2068item-1\u2069”. Here it is again." in first.content.decode()
    assert "This answer is taken back already." in second.content.decode()
    assert Assignment.objects.get().item.identity == "item-1"
    assert list(Review.objects.filter(undone_at=None).values_list("item__identity", flat=True)) == ["item-0"]
    assert AuditEntry.objects.filter(action="review.undone").count() == 1


def test_undo_takes_back_the_answer_that_its_page_showed(ada: Client, store: Store) -> None:
    for _ in range(2):
        meant = held_by(ada, store)
        ada.post(where(store, "review-answer", meant), {"label": "include"})
    ada.post(where(store, "review-answer", held_by(ada, store)), {"label": "exclude"})  # in another tab
    body = ada.post(where(store, "review-undo"), {"review": meant}, follow=True).content.decode()
    assert "Taken back: your answer on “\u2068item-1\u2069”. Here it is again." in body
    assert list(Review.objects.filter(undone_at=None).values_list("item__identity", flat=True)) == ["item-0", "item-2"]


@pytest.mark.parametrize("meant", ["", "as_unknown", "direct", "\x00", "theirs"])
def test_undo_takes_back_no_other_review(ada: Client, store: Store, meant: str) -> None:
    ben = signed_in(member("ben", Role.REVIEWER))
    theirs = held_by(ben, store)
    ben.post(where(store, "review-answer", theirs), {"label": "include"})
    decision = Decision.objects.get(item__identity="item-1").id
    record_review(store, identity="direct", decision_id=decision, label="include", reviewer="ada", now=NOW)
    answer = ada.post(where(store, "review-undo"), {"review": theirs if meant == "theirs" else meant})
    assert answer.status_code == 404
    assert not Review.objects.exclude(undone_at=None).exists()


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
    assert "no longer yours" in ben.post(where(store, "review-skip", held), follow=True).content.decode()
    assert not Review.objects.exists()
    assert not AuditEntry.objects.exists()
    assert Assignment.objects.get(id=held).reviewer == "ada"
    assert held_by(ben, store) != held


def test_an_answer_after_its_time_counts_until_somebody_else_is_given_the_item(ada: Client, store: Store) -> None:
    first = held_by(ada, store)
    Assignment.objects.update(held_since=NOW, expires_at=NOW + timedelta(minutes=15))
    assert "Your hold on it ended" in ada.get(where(store)).content.decode()
    ada.post(where(store, "review-answer", first), {"label": "include"})
    assert Review.objects.get().identity == first
    second = held_by(ada, store)
    Assignment.objects.update(held_since=NOW, expires_at=NOW + timedelta(minutes=15))
    held_by(signed_in(member("ben", Role.REVIEWER)), store)
    late = ada.post(where(store, "review-answer", second), {"label": "include"}, follow=True).content.decode()
    assert "Nothing was recorded; go on with the next one." in late
    assert Review.objects.count() == 1


def test_the_visitor_is_told_what_the_classifier_had_decided_once_they_have_answered(ada: Client, store: Store) -> None:
    held = held_by(ada, store)
    decided = ada.get(where(store)).context["item"].decided
    agreed = ada.post(where(store, "review-answer", held), {"label": decided}, follow=True).content.decode()
    assert f"Recorded: “\u2068{decided}\u2069”, as the classifier had decided." in agreed
    held, other = held_by(ada, store), {"include": "exclude", "exclude": "include"}
    decided = ada.get(where(store)).context["item"].decided
    differs = ada.post(where(store, "review-answer", held), {"label": other[decided]}, follow=True).content.decode()
    assert f"The classifier had decided “\u2068{decided}\u2069”." in differs


def test_the_page_counts_what_waits_and_what_was_done_in_this_visit(ada: Client, store: Store) -> None:
    assert ada.get(where(store)).context["tally"] == "3 items wait; none reviewed yet."
    for _ in range(2):
        ada.post(where(store, "review-answer", held_by(ada, store)), {"label": "include"})
    assert ada.get(where(store)).context["tally"] == "1 item waits; 2 reviewed. You have reviewed 2 in this visit."
    undo(ada, store)
    assert ada.get(where(store)).context["tally"] == "2 items wait; 1 reviewed. You have reviewed 1 in this visit."
    session = ada.session
    session["review_visit"] = {**session["review_visit"], "last": NOW.isoformat()}
    session.save()
    assert ada.get(where(store)).context["tally"] == "2 items wait; 1 reviewed."


def test_each_state_of_the_queue_says_what_to_do_next(ada: Client, store: Store) -> None:
    for name in ("ben", "cleo", "dora"):
        held_by(signed_in(member(name, Role.REVIEWER)), store)
    body = ada.get(where(store)).content.decode()
    assert "Every item that waits is with another reviewer." in body
    soonest = Assignment.objects.order_by("expires_at").first()
    assert soonest is not None
    assert ada.get(where(store)).context["back_at"] == soonest.expires_at
    assert "Look again" in body
    again = ada.post(where(store, "review-take"), follow=True).content.decode()
    assert "No item is free at the moment." in again
    assert not Assignment.objects.filter(reviewer="ada").exists()
    Assignment.objects.all().delete()
    for _ in range(3):
        ada.post(where(store, "review-answer", held_by(ada, store)), {"label": "include"})
    body = unescape(ada.get(where(store)).content.decode())
    assert "Nothing waits for a review: every item that was sent has one." in body
    assert "takes back “\u2068include\u2069” on “\u2068item-2\u2069”." in body
    empty = hold(create_cyclotron(name="empty", definition=definition(seed="other"), now=NOW), "empty")
    assert "Nothing waits for a review yet." in ada.get(where(empty)).content.decode()


def test_whoever_signs_in_again_at_the_address_of_a_form_finds_the_page_that_it_was_on(
    ada: Client, store: Store
) -> None:
    held = held_by(ada, store)
    key = Item.objects.get(identity="item-0").id
    for view, arguments in (("take", ()), ("undo", ()), ("answer", (held,)), ("skip", (held,))):
        answer = ada.get(where(store, f"review-{view}", *arguments))
        assert (answer.status_code, answer.headers["Location"]) == (302, where(store))
    for view in ("item-review", "item-undo"):
        answer = ada.get(where(store, view, key))
        assert (answer.status_code, answer.headers["Location"]) == (302, where(store, "item", key))
    assert Assignment.objects.get().id == held
    assert not Review.objects.exists()
    assert ada.put(where(store, "review-take")).status_code == 405


def test_each_classifier_has_its_own_queue_and_keeps_to_it(ada: Client) -> None:
    two = definition(classifier("topic"), classifier("how urgent?", labels=("now", "later")), seed="two")
    store = hold(create_cyclotron(name="two", definition=two, now=NOW), "two")
    Workbench(store).decide("item-0")
    chosen = "?classifier=how+urgent%3F"
    body = ada.post(where(store, "review-take") + chosen, follow=True).content.decode()
    assert 'value="later"' in body
    held = Assignment.objects.get()
    after = ada.post(where(store, "review-answer", held.id) + chosen, {"label": "later"})
    assert after.headers["Location"] == where(store) + chosen + "#item"
    assert Review.objects.get().classifier.name == "how urgent?"
    assert "Start reviewing" in ada.get(where(store)).content.decode()
    assert ada.get(where(store) + "?classifier=none").status_code == 404


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
    assert not Assignment.objects.exists()


def test_forms_need_their_token(store: Store) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(member("ada", Role.REVIEWER))
    assert strict.post(where(store, "review-take")).status_code == 403
    assert not Assignment.objects.exists()


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
        ("review-skip", ("as_x",)),
        ("item-review", (key,)),
        ("item-undo", (key,)),
    ):
        assert stranger.get(where(store, view, *arguments)).status_code == 404
        assert stranger.post(where(store, view, *arguments), {"label": "include"}).status_code == 404
    assert not Assignment.objects.exists()
