"""Invitations: links that make whoever follows them a member, once."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from kapsoweb.accounts import queries
from kapsoweb.accounts.actions.audit import record_audit
from kapsoweb.accounts.actions.users import save_new_user
from kapsoweb.accounts.caller import Caller, Door
from kapsoweb.accounts.errors import AlreadyMemberError, InvalidInvitationError, InvitationError, RecordNotFound
from kapsoweb.accounts.models import Invitation, Membership
from kapsoweb.accounts.roles import Role
from kapsoweb.accounts.secrets import digest_of, new_secret
from kapsoweb.foundation.canonical import check_text, is_storable
from kapsoweb.foundation.identifiers import new_id

MOST_DAYS = 30
MAX_NOTE = 100


def invite(caller: Caller, *, role: Role, note: str, days: int, now: datetime) -> tuple[Invitation, str]:
    """An invitation to the account, and the secret of its link, which is shown now and never again. Owners."""
    caller.require_whole_account(Role.OWNER)
    if len(check_text(note, "the note")) > MAX_NOTE:
        raise InvalidInvitationError(f"a note may have {MAX_NOTE} characters at most.", field="note")
    if isinstance(days, bool) or not 1 <= days <= MOST_DAYS:
        raise InvalidInvitationError(f"an invitation lasts a whole number of days, 1 to {MOST_DAYS}.", field="days")
    secret = new_secret()
    with transaction.atomic():
        invitation = Invitation.objects.create(
            id=new_id("inv"),
            account=caller.account,
            role=role,
            note=note,
            token_digest=digest_of(secret),
            user_id=caller.user_id,
            created_by=caller.actor,
            created_at=now,
            expires_at=now + timedelta(days=days),
        )
        record_audit(caller, "member.invited", now=now, invitation=invitation.pk, role=role.value)
    return invitation, secret


def revoke_invitation(caller: Caller, invitation_id: str, *, now: datetime) -> None:
    """End an invitation that nobody has followed; one that has ended stays as it is. Owners."""
    caller.require_whole_account(Role.OWNER)
    with transaction.atomic():
        rows = Invitation.objects.filter(account=caller.account)
        found = rows.filter(pk=invitation_id).first() if is_storable(invitation_id) else None
        if found is None:
            raise RecordNotFound(f"There is no invitation with the id {invitation_id!r} here.", id=invitation_id)
        if rows.filter(pk=found.pk, used_at=None, revoked_at=None).update(revoked_at=now):
            record_audit(caller, "invitation.revoked", now=now, invitation=found.pk)


def open_invitation(secret: str, now: datetime) -> Invitation:
    """The invitation behind a link, as long as it can be followed; raises `InvitationError`. It is not spent."""
    found = _usable(secret, now).select_related("account").first()
    if found is None:
        raise _refused()
    return found


def accept_invitation(secret: str, user: User, now: datetime) -> Membership:
    """Make `user` (saved with the membership when new) a member, and spend the invitation.

    Raises `InvitationError`, `AlreadyMemberError` or `UserNameTakenError`; a refusal spends nothing and makes nobody.
    Of callers at once one becomes a member.
    """
    with transaction.atomic():
        invitation = open_invitation(secret, now)
        if not _usable(secret, now).update(used_at=now, used_by=user.get_username()):
            raise _refused()
        if user.pk is None:
            save_new_user(user)
        member = _join(invitation, user, now)
        caller = Caller(
            account=invitation.account,
            role=Role(invitation.role),
            actor=user.get_username(),
            door=Door.BROWSER,
            user_id=user.pk,
        )
        record_audit(caller, "member.joined", now=now, invitation=invitation.pk, role=invitation.role)
    return member


def _join(invitation: Invitation, user: User, now: datetime) -> Membership:
    try:
        with transaction.atomic():
            return Membership.objects.create(
                account=invitation.account, user=user, role=invitation.role, created_at=now
            )
    except IntegrityError:
        raise AlreadyMemberError("you are a member of this account already; the invitation was not used.") from None


def _usable(secret: str, now: datetime) -> QuerySet[Invitation]:
    return queries.open_invitations(now).filter(token_digest=digest_of(secret))


def _refused() -> InvitationError:
    return InvitationError("This invitation is unknown, used, revoked or too old; ask for another one.")
