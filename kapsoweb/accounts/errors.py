"""The errors of the accounts room. Ids are part of the public interface."""

from kapsoweb.foundation.errors import KapsoError, Kind


class AccountsError(KapsoError):
    """Base of the accounts room's errors."""

    id = "accounts-error"


class RecordNotFound(AccountsError):  # noqa: N818 - the name says what happened
    """No such record for this account. Another account's record gives the same error, to the letter."""

    id = "record-not-found"
    kind = Kind.MISSING


class InvalidNameError(AccountsError):
    """A record's name breaks the rule for names."""

    id = "invalid-name"


class NameTakenError(AccountsError):
    """The account already holds a record of that name."""

    id = "name-taken"
    kind = Kind.CONFLICT


class RecordHeldError(AccountsError):
    """The record has a holder; a record is held once."""

    id = "record-held"
    kind = Kind.CONFLICT


class SignInLinkError(AccountsError):
    """A sign-in link is unknown, used or too old. Which of these is not said."""

    id = "sign-in-link-refused"
    kind = Kind.REFUSED


class NotAllowedError(AccountsError):
    """The caller may see this and may not do it: the role is too small, or the token reaches one record only."""

    id = "not-allowed"
    kind = Kind.REFUSED


class UnknownTokenError(AccountsError):
    """An API token is unknown, revoked or too old. Which of these is not said."""

    id = "token-refused"
    kind = Kind.UNAUTHENTICATED


class OwnerExistsError(AccountsError):
    """The local account has an owner; only the first visitor becomes it."""

    id = "owner-exists"
    kind = Kind.CONFLICT


class InvalidTokenError(AccountsError):
    """An API token is asked for that none may be like; `detail` has the `field`."""

    id = "invalid-token-request"


class TokenNameTakenError(AccountsError):
    """A token without a maker has that name, or had it."""

    id = "token-name-taken"
    kind = Kind.CONFLICT


class InvalidAccountError(AccountsError):
    """An account's name breaks its rule."""

    id = "invalid-account"


class LastOwnerError(AccountsError):
    """The account would be left without an owner."""

    id = "last-owner"
    kind = Kind.CONFLICT


class InvalidInvitationError(AccountsError):
    """An invitation is asked for that none may be like; `detail` has the `field`."""

    id = "invalid-invitation"


class InvitationError(AccountsError):
    """An invitation is unknown, used, revoked or too old. Which of these is not said."""

    id = "invitation-refused"
    kind = Kind.REFUSED


class UserNameTakenError(AccountsError):
    """Somebody else took the user name in between; `detail` has the `field`."""

    id = "user-name-taken"
    kind = Kind.CONFLICT


class AlreadyMemberError(AccountsError):
    """Whoever follows the invitation is a member already."""

    id = "already-member"
    kind = Kind.CONFLICT
