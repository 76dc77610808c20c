"""Cyclotrons: list, create with the full definition, read with counts, change the learning interval."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from cyclotron import queries
from cyclotron.api.base import (
    CYCLOTRON_ID,
    DIGEST_CHARACTERS,
    LABEL_CHARACTERS,
    MADE_ID_CHARACTERS,
    MOMENT,
    NAME_CHARACTERS,
    CyclotronView,
)
from cyclotron.core.definition import MAX_LEARN_EVERY, ClassifierDefinition, CyclotronDefinition
from cyclotron.core.draws import PARTITIONS
from cyclotron.endpoints import definition_of
from cyclotron.workspace import HeldCyclotron
from kapsoweb.accounts.roles import Role
from kapsoweb.doors import limits
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.key_pages import page_by_key
from kapsoweb.doors.rest.fields import FlagField, ListField, MapField, TextField, TimeField, WholeNumberField
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.serializers import PageQuery, StrictSerializer, many, page_of

_TAG = "cyclotrons"
_DEFINITION = {
    "name": "screening",
    "labels": ["include", "exclude"],
    "question": "Is the record about attention deficit?",
    "inputField": "text",
    "positiveLabel": "include",
    "rubric": "Include controlled trials.",
    "priming": [{"text": "A trial of methylphenidate in children.", "label": "include"}],
    "usesClock": False,
}


class PrimingExample(StrictSerializer):
    """A text and its label, which version 1 starts from."""

    text = TextField(max_length=limits.PRIMING_CHARACTERS)
    label: Any = TextField(max_length=LABEL_CHARACTERS)


class ClassifierInput(StrictSerializer):
    """One question of a cyclotron."""

    name = TextField(max_length=NAME_CHARACTERS)
    labels = ListField(child=TextField(max_length=LABEL_CHARACTERS), min_length=2, max_length=limits.LABELS_MOST)
    question = TextField(max_length=limits.QUESTION_CHARACTERS)
    input_field = TextField(
        max_length=NAME_CHARACTERS, default="text", help_text="The field of an item's values that is read."
    )
    positive_label = TextField(
        max_length=LABEL_CHARACTERS,
        allow_null=True,
        default=None,
        help_text="The label whose precision and recall are reported; null for averages over the labels.",
    )
    rubric = TextField(max_length=limits.RUBRIC_CHARACTERS, allow_blank=True, default="")
    priming = many(PrimingExample, required=False, at_most=limits.PRIMING_MOST)
    uses_clock = FlagField(default=False, help_text="Whether the time of asking is part of every request to the model.")


class NewCyclotron(StrictSerializer):
    """A cyclotron to create. Its definition can never be changed afterwards, its learning interval can."""

    name = TextField(max_length=NAME_CHARACTERS, help_text="Letters, digits, `.`, `_` and `-`; unique in the account.")
    seed = TextField(
        max_length=limits.SEED_CHARACTERS, help_text="With an item's identity it fixes the item's partition for ever."
    )
    classifiers = many(ClassifierInput, at_least=1, at_most=limits.CLASSIFIERS_MOST)
    learn_every = WholeNumberField(
        min_value=1,
        max_value=MAX_LEARN_EVERY,
        required=False,
        help_text="After how many new training reviews learning is due; 20 without.",
    )


class LearningInterval(StrictSerializer):
    """The one setting that may change."""

    learn_every = WholeNumberField(min_value=1, max_value=MAX_LEARN_EVERY)


class CyclotronRow(StrictSerializer):
    """A cyclotron in a list."""

    id = TextField(max_length=MADE_ID_CHARACTERS, source="record_id")
    name = TextField(max_length=NAME_CHARACTERS)
    created_at = TimeField()


CyclotronPage = page_of(CyclotronRow, "CyclotronPage")


class ClassifierState(ClassifierInput):
    """A classifier with its definition and where it stands."""

    version = WholeNumberField(help_text="The active version.")
    refits = WholeNumberField(help_text="The number of its ML model's fit; 0 without one.")
    versions = WholeNumberField(help_text="How many versions there have been.")
    reviews = MapField(child=WholeNumberField(), max_length=1000, help_text="Items by their label now.")
    training_reviews = WholeNumberField()
    next_learning_in = WholeNumberField(help_text="Training reviews until learning is due; 0 when it is.")


class CyclotronDetail(StrictSerializer):
    """A cyclotron with its definition and counts."""

    id = TextField(max_length=MADE_ID_CHARACTERS)
    name = TextField(max_length=NAME_CHARACTERS)
    created_at = TimeField()
    seed = TextField(max_length=limits.SEED_CHARACTERS)
    fingerprint = TextField(max_length=DIGEST_CHARACTERS)
    learn_every = WholeNumberField(min_value=1)
    items = MapField(child=WholeNumberField(), max_length=len(PARTITIONS), help_text="Items by partition.")
    decisions = WholeNumberField()
    classifiers = many(ClassifierState)


_DETAIL = {
    "id": CYCLOTRON_ID,
    "name": "adhd",
    "createdAt": MOMENT,
    "seed": "adhd-2026",
    "fingerprint": "5f" * 32,
    "learnEvery": 20,
    "items": {"audit": 160, "development": 171, "training": 520},
    "decisions": 851,
    "classifiers": [
        {
            **_DEFINITION,
            "version": 2,
            "refits": 3,
            "versions": 2,
            "reviews": {"include": 20, "exclude": 80},
            "trainingReviews": 62,
            "nextLearningIn": 18,
        }
    ],
}


class CyclotronsView(CyclotronView):
    """`/cyclotrons`."""

    access = Access(needs=Role.VIEWER)

    @operation(
        Operation(
            id="listCyclotrons",
            tag=_TAG,
            summary="List the cyclotrons that the token reaches, by name",
            query=PageQuery,
            answer=CyclotronPage,
            gives={"items": [{"id": CYCLOTRON_ID, "name": "adhd", "createdAt": MOMENT}], "next": None},
        )
    )
    def get(self, request: Request) -> Response:  # noqa: ARG002 - the framework passes it
        """A page of the account's cyclotrons; a token for one record sees that one."""
        rows = self.workspace.cyclotrons().order_by("name")
        page = page_by_key(rows, "name", after=self.cursor("cyclotrons"), limit=self.query["limit"])
        return self.page(page, "cyclotrons")

    @operation(
        Operation(
            id="createCyclotron",
            tag=_TAG,
            summary="Create a cyclotron",
            body=NewCyclotron,
            answer=CyclotronDetail,
            status=201,
            sends={"name": "adhd", "seed": "adhd-2026", "classifiers": [_DEFINITION], "learnEvery": 20},
            gives=_DETAIL,
        )
    )
    def post(self, request: Request) -> Response:  # noqa: ARG002 - the framework passes it
        """Needs the role operator and a token for the whole account. A name that is taken is a 409."""
        values = self.body()
        held = self.workspace.create(name=values["name"], definition=definition_in(values))
        return self.answer(_detail(held))


