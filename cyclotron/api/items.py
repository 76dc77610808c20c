"""Items: list them by what is known of them, read one with its history."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from cyclotron import queries
from cyclotron.api.base import (
    DECISION_ID,
    DIGEST_CHARACTERS,
    LABEL_CHARACTERS,
    MADE_ID_CHARACTERS,
    MOMENT,
    ClassifierPageQuery,
    ClassifierQuery,
    CyclotronView,
    identity_field,
)
from cyclotron.api.decisions import DecisionRow
from cyclotron.api.reviews import ReviewRow
from cyclotron.core.draws import PARTITIONS, SELECTIONS
from cyclotron.queries import ITEM_STATES, ItemFilters
from kapsoweb.doors.limits import ID_CHARACTERS
from kapsoweb.doors.rest.fields import (
    FlagField,
    NumberField,
    ObjectField,
    TextField,
    TimeField,
    WholeNumberField,
    WordField,
)
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.serializers import StrictSerializer, many, page_of
from kapsoweb.foundation.whole_numbers import whole_number

_TAG = "items"
_FIRST = {
    "decisionId": DECISION_ID,
    "label": "exclude",
    "confidence": 0.55,
    "version": 1,
    "refit": 0,
    "decidedAt": MOMENT,
    "reason": "program",
    "sent": True,
    "propensity": 1.0,
}
_ITEM = {
    "key": "17",
    "itemId": "record-17",
    "partition": "training",
    "state": "reviewed",
    "first": _FIRST,
    "latest": {**_FIRST, "label": "include", "confidence": 0.83, "version": 2, "refit": 3},
    "review": {
        "reviewId": "review-17",
        "label": "include",
        "reviewer": "ada",
        "selectedBy": "program",
        "recordedAt": MOMENT,
    },
    "changed": True,
}


class DecisionShown(StrictSerializer):
    """What the classifier decided of an item at one time."""

    decision_id = TextField(max_length=MADE_ID_CHARACTERS)
    label: Any = TextField(max_length=LABEL_CHARACTERS, allow_null=True)
    confidence = NumberField(min_value=0, max_value=1)
    version = WholeNumberField()
    refit = WholeNumberField()
    decided_at = TimeField()
    reason = TextField(max_length=LABEL_CHARACTERS, allow_blank=True)
    sent = FlagField()
    propensity = NumberField(min_value=0, max_value=1)


class ReviewShown(StrictSerializer):
    """The review of an item that counts now."""

    review_id = TextField(max_length=ID_CHARACTERS)
    label: Any = TextField(max_length=LABEL_CHARACTERS, allow_null=True)
    reviewer = TextField(max_length=ID_CHARACTERS)
    selected_by = WordField(SELECTIONS)
    recorded_at = TimeField()


class ItemSummary(StrictSerializer):
    """An item in a list; `changed` says that its latest decision has another label than its first."""

    key = TextField(max_length=20, help_text="The lab's own name for the item: what an address holds.")
    item_id = TextField(max_length=ID_CHARACTERS, source="identity", help_text="The application's name for it.")
    partition = WordField(PARTITIONS)
    state = WordField(ITEM_STATES)
    first = DecisionShown(allow_null=True)
    latest = DecisionShown(allow_null=True)
    review = ReviewShown(allow_null=True)
    changed = FlagField()


ItemPage = page_of(ItemSummary, "ItemPage")


class ItemLabel(StrictSerializer):
    """The label that counts now, and what its review may be used for."""

    label: Any = TextField(max_length=LABEL_CHARACTERS)
    use = WordField(PARTITIONS)
    chosen = FlagField(help_text="Whether a person chose the item, so that it trains whatever its partition.")
    propensity = NumberField(min_value=0, max_value=1)


class SetMembership(StrictSerializer):
    """A held-out set that the item is frozen in, with the label that was frozen."""

    set_id = TextField(max_length=DIGEST_CHARACTERS)
    frozen_at = TimeField()
    label: Any = TextField(max_length=LABEL_CHARACTERS)


class ItemDetail(StrictSerializer):
    """All that is known of an item; lists are newest first."""

    item = ItemSummary(source="row")
    values = ObjectField()
    propensity = NumberField(min_value=0, max_value=1, allow_null=True)
    created_at = TimeField()
    decisions = many(DecisionRow)
    reviews = many(ReviewRow)
    label: Any = ItemLabel(allow_null=True)
    sets = many(SetMembership)


class ItemsQuery(ClassifierPageQuery):
    """Which items."""

    state = WordField(ITEM_STATES, required=False)
    partition = WordField(PARTITIONS, required=False)
    label: Any = TextField(max_length=LABEL_CHARACTERS, required=False, help_text="The label that counts now.")
    decided_label = TextField(max_length=LABEL_CHARACTERS, required=False, help_text="The label last decided.")
    changed = FlagField(from_text=True, required=False)
    beginning = TextField(max_length=ID_CHARACTERS, required=False, help_text="How the identity begins.")
    item_id = identity_field("The one item of this identity.", required=False)


class ItemsView(CyclotronView):
    """`/cyclotrons/{id}/items`."""

    @operation(
        Operation(
            id="listItems",
            tag=_TAG,
            summary="List items",
            query=ItemsQuery,
            answer=ItemPage,
            gives={"items": [_ITEM], "next": None},
        )
    )
    def get(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """In the order in which they came, without their values."""
        store = self.store(cyclotron_id)
        asked = self.query
        filters = ItemFilters(
            state=asked.get("state"),
            partition=asked.get("partition"),
            label=asked.get("label"),
            decided_label=asked.get("decided_label"),
            changed=asked.get("changed"),
            beginning=asked.get("beginning", ""),
            identity=asked.get("item_id"),
        )
        after, limit = self.cursor("items"), asked["limit"]
        return self.page(queries.items(store, asked.get("classifier"), filters, after=after, limit=limit), "items")


class ItemView(CyclotronView):
    """`/cyclotrons/{id}/items/{itemKey}`."""

    @operation(
        Operation(
            id="getItem",
            tag=_TAG,
            summary="Read an item with its history",
            query=ClassifierQuery,
            answer=ItemDetail,
            gives={
                "item": _ITEM,
                "values": {"text": "A trial of methylphenidate."},
                "propensity": 1.0,
                "createdAt": MOMENT,
                "decisions": [],
                "reviews": [],
                "label": {"label": "include", "use": "training", "chosen": False, "propensity": 1.0},
                "sets": [],
            },
        )
    )
    def get(self, request: Request, cyclotron_id: str, item_key: str) -> Response:  # noqa: ARG002
        """Its values, its decisions and reviews, the label that counts, and the held-out sets that hold it."""
        key = whole_number(item_key) or 0  # which no item has
        return self.answer(queries.item(self.store(cyclotron_id), key, self.query.get("classifier")))
