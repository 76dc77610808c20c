"""The forms of an account's pages. A refusal by the rooms stands beside the field that it is about."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm, UserCreationForm
from django.contrib.auth.models import User

from kapsoweb.accounts.actions.invitations import MAX_NOTE
from kapsoweb.accounts.actions.invitations import MOST_DAYS as INVITATION_DAYS
from kapsoweb.accounts.actions.members import MAX_ACCOUNT_NAME
from kapsoweb.accounts.actions.tokens import MAX_TOKEN_NAME
from kapsoweb.accounts.actions.tokens import MOST_DAYS as TOKEN_DAYS
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.models import Holding
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.foundation.wording import sentence_case

ROLE_WORDS = {
    Role.VIEWER: "viewer: reads everything",
    Role.REVIEWER: "reviewer: reads and reviews",
    Role.OPERATOR: "operator: also imports and evaluates",
    Role.OWNER: "owner: also manages the members",
}
_USUAL_DAYS = 90

_PASSWORD = "12 characters at least; not a common password, not like the user name, not digits alone."  # noqa: S105

if TYPE_CHECKING:
    _UserCreationForm = UserCreationForm[User]
else:
    _UserCreationForm = UserCreationForm  # Django's class takes no type argument when it runs


class Refusable(forms.BaseForm):
    """A form that can carry the refusal of the action behind it."""

    use_required_attribute = False  # the server says what is missing, in one way for every browser
    error_id = ""

    def refuse(self, error: KapsoError) -> None:
        """Show an action's refusal beside its field, or above the form."""
        field = error.detail.get("field")
        self.add_error(field if field in self.fields else None, sentence_case(error.message))
        self.error_id = error.id


class RefusableForm(Refusable, forms.Form):
    """A form of fields that are named here."""


class NewUserForm(Refusable, _UserCreationForm):
    """A new user's name and password."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        name, password, again = (self.fields[field] for field in ("username", "password1", "password2"))
        name.label = "User name"
        name.help_text = "150 characters at most: letters, digits and @ . + - _"
        password.help_text = _PASSWORD
        again.label, again.help_text = "The password again", ""


class NewPasswordForm(Refusable, PasswordChangeForm):
    """Another password."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        old, password, again = (self.fields[field] for field in ("old_password", "new_password1", "new_password2"))
        old.label, password.label, again.label = "Present password", "New password", "The new password again"
        password.help_text, again.help_text = _PASSWORD, ""


def _role_field(most: Role) -> forms.ChoiceField:
    choices = [(role.value, words) for role, words in ROLE_WORDS.items() if most.allows(role)]
    return forms.ChoiceField(label="Role", choices=choices)


def _days_field(most: int, initial: int) -> forms.IntegerField:
    words = f"It must be a whole number from 1 to {most}."
    return forms.IntegerField(
        label="Days until it expires",
        min_value=1,
        max_value=most,
        initial=initial,
        help_text=f"1 to {most}.",
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), words),
    )


class TokenForm(RefusableForm):
    """A new API token."""

    name = forms.CharField(
        label="Name",
        max_length=MAX_TOKEN_NAME,
        help_text="What it is for: nightly import, say. Reviews and the audit log show it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": "Give it a name."},
    )
    days = _days_field(TOKEN_DAYS, _USUAL_DAYS)
    record = forms.ChoiceField(label="Reaches", required=False)

    def __init__(self, caller: Caller, holdings: list[Holding], *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.fields["role"] = _role_field(caller.role)
        everything = [("", "everything in the account")]
        self.fields["record"].choices = everything + [  # type: ignore[attr-defined]  # the field is a choice
            (f"{held.room}:{held.record_id}", f"only the {held.room} {held.name}") for held in holdings
        ]
        self.order_fields(["name", "role", "record", "days"])


class InvitationForm(RefusableForm):
    """A new invitation."""

    role = _role_field(Role.OWNER)
    note = forms.CharField(
        label="Whom it is for",
        max_length=MAX_NOTE,
        required=False,
        help_text="A note for the list of invitations; the invited person does not see it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    days = _days_field(INVITATION_DAYS, 7)


class RoleForm(RefusableForm):
    """Another role for a member."""

    role = _role_field(Role.OWNER)


class AccountForm(RefusableForm):
    """Another name for an account."""

    name = forms.CharField(
        label="Name",
        max_length=MAX_ACCOUNT_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
        error_messages={"required": "Give it a name."},
    )


class NewAccountForm(AccountForm):
    """A new account's name, whose field has an id of its own: a page may show both forms."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{"auto_id": "id_new_%s", **named})
