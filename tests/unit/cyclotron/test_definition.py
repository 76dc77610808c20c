"""What a cyclotron may be defined as, and what its fingerprint covers."""

from typing import Any

import pytest

from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from cyclotron.core.errors import InvalidDefinitionError
from kapsoweb.foundation.canonical import UnreadableValueError
from kapsoweb.foundation.errors import KapsoError
from tests.support.cyclotrons import classifier, definition


@pytest.mark.parametrize(
    "changed",
    [
        {"labels": ()},
        {"labels": ("include",)},
        {"labels": ("include", "include")},
        {"labels": ("include", "")},
        {"labels": ("include", " ")},
        {"labels": ("include", " exclude")},
        {"labels": ("include", "exclude\n")},
        {"labels": ("include", "x" * 65)},
        {"labels": ("include", None)},
        {"labels": "ie"},
        {"question": ""},
        {"question": " \n"},
        {"question": None},
        {"input_field": ""},
        {"positive_label": "maybe"},
        {"positive_label": ""},
        {"priming": (("a text", "maybe"),)},
        {"rubric": None},
    ],
)
def test_a_classifier_that_breaks_a_rule_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        classifier(**changed)
    assert caught.value.id == "invalid-definition"


@pytest.mark.parametrize("name", ["", " ", "x" * 65, None])
def test_a_classifiers_name_is_text_of_1_to_64_characters(name: Any) -> None:
    with pytest.raises(InvalidDefinitionError):
        ClassifierDefinition(name, ("a", "b"), "Which?")


@pytest.mark.parametrize("broken", ["a\x00b", "\ud800"])
@pytest.mark.parametrize("part", ["name", "question", "input_field", "rubric", "labels", "priming", "seed"])
def test_text_that_no_database_could_store_is_refused_in_every_part(part: str, broken: str) -> None:
    whole = {"labels": (broken, "b"), "priming": ((broken, "include"),)}
    build = definition if part == "seed" else classifier
    with pytest.raises(UnreadableValueError):
        build(**{part: whole.get(part, broken)})


def test_labels_are_compared_byte_for_byte_and_keep_their_order() -> None:
    labels = ("caf\u00e9", "cafe\u0301", "CAF\u00c9", "a b", "x" * 64)
    assert classifier(labels=labels).labels == labels
    one, other = classifier(labels=("a", "b")), classifier(labels=("b", "a"))
    assert definition(one).fingerprint != definition(other).fingerprint


@pytest.mark.parametrize("seed", ["", None, 7])
def test_a_seed_is_text_that_is_not_empty(seed: Any) -> None:
    with pytest.raises(InvalidDefinitionError):
        definition(seed=seed)


def test_a_cyclotron_has_classifiers_of_different_names() -> None:
    with pytest.raises(InvalidDefinitionError):
        CyclotronDefinition("s", ())
    with pytest.raises(InvalidDefinitionError):
        definition(classifier("one"), classifier("one", labels=("a", "b", "c")))
    assert len(definition(classifier("one"), classifier("One")).classifiers) == 2


@pytest.mark.parametrize("learn_every", [0, -1, True, 1.0, "20", 2**31, 10**30])
def test_learning_is_due_after_a_whole_number_of_reviews_that_a_database_can_hold(learn_every: Any) -> None:
    with pytest.raises(InvalidDefinitionError):
        definition(learn_every=learn_every)


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "other"},
        {"labels": ("include", "exclude", "maybe")},
        {"question": "Is it about attention ?"},
        {"input_field": "abstract"},
        {"positive_label": "include"},
        {"rubric": "Include trials."},
        {"priming": (("A trial.", "include"),)},
        {"uses_clock": True},
    ],
)
def test_the_fingerprint_covers_every_part_of_a_classifier(changed: dict[str, Any]) -> None:
    assert definition(classifier(**changed)).fingerprint != definition(classifier()).fingerprint


def test_the_fingerprint_covers_the_seed_and_the_order_of_classifiers_but_not_when_learning_is_due() -> None:
    one, two = classifier("one"), classifier("two")
    assert definition(one, two).fingerprint != definition(two, one).fingerprint
    assert definition(seed="a").fingerprint != definition(seed="b").fingerprint
    assert definition(learn_every=1).fingerprint == definition(learn_every=50).fingerprint


def test_a_stored_definition_reads_back_as_itself() -> None:
    whole = classifier(
        labels=("a", "b", "\U0001f600"),
        positive_label="b",
        rubric="b: when in doubt\n",
        priming=(("one", "a"), ("two", "b")),
        uses_clock=True,
        input_field="abstract",
    )
    assert ClassifierDefinition.from_json(whole.as_json()) == whole


def test_an_error_about_a_priming_example_does_not_hold_its_text() -> None:
    with pytest.raises(KapsoError) as caught:
        classifier(priming=(("marker of a text", "maybe"),))
    assert "marker" not in str(caught.value.as_json())
