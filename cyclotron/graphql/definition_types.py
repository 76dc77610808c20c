"""A cyclotron's definition as the schema shows it and as it is given to create one, and where a classifier stands."""

from collections.abc import Mapping
from typing import Any

from graphene import Boolean, InputObjectType, Int, ObjectType, String

from cyclotron.api.cyclotrons import NewCyclotron, definition_in
from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from cyclotron.core.draws import PARTITIONS
from cyclotron.core.overview import Status
from kapsoweb.doors.graphql.fields import as_sent, many, many_given
from kapsoweb.doors.rest.serializers import read_values


class PrimingExample(ObjectType):
    """A text and its label, which version 1 starts from."""

    text = String(required=True)
    label = String(required=True)


class Classifier(ObjectType):
    """One question of a cyclotron, as it was defined. It never changes."""

    name = String(required=True)
    labels = many(String)
    question = String(required=True)
    input_field = String(required=True, description="The field of an item's values that is read.")
    positive_label = String(description="The label whose precision and recall are reported; null for averages.")
    rubric = String(required=True)
    priming = many(PrimingExample)
    uses_clock = Boolean(required=True, description="Whether the time of asking is part of every request to the model.")


class LabelCount(ObjectType):
    """A label, or a partition, and how many there are of it."""

    label = String(required=True)
    count = Int(required=True)


class ClassifierStatus(ObjectType):
    """Counts, the active version, and when learning is due."""

    items = many(LabelCount, "Items by partition.")
    decisions = Int(required=True)
    reviews = many(LabelCount, "Items by their label now, in the order of the declared labels.")
    version = Int(required=True, description="The active version.")
    refits = Int(required=True, description="The number of its ML model's fit; 0 without one.")
    versions = Int(required=True, description="How many versions there have been.")
    training_reviews = Int(required=True)
    next_learning_in = Int(required=True, description="Training reviews until learning is due; 0 when it is.")


class PrimingExampleInput(InputObjectType):
    """A text and its label, which version 1 starts from."""

    text = String(required=True)
    label = String(required=True)


class ClassifierInput(InputObjectType):
    """One question of a cyclotron."""

    name = String(required=True)
    labels = many_given(String, required=True)
    question = String(required=True)
    input_field = String(description="The field of an item's values that is read; `text` without.")
    positive_label = String()
    rubric = String()
    priming = many_given(PrimingExampleInput)
    uses_clock = Boolean()


class CyclotronInput(InputObjectType):
    """A cyclotron to create. Its definition can never be changed afterwards, its learning interval can."""

    name = String(required=True, description="Letters, digits, `.`, `_` and `-`; unique in the account.")
    seed = String(required=True, description="With an item's identity it fixes the item's partition for ever.")
    classifiers = many_given(ClassifierInput, required=True)
    learn_every = Int(description="After how many new training reviews learning is due; 20 without.")


def named_definition(given: Mapping[str, Any]) -> tuple[str, CyclotronDefinition]:
    """The name and the definition in a `CyclotronInput`, held to the one form that creates cyclotrons at every door.

    Raises `InvalidRequestError` or `InvalidDefinitionError`.
    """
    values = read_values(NewCyclotron, as_sent(given))
    return values["name"], definition_in(values)


def classifier_shown(definition: ClassifierDefinition) -> dict[str, Any]:
    """A classifier's definition as the schema shows it."""
    return {
        **vars(definition),
        "priming": [{"text": text, "label": label} for text, label in definition.priming],
    }


def status_shown(status: Status) -> dict[str, Any]:
    """A status as the schema shows it: what is a mapping inside is a list of counts outside."""
    return {**vars(status), "items": counts(status.items, PARTITIONS), "reviews": counts(status.reviews)}


def counts(found: Mapping[str, int], order: tuple[str, ...] | None = None) -> list[dict[str, Any]]:
    """Counts by label as a list, in the mapping's order unless another is given."""
    return [{"label": label, "count": found[label]} for label in order or found]
