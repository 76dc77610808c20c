"""Items as the schema shows them: in lists, and one with all that is known of it."""

from collections.abc import Mapping
from typing import Any

from graphene import ID, Boolean, Field, Float, InputObjectType, Int, ObjectType, String

from cyclotron.core.draws import PARTITIONS
from cyclotron.graphql.decision_types import Decision, Review, decision_shown
from cyclotron.queries.items import ITEM_STATES, ItemFilters
from cyclotron.queries.items import ItemHistory as FoundHistory
from kapsoweb.doors.graphql.fields import many
from kapsoweb.doors.graphql.pages import page_type
from kapsoweb.doors.graphql.scalars import JSON, Time


class DecisionShown(ObjectType):
    """What the classifier decided of an item."""

    decision_id = ID(required=True)
    label = String(description="Null where the model gave no declared label.")
    confidence = Float(required=True)
    version = Int(required=True)
    refit = Int(required=True)
    decided_at = Time(required=True)
    reason = String(required=True)
    sent = Boolean(required=True)
    propensity = Float(required=True)


class ReviewShown(ObjectType):
    """The review of an item that counts now."""

    review_id = ID(required=True)
    label = String(description="Null where the item was closed without one.")
    reviewer = String(required=True)
    selected_by = String(required=True)
    recorded_at = Time(required=True)


class Item(ObjectType):
    """An item with its first and its latest decision, and the review that counts."""

    key = ID(required=True, description="The lab's own number of it.")
    identity = String(required=True, name="itemId", description="The application's own name for it.")
    partition = String(required=True, description=f"One of {', '.join(PARTITIONS)}.")
    state = String(required=True, description=f"One of {', '.join(ITEM_STATES)}.")
    first = Field(DecisionShown)
    latest = Field(DecisionShown)
    review = Field(ReviewShown)
    changed = Boolean(required=True, description="Whether the latest decision has another label than the first.")


class CurrentLabel(ObjectType):
    """The label of an item that counts now, and what it serves."""

    label = String(required=True)
    use = String(required=True, description=f"One of {', '.join(PARTITIONS)}; `training` where a person chose it.")
    weight = Float(required=True, description="One over the propensity: how many decisions it stands for.")


class SetMembership(ObjectType):
    """A held-out set that an item is frozen in, and the label that was frozen."""

    set_id = ID(required=True)
    frozen_at = Time(required=True)
    label = String(required=True)


class ItemHistory(ObjectType):
    """All that is known of one item; decisions, reviews and sets are newest first."""

    row = Field(Item, required=True, name="item")
    values = Field(JSON, required=True)
    propensity = Float(description="The largest that it has been exposed to; null before a decision.")
    created_at = Time(required=True)
    decisions = many(Decision)
    reviews = many(Review)
    label = Field(CurrentLabel)
    sets = many(SetMembership)


class ItemFiltersInput(InputObjectType):
    """Which items; whatever is left out asks for all."""

    state = String(description=f"One of {', '.join(ITEM_STATES)}.")
    partition = String(description=f"One of {', '.join(PARTITIONS)}.")
    label = String(description="The label that counts.")
    decided_label = String(description="The label that was decided last.")
    changed = Boolean(description="Whether the latest decision has another label than the first.")
    beginning = String(description="How the item's identity begins.")


ItemPage = page_type(Item)


def filters_in(given: Mapping[str, Any] | None) -> ItemFilters:
    """The filters; null is as good as nothing. Raises `InvalidPageError`."""
    return ItemFilters(**{name: value for name, value in (given or {}).items() if value is not None})


def history_shown(found: FoundHistory) -> dict[str, Any]:
    """An item's history as the schema shows it."""
    return {**vars(found), "decisions": [decision_shown(row) for row in found.decisions]}
