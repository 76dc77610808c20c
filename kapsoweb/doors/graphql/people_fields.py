"""The account's people and tokens in the schema: members, the audit log, and tokens made and ended."""

from typing import Any

import graphene
from graphene import ID, Field, Int, ObjectType, String

from kapsoweb.accounts import queries
from kapsoweb.accounts.actions.tokens import MAX_TOKEN_NAME, MOST_DAYS, create_token, revoke_token, tokens_of
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.models import ApiToken, Membership
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.graphql.errors import InvalidArgumentError
from kapsoweb.doors.graphql.fields import root_field
from kapsoweb.doors.graphql.pages import Listed, page_arguments, page_type, page_wanted
from kapsoweb.doors.graphql.scalars import JSON, Time
from kapsoweb.doors.key_pages import page_by_key
from kapsoweb.foundation import clock

_ROLE = f"One of {', '.join(Role)}."


class Token(ObjectType):
    """An API token; its secret was shown once, when it was made."""

    id = ID(required=True)
    name = String(required=True)
    beginning = String(required=True, description="How its secret begins, to tell it from others.")
    role = String(required=True, description=_ROLE)
    maker = String(description="Null for a token that was made at the lab's own machine.")
    room = String(description="The kind of the one record that it reaches; null for all records.")
    record_id = ID(description="The id of the one record that it reaches; null for all records.")
    created_at = Time(required=True)
    expires_at = Time(required=True)
    revoked_at = Time()
    last_used_at = Time()

    @staticmethod
    def resolve_maker(row: ApiToken, _: Any) -> str | None:
        """The name of the user who made it."""
        return row.user.get_username() if row.user else None

    @staticmethod
    def resolve_room(row: ApiToken, _: Any) -> str | None:
        """Null where there is none."""
        return row.room or None

    @staticmethod
    def resolve_record_id(row: ApiToken, _: Any) -> str | None:
        """Null where there is none."""
        return row.record_id or None


class NewToken(ObjectType):
    """A token that was made now."""

    secret = String(required=True, description="Shown now and never again.")
    token = Field(Token, required=True)


class Member(ObjectType):
    """A user's place in the account."""

    name = String(required=True)
    role = String(required=True, description=_ROLE)
    since = Time(required=True)


class AuditEntry(ObjectType):
    """Who did what, when and by which door, with ids and labels only."""

    id = ID(required=True)
    at = Time(required=True)
    actor = String(required=True)
    door = String(required=True)
    token_id = ID()
    action = String(required=True)
    room = String()
    record_id = ID()
    detail = Field(JSON, required=True)


TokenPage = page_type(Token)
MemberPage = page_type(Member)
AuditEntryPage = page_type(AuditEntry)


def tokens(caller: Caller, first: int | None = None, after: str | None = None) -> Listed:
    """A page of the tokens that the caller may see."""
    wanted = page_wanted(caller, ["tokens"], first, after)
    rows = tokens_of(caller).select_related("user")
    return wanted.read(page_by_key(rows, "id", after=wanted.after, limit=wanted.limit, newest_first=True))


def members(caller: Caller, first: int | None = None, after: str | None = None) -> Listed:
    """A page of the account's members."""
    wanted = page_wanted(caller, ["members"], first, after)
    page = page_by_key(queries.members(caller), "id", after=wanted.after, limit=wanted.limit)
    return wanted.read(page, _member)


def audit_log(caller: Caller, first: int | None = None, after: str | None = None) -> Listed:
    """A page of what was done in the account."""
    wanted = page_wanted(caller, ["auditLog"], first, after)
    rows = queries.audit_entries(caller)
    page = page_by_key(rows, "id", after=wanted.after, limit=wanted.limit, newest_first=True)
    return wanted.read(page, _entry)


def make_token(
    caller: Caller,
    name: str,
    role: str,
    days: int,
    room: str | None = None,
    record_id: str | None = None,
) -> dict[str, Any]:
    """Make a token of a role that is not above the caller's."""
    if role not in list(Role):
        raise InvalidArgumentError(f"`role` must be one of {', '.join(Role)}.", argument="role")
    token, secret = create_token(
        caller,
        name=name,
        role=Role(role),
        days=days,
        room=room or "",
        record_id=record_id or "",
        now=clock.now(),
    )
    return {"secret": secret, "token": token}


def end_token(caller: Caller, id: str) -> ApiToken:  # noqa: A002 - the argument's name outside
    """End a token at once."""
    return revoke_token(caller, id, now=clock.now())


class PeopleQuery(ObjectType):
    """What can be read of the account's people."""

    tokens = root_field(
        TokenPage,
        Access(needs=Role.VIEWER),
        tokens,
        "The caller's own tokens, newest first; an owner's are all of the account.",
        **page_arguments(),
    )
    members = root_field(
        MemberPage,
        Access(needs=Role.VIEWER, whole_account=True),
        members,
        "The account's members, longest first.",
        **page_arguments(),
    )
    audit_log = root_field(
        AuditEntryPage,
        Access(needs=Role.OWNER, whole_account=True),
        audit_log,
        "What was done in the account, newest first. Owners.",
        **page_arguments(),
    )


class PeopleMutation(ObjectType):
    """What can be done with tokens."""

    create_token = root_field(
        NewToken,
        Access(needs=Role.VIEWER),
        make_token,
        "Make an API token of a role that is not above one's own; its secret is shown now and never again.",
        name=String(required=True, description=f"1 to {MAX_TOKEN_NAME} characters."),
        role=String(required=True, description=_ROLE),
        days=Int(required=True, description=f"How long it is good, 1 to {MOST_DAYS}."),
        room=String(description='With `recordId`: the kind of the one record that it reaches ("cyclotron").'),
        record_id=ID(description="The id of the one record that it reaches."),
    )
    revoke_token = root_field(
        Token,
        Access(needs=Role.VIEWER, record="id"),
        end_token,
        "End a token at once. Members their own, owners everybody's.",
        id=graphene.ID(required=True),
    )


def _member(place: Membership) -> dict[str, Any]:
    return {"name": place.user.get_username(), "role": place.role, "since": place.created_at}


def _entry(row: Any) -> dict[str, Any]:
    return {
        "id": row.pk,
        "at": row.at,
        "actor": row.actor,
        "door": row.door,
        "token_id": row.token_id or None,
        "action": row.action,
        "room": row.room or None,
        "record_id": row.record_id or None,
        "detail": row.detail,
    }
