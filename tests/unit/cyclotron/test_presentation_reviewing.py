"""What the review page says of an item, of its queue and of an answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cyclotron.presentation.reviewing import answer_words, reason_words, recorded_words, review_view, short_name, tally
from cyclotron.queries import AssignmentShown, LastAnswer, QueueState

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def assignment(**changed: Any) -> AssignmentShown:
    given: dict[str, Any] = {
        "id": "as_1",
        "item_key": 7,
        "item_id": "item-7",
        "values": {"text": " two\n lines ", "year": 1998, "note": "עברית", "nested": {"b": [1, None], "a": True}},
        "decision_id": "dec_1",
        "classifier": "screening",
        "reason": "low-confidence",
        "label": "include",
        "confidence": 0.6049,
        "probabilities": {"include": 0.6049, "exclude": 0.3951},
        "expires_at": NOW + timedelta(minutes=15),
        "skipped_before": False,
    }
    return AssignmentShown(**given | changed)


def view(labels: tuple[str, ...] = ("include", "exclude"), **changed: Any) -> Any:
    return review_view(assignment(**changed), labels=labels, input_field="text", now=NOW)


def test_the_text_is_kept_as_it_is_and_other_fields_are_text_or_json() -> None:
    seen = view()
    assert seen.text == " two\n lines "
    assert [(field.name, field.text) for field in seen.fields] == [
        ("year", "1998"),
        ("note", "עברית"),
        ("nested", '{"a":true,"b":[1,null]}'),
    ]


def test_nine_labels_have_a_key_and_further_ones_a_button_alone() -> None:
    seen = view(labels=tuple(f"topic {number}" for number in range(11)))
    assert [choice.key for choice in seen.choices] == [*"123456789", "", ""]
    assert len(seen.choices) == 11


def test_every_probability_that_was_given_is_shown_in_the_labels_order() -> None:
    seen = view(labels=("exclude", "include", "unsure"))
    assert [(share.label, share.text, share.hundredths, share.decided) for share in seen.shares] == [
        ("exclude", "39.5%", 39.51, False),
        ("include", "60.5%", 60.49, True),
    ]
    assert view(probabilities={}).shares == ()


def test_a_decision_that_was_none_of_the_labels_decides_no_share() -> None:
    seen = view(label=None)
    assert seen.decided == ""
    assert not any(share.decided for share in seen.shares)


@pytest.mark.parametrize(("later", "late"), [(timedelta(minutes=1), False), (timedelta(0), True)])
def test_a_hold_is_late_from_the_moment_it_ends(later: timedelta, late: bool) -> None:
    assert view(expires_at=NOW + later).late is late


def test_why_an_item_is_here_is_said_in_words() -> None:
    said = {reason: reason_words(reason) for reason in ("program", "low-confidence", "audit", "")}
    assert said == {
        "program": "Sent by the review program.",
        "low-confidence": "Sent because the classifier was unsure.",
        "audit": "Sent by the random audit.",
        "": "Not sent to review.",
    }


@pytest.mark.parametrize(
    ("waiting", "held", "reviewed", "mine", "visit", "said"),
    [
        (0, 0, 0, False, 0, "No item waits; none reviewed yet."),
        (1, 1, 3, True, 2, "1 item waits; 3 reviewed. You have reviewed 2 in this visit."),
        (1, 1, 3, False, 0, "1 item waits, with another reviewer; 3 reviewed."),
        (12_000, 3, 0, True, 0, "12,000 items wait, 2 with other reviewers; none reviewed yet."),
        (2, 2, 1_000, False, 0, "2 items wait, all with other reviewers; 1,000 reviewed."),
    ],
)
def test_the_queue_is_counted_in_words(
    waiting: int, held: int, reviewed: int, mine: bool, visit: int, said: str
) -> None:
    assert tally(QueueState(waiting, held, reviewed), held_here=mine, this_visit=visit) == said


def test_what_was_recorded_is_told_with_what_had_been_decided() -> None:
    assert recorded_words("include", assignment()) == "Recorded: “\u2068include\u2069”, as the classifier had decided."
    assert recorded_words("exclude", assignment()) == (
        "Recorded: “\u2068exclude\u2069”. The classifier had decided “\u2068include\u2069”."
    )
    assert recorded_words("exclude", assignment(label=None)) == (
        "Recorded: “\u2068exclude\u2069”. The classifier had decided none of the labels."
    )
    assert recorded_words(None, assignment()) == "Recorded: closed without a label."
    assert recorded_words("include", None) == "Recorded: “\u2068include\u2069”."


def test_an_answer_and_a_long_identity_fit_into_a_sentence() -> None:
    assert answer_words(LastAnswer("item-7", "include", "as_1")) == "“\u2068include\u2069” on “\u2068item-7\u2069”"
    assert answer_words(LastAnswer("item-7", None, "as_1")) == "the close without a label on “\u2068item-7\u2069”"
    assert short_name("x" * 40) == "“\u2068" + "x" * 40 + "\u2069”"
    assert short_name("x" * 41) == "“\u2068" + "x" * 39 + "…\u2069”"
