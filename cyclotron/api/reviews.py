"""Reviews: list them, record one, retract one."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from cyclotron import queries
from cyclotron.actions.reviewing import MAX_EXPLANATION, MAX_REASON_CODE
from cyclotron.api.base import (
    DECISION_ID,
    LABEL_CHARACTERS,
    MADE_ID_CHARACTERS,
    MOMENT,
    NAME_CHARACTERS,
    ClassifierPageQuery,
    CyclotronView,
    identity_field,
)
from cyclotron.core.draws import SELECTIONS
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.limits import ID_CHARACTERS
from kapsoweb.doors.rest.fields import FlagField, TextField, TimeField, WordField
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.serializers import StrictSerializer, page_of

_TAG = "reviews"
_RECORDED = {
    "reviewId": "review-17",
    "itemId": "record-17",
    "label": "include",
    "selectedBy": "program",
    "isCorrection": False,
    "new": True,
}


class ReviewInput(StrictSerializer):
    """What a reviewer says of a decision. The reviewer is whoever carries the token."""

    review_id = identity_field("The caller's own name for the review: the same one again records nothing new.")
    decision_id = TextField(max_length=MADE_ID_CHARACTERS)
    classifier = TextField(max_length=NAME_CHARACTERS, allow_null=True, default=None)
    label: Any = TextField(
        max_length=LABEL_CHARACTERS, allow_null=True, help_text="Null closes the item without a label."
    )
    explanation = TextField(max_length=MAX_EXPLANATION, allow_blank=True, default="")
    reason_code = TextField(max_length=MAX_REASON_CODE, allow_blank=True, default="")
    selected_by = WordField(
        SELECTIONS,
        allow_null=True,
        default=None,
        help_text="`reviewer` where a person chose the item; the lab derives it otherwise.",
    )


class RecordedReview(StrictSerializer):
    """A review as it stands; `new` is false where the same one had been recorded before."""

    review_id = TextField(max_length=ID_CHARACTERS, source="identity")
    item_id = identity_field("The item's identity.")
    label: Any = TextField(max_length=LABEL_CHARACTERS, allow_null=True)
    selected_by = WordField(SELECTIONS)
    is_correction = FlagField()
    new = FlagField()


class ReviewRow(StrictSerializer):
    """A review in a list."""

    review_id = TextField(max_length=ID_CHARACTERS)
    decision_id = TextField(max_length=MADE_ID_CHARACTERS)
    item_key = TextField(max_length=20)
    item_id = identity_field("The item's identity.")
    classifier = TextField(max_length=NAME_CHARACTERS)
    label: Any = TextField(max_length=LABEL_CHARACTERS, allow_null=True)
    explanation = TextField(max_length=MAX_EXPLANATION, allow_blank=True)
    reason_code = TextField(max_length=MAX_REASON_CODE, allow_blank=True)
    reviewer = TextField(max_length=ID_CHARACTERS)
    selected_by = WordField(SELECTIONS)
    corrects = TextField(
        max_length=ID_CHARACTERS, allow_null=True, help_text="The review whose label it followed; null for a first one."
    )
    recorded_at = TimeField()
    undone_at = TimeField(allow_null=True)
    undone_by = TextField(max_length=ID_CHARACTERS, allow_blank=True)


ReviewPage = page_of(ReviewRow, "ReviewPage")


class ReviewToUndo(StrictSerializer):
    """Which review."""

    review_id = identity_field("The review's identity.")


class Undone(StrictSerializer):
    """Whether it was undone now; false where it had been before."""

    undone = FlagField()


class ReviewsView(CyclotronView):
    """`/cyclotrons/{id}/reviews`."""

    @operation(
        Operation(
            id="listReviews",
            tag=_TAG,
            summary="List reviews",
            query=ClassifierPageQuery,
            answer=ReviewPage,
            gives={
                "items": [
                    {
                        "reviewId": "review-17",
                        "decisionId": DECISION_ID,
                        "itemKey": "17",
                        "itemId": "record-17",
                        "classifier": "screening",
                        "label": "include",
                        "explanation": "",
                        "reasonCode": "",
                        "reviewer": "ada",
                        "selectedBy": "program",
                        "corrects": None,
                        "recordedAt": MOMENT,
                        "undoneAt": None,
                        "undoneBy": "",
                    }
                ],
                "next": None,
            },
        )
    )
    def get(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Newest first, undone ones too."""
        page = queries.reviews(
            self.store(cyclotron_id),
            self.query.get("classifier"),
            after=self.cursor("reviews"),
            limit=self.query["limit"],
        )
        return self.page(page, "reviews")

    @operation(
        Operation(
            id="recordReview",
            tag=_TAG,
            summary="Record a review",
            body=ReviewInput,
            answer=RecordedReview,
            status=201,
            sends={"reviewId": "review-17", "decisionId": DECISION_ID, "label": "include"},
            gives=_RECORDED,
        )
    )
    def post(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """A first label teaches or is held out, a later one corrects it. Needs the role reviewer."""
        values = self.body()
        identity = values.pop("review_id")
        return self.answer(self.workspace.review(cyclotron_id, identity=identity, **values))


class UndoReviewView(CyclotronView):
    """`/cyclotrons/{id}/reviews/undo`."""

    access = Access(needs=Role.REVIEWER, record="cyclotron_id")

    @operation(
        Operation(
            id="undoReview",
            tag=_TAG,
            summary="Retract a review",
            body=ReviewToUndo,
            answer=Undone,
            sends={"reviewId": "review-17"},
            gives={"undone": True},
        )
    )
    def post(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """The review before it, if any, counts again. A reviewer retracts their own, an operator anybody's."""
        undone = self.workspace.undo(cyclotron_id, identity=self.body()["review_id"])
        return self.answer({"undone": undone})