class OneCyclotronView(CyclotronView):
    """`/cyclotrons/{id}`."""

    @operation(
        Operation(
            id="getCyclotron",
            tag=_TAG,
            summary="Read a cyclotron with its definition and counts",
            answer=CyclotronDetail,
            gives=_DETAIL,
        )
    )
    def get(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Definition, items by partition, decisions, and for each classifier its version, labels and learning."""
        return self.answer(_detail(self.workspace.open(cyclotron_id)))

    @operation(
        Operation(
            id="updateCyclotron",
            tag=_TAG,
            summary="Change after how many training reviews learning is due",
            body=LearningInterval,
            answer=CyclotronDetail,
            sends={"learnEvery": 50},
            gives={**_DETAIL, "learnEvery": 50},
        )
    )
    def patch(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Needs the role operator. Nothing else of a cyclotron can be changed."""
        self.workspace.set_learning_interval(cyclotron_id, self.body()["learn_every"])
        return self.answer(_detail(self.workspace.open(cyclotron_id)))


def definition_in(values: dict[str, Any]) -> CyclotronDefinition:
    """The definition in the values of a `NewCyclotron`; raises `InvalidDefinitionError`."""
    classifiers = tuple(_classifier(classifier) for classifier in values["classifiers"])
    return CyclotronDefinition(values["seed"], classifiers, values.get("learn_every"))


def _classifier(values: dict[str, Any]) -> ClassifierDefinition:
    priming = tuple((example["text"], example["label"]) for example in values.pop("priming", ()))
    return ClassifierDefinition(**{**values, "labels": tuple(values["labels"])}, priming=priming)


def _detail(held: HeldCyclotron) -> dict[str, Any]:
    stored = held.store.cyclotron()
    classifiers = []
    items: dict[str, int] = {}
    decisions = 0
    for row in held.store.classifiers():
        status = queries.status(held.store, row.name)
        items, decisions = dict(status.items), status.decisions
        definition = definition_of(row)
        classifiers.append(
            {
                **vars(definition),
                "priming": [{"text": text, "label": label} for text, label in definition.priming],
                "version": status.version,
                "refits": status.refits,
                "versions": status.versions,
                "reviews": status.reviews,
                "training_reviews": status.training_reviews,
                "next_learning_in": status.next_learning_in,
            }
        )
    return {
        "id": held.id,
        "name": held.name,
        "created_at": stored.created_at,
        "seed": stored.seed,
        "fingerprint": stored.fingerprint,
        "learn_every": stored.learn_every,
        "items": items,
        "decisions": decisions,
        "classifiers": classifiers,
    }
