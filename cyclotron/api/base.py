"""What the cyclotron's views and answers have in common."""

from typing import Any, ClassVar

from cyclotron.store import Store
from cyclotron.workspace import Workspace
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.limits import ID_CHARACTERS
from kapsoweb.doors.rest.fields import MapField, NumberField, TextField, WholeNumberField
from kapsoweb.doors.rest.serializers import PageQuery, StrictSerializer
from kapsoweb.doors.rest.views import ApiView

LABEL_CHARACTERS = 64
NAME_CHARACTERS = 64
DIGEST_CHARACTERS = 64
MADE_ID_CHARACTERS = 64  # of an id that the lab made
MOST_BIG = 2**63 - 1  # what a key of a table can be

CYCLOTRON_ID = "cy_01jkm3x7e8r5v9z2q4t6w8y0ab"
DECISION_ID = "dec_01jkm3x7e8r5v9z2q4t6w8y0ac"
MOMENT = "2026-03-01T12:00:00Z"


class CyclotronView(ApiView):
    """A view of one cyclotron; its rule names the least role, and the workspace asks for what an action needs."""

    access: ClassVar[Access] = Access(needs=Role.VIEWER, record="cyclotron_id")

    @property
    def workspace(self) -> Workspace:
        """The cyclotrons as the caller may use them."""
        return Workspace(self.caller)

    def store(self, cyclotron_id: str, *, needs: Role = Role.VIEWER) -> Store:
        """The store of a cyclotron that the caller reaches; raises `RecordNotFound` or `NotAllowedError`."""
        return self.workspace.open(cyclotron_id, needs=needs).store


class ClassifierQuery(StrictSerializer):
    """Which classifier of the cyclotron."""

    classifier = TextField(
        max_length=NAME_CHARACTERS, required=False, help_text="A classifier's name; the first of the cyclotron without."
    )


class ClassifierPageQuery(PageQuery):
    """A page of a list that concerns one classifier."""

    classifier = TextField(
        max_length=NAME_CHARACTERS, required=False, help_text="A classifier's name; the first of the cyclotron without."
    )


class ClassifierBody(StrictSerializer):
    """Which classifier of the cyclotron."""

    classifier = TextField(
        max_length=NAME_CHARACTERS,
        required=False,
        allow_null=True,
        default=None,
        help_text="A classifier's name; the first of the cyclotron without.",
    )


class DecidedOutput(StrictSerializer):
    """What one classifier decided, and by which version and refit."""

    label: Any = TextField(
        max_length=LABEL_CHARACTERS, allow_null=True, help_text="Null where the model gave no declared label."
    )
    confidence = NumberField(min_value=0, max_value=1)
    probabilities = MapField(child=NumberField(min_value=0, max_value=1), max_length=1000)
    version = WholeNumberField()
    refit = WholeNumberField(help_text="The number of the ML model's fit; 0 without one.")
    fingerprint = TextField(max_length=DIGEST_CHARACTERS, allow_blank=True)


def identity_field(what: str, **given: object) -> TextField:
    """A field for an identity that an application or a caller chose."""
    return TextField(max_length=ID_CHARACTERS, help_text=what, **given)
