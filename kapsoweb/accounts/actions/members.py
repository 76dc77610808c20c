"""Members of an account: their roles, and their leaving. The last owner stays one."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from kapsoweb.accounts.actions.audit import record_audit
from kapsoweb.accounts.actions.tokens import end_tokens
from kapsoweb.accounts.caller import Caller, Door
from kapsoweb.accounts.errors import InvalidAccountError, LastOwnerError, RecordNotFound
from kapsoweb.accounts.models import Account, Membership
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation.canonical import check_text
from kapsoweb.foundation.identifiers import new_id

MAX_ACCOUNT_NAME = 100


def create_account(user: User, *, name: str, door: Door, now: datetime) -> Account:
    """Make an account of that name with `user` as its owner."""
    _check_name(name)
    with transaction.atomic():
        key = new_id("acc")
        account = Account.objects.create(id=key, name=name.strip(), slug=key.replace("_", "-"), created_at=now)
        Membership.objects.create(account=account, user=user, role=Role.OWNER, created_at=now)
        owner = Caller(account=account, role=Role.OWNER, actor=user.get_username(), door=door, user_id=user.pk)
        record_audit(owner, "account.created", now=now)
    return account


def rename_account(caller: Caller, *, name: str, now: datetime) -> None:
    """Give the account another name. Owners."""
    caller.require_whole_account(Role.OWNER)
    _check_name(name)
    with transaction.atomic():
        account = Account.objects.select_for_update().get(pk=caller.account.pk)
        if account.name != name.strip():
            Account.objects.filter(pk=account.pk).update(name=name.strip())
            record_audit(caller, "account.renamed", now=now)


def change_role(caller: Caller, member_id: int, *, role: Role, now: datetime) -> Membership:
    """Give a member of the account another role. Owners; raises `LastOwnerError` for the last of them."""
    caller.require_whole_account(Role.OWNER)
    with transaction.atomic():
        member = _member(caller, member_id)
        if member.role == role:
            return member
        if member.role == Role.OWNER:
            _keep_an_owner(member)
        member.role = role
        member.save(update_fields=["role"])
        record_audit(caller, "member.changed", now=now, member=member.user.get_username(), role=role.value)
    return member


def remove_member(caller: Caller, member_id: int, *, now: datetime) -> None:
    """End a membership, and for good the tokens and the invitations that the member made here.

    Owners anybody's, everybody their own; raises `LastOwnerError` for the last owner's.
    """
    with transaction.atomic():
        member = _member(caller, member_id)
        if member.user_id != caller.user_id or caller.token_id is not None:
            caller.require_whole_account(Role.OWNER)
        if member.role == Role.OWNER:
            _keep_an_owner(member)
        end_tokens(member.user.api_tokens.filter(account=caller.account), now)
        invitations = member.user.invitations.filter(account=caller.account, used_at=None, revoked_at=None)
        invitations.update(revoked_at=now)
        record_audit(caller, "member.removed", now=now, member=member.user.get_username())
        member.delete()


def _member(caller: Caller, member_id: int) -> Membership:
    """The membership, with the account locked: changes of members take turns, so that two owners cannot both go."""
    Account.objects.select_for_update().get(pk=caller.account.pk)
    rows = Membership.objects.filter(account=caller.account).select_related("user")
    member = rows.filter(pk=member_id).first() if 0 < member_id < 2**63 else None
    if member is None:
        raise no_member(member_id)
    return member


def no_member(member_id: int) -> RecordNotFound:
    """What is said of a member of another account and of one that does not exist."""
    return RecordNotFound(f"There is no member {member_id} here.", memberId=str(member_id))


def _keep_an_owner(member: Membership) -> None:
    others = Membership.objects.filter(account=member.account_id, role=Role.OWNER).exclude(pk=member.pk)
    if not others.exists():
        raise LastOwnerError(
            "an account keeps at least one owner; make somebody else an owner first. Nothing was changed."
        )


def _check_name(name: str) -> None:
    if not name.strip() or len(check_text(name, "the account's name")) > MAX_ACCOUNT_NAME:
        raise InvalidAccountError(f"an account's name must have 1 to {MAX_ACCOUNT_NAME} characters.", field="name")
