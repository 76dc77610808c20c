"""Who the caller is, and the schema of all there is."""

from typing import Any, ClassVar

from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.models import ApiToken
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import PUBLIC, Access
from kapsoweb.doors.rest.fields import TextField, TimeField, WordField
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.schema import schema_document
from kapsoweb.doors.rest.serializers import StrictSerializer
from kapsoweb.doors.rest.views import ApiView


class AccountRow(StrictSerializer):
    """An account."""

    id = TextField(max_length=40)
    name = TextField(max_length=100)
    slug = TextField(max_length=64)


class Me(StrictSerializer):
    """Whoever carries the token, and what it reaches."""

    account = AccountRow()
    role = WordField(Role)
    actor = TextField(max_length=300, help_text="The name that reviews and the audit log give this caller.")
    token_id = TextField(max_length=40, allow_null=True)
    token_expires_at = TimeField(allow_null=True)
    only = TextField(
        max_length=64, allow_null=True, help_text="The id of the one record that the token reaches; null for all."
    )


class MeView(ApiView):
    """`/me`."""

    access = Access(needs=Role.VIEWER)

    @operation(
        Operation(
            id="getMe",
            tag="account",
            summary="Say who the token is",
            answer=Me,
            gives={
                "account": {"id": "acc_01jabc", "name": "Local lab", "slug": "local"},
                "role": "operator",
                "actor": "ada (token nightly)",
                "tokenId": "tok_01jabc",
                "tokenExpiresAt": "2027-03-01T12:00:00Z",
                "only": None,
            },
        )
    )
    def get(self, request: Request) -> Response:  # noqa: ARG002 - the framework passes it
        """The account, the role, the name, and until when the token is good."""
        return self.answer(_me(self.caller))


class SchemaView(ApiView):
    """`/schema`."""

    access: ClassVar[Access] = PUBLIC
    authentication_classes = ()

    @operation(
        Operation(
            id="getSchema", tag="account", summary="Read this description of the REST door", answer=OpenApiTypes.OBJECT
        )
    )
    def get(self, request: Request) -> Response:  # noqa: ARG002 - the framework passes it
        """OpenAPI 3.1 as JSON; public."""
        return self.answer(schema_document())


def _me(caller: Caller) -> dict[str, Any]:
    token = ApiToken.objects.filter(pk=caller.token_id).first() if caller.token_id else None
    return {
        "account": caller.account,
        "role": caller.role,
        "actor": caller.actor,
        "token_id": caller.token_id,
        "token_expires_at": token.expires_at if token else None,
        "only": caller.only,
    }
