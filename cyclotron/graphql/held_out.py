"""The two operations of the held-out panel, for the lab's schema and for a host's own. Source: spec, section 8."""

from collections.abc import Callable
from typing import Any

import graphene

from cyclotron.service import HeldOutService
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.graphql.fields import costs, root_field
from kapsoweb.doors.graphql.scalars import JSON
from kapsoweb.doors.limits import GRAPHQL_WORK_COST

ServiceOf = Callable[[Any], HeldOutService]  # from what the view found behind the request


def held_out_schema(service_of: ServiceOf) -> graphene.Schema:
    """A schema of the two operations and nothing else, for a host that mounts them.

    `service_of(context)` gives the service of whoever asks; the context is what the view's `context_of(request)` gave.
    """
    query, mutation = held_out_fields(service_of)

    class Query(query):  # type: ignore[valid-type, misc]  # a class made above
        """What a host serves of a cyclotron's held-out evidence."""

    class Mutation(mutation):  # type: ignore[valid-type, misc]  # as above
        """What a host lets its callers do."""

    return graphene.Schema(query=Query, mutation=Mutation)


def held_out_fields(service_of: ServiceOf) -> tuple[type[graphene.ObjectType], type[graphene.ObjectType]]:
    """The bases of Query and Mutation that bring the two operations into a schema."""

    @costs(GRAPHQL_WORK_COST)
    def overview(context: Any, cyclotron_id: str, classifier: str | None = None) -> dict[str, Any]:
        return service_of(context).overview(cyclotron_id, classifier)

    @costs(GRAPHQL_WORK_COST)
    def command(context: Any, action: str, payload: Any) -> dict[str, Any]:
        return service_of(context).command(action, payload)

    class HeldOutQuery(graphene.ObjectType):
        """What the panel shows."""

        held_out_overview = root_field(
            JSON,
            Access(needs=Role.VIEWER, record="cyclotronId"),
            overview,
            "What the held-out panel of one classifier shows: `cyclotron-held-out-overview.v1.schema.json`.",
            cyclotron_id=graphene.ID(required=True),
            classifier=graphene.String(description="A classifier's name; the first of the cyclotron without."),
        )

    class HeldOutMutation(graphene.ObjectType):
        """What the panel's buttons do."""

        held_out_command = root_field(
            JSON,
            Access(needs=Role.OPERATOR, record="payload.cyclotronId"),
            command,
            "Freeze a held-out set, or confirm an evaluation by the bound that the overview showed: "
            "`cyclotron-held-out-command.v1.schema.json`.",
            action=graphene.String(required=True, description='"freeze" or "evaluate".'),
            payload=JSON(required=True),
        )

    return HeldOutQuery, HeldOutMutation
