"""`/graphql/`: the rooms' own fields beside the account's. Nothing is decided here."""

from typing import Any

import graphene

from cyclotron.graphql.held_out import held_out_fields
from cyclotron.graphql.reading import CyclotronQuery
from cyclotron.graphql.writing import CyclotronMutation
from cyclotron.service import HeldOutService
from cyclotron.workspace import Workspace
from kapsoweb.accounts.caller import Caller
from kapsoweb.doors.graphql.account_fields import AccountMutation, AccountQuery
from kapsoweb.doors.graphql.callers import caller_by
from kapsoweb.doors.graphql.people_fields import PeopleMutation, PeopleQuery
from kapsoweb.doors.graphql.view import graphql_view
from kapsoweb.pages.callers import caller_of


def _held_out(caller: Caller) -> HeldOutService:
    return Workspace(caller).held_out


_HELD_OUT: Any = held_out_fields(_held_out)


class Query(_HELD_OUT[0], CyclotronQuery, AccountQuery, PeopleQuery):
    """What can be read of the lab."""


class Mutation(_HELD_OUT[1], CyclotronMutation, AccountMutation, PeopleMutation):
    """What can be done in the lab. Several fields are carried out in their order, each for itself."""


schema = graphene.Schema(query=Query, mutation=Mutation)
view = graphql_view(schema, caller_by(caller_of))
