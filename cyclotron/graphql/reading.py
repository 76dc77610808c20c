"""The cyclotron's fields of Query."""

import graphene

from cyclotron.graphql.cyclotron_type import Cyclotron, CyclotronPage, Shown, shown
from cyclotron.workspace import Workspace
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.graphql.fields import root_field
from kapsoweb.doors.graphql.pages import Listed, page_arguments, page_wanted
from kapsoweb.doors.key_pages import page_by_key


def cyclotrons(caller: Caller, first: int | None = None, after: str | None = None) -> Listed:
    """A page of what the caller reaches; a token for one record sees that one."""
    wanted = page_wanted(caller, ["cyclotrons"], first, after)
    return wanted.read(page_by_key(Workspace(caller).cyclotrons(), "name", after=wanted.after, limit=wanted.limit))


def cyclotron(caller: Caller, id: str) -> Shown:  # noqa: A002 - the argument's name outside
    """A cyclotron that the caller reaches; raises `RecordNotFound`."""
    return shown(Workspace(caller).open(id))


class CyclotronQuery(graphene.ObjectType):
    """What can be read of cyclotrons."""

    cyclotrons = root_field(
        CyclotronPage,
        Access(needs=Role.VIEWER),
        cyclotrons,
        "The cyclotrons that the caller reaches, by name.",
        **page_arguments(),
    )
    cyclotron = root_field(
        Cyclotron,
        Access(needs=Role.VIEWER, record="id"),
        cyclotron,
        "One cyclotron, with all that can be read of it.",
        id=graphene.ID(required=True),
    )
