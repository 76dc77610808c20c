"""API tokens of the account: list them, make one, end one."""

from rest_framework.request import Request
from rest_framework.response import Response

from kapsoweb.accounts.actions.tokens import MAX_TOKEN_NAME, MOST_DAYS, create_token, revoke_token, tokens_of
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.key_pages import page_by_key
from kapsoweb.doors.rest.fields import TextField, TimeField, WholeNumberField, WordField
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.serializers import PageQuery, StrictSerializer, page_of
from kapsoweb.doors.rest.views import ApiView
from kapsoweb.foundation import clock

_TAG = "tokens"
_TOKEN = {
    "id": "tok_01jkm3x7e8r5v9z2q4t6w8y0ak",
    "name": "nightly import",
    "role": "operator",
    "room": "",
    "recordId": "",
    "beginning": "kapso_Xk3p9Q",
    "createdAt": "2026-03-01T12:00:00Z",
    "expiresAt": "2026-05-30T12:00:00Z",
    "revokedAt": None,
    "lastUsedAt": None,
}


class TokenRow(StrictSerializer):
    """A token without its secret, which nobody can read again."""

    id = TextField(max_length=40)
    name = TextField(max_length=MAX_TOKEN_NAME)
    role = WordField(Role)
    room = TextField(max_length=32, allow_blank=True, help_text="Of the one record that it reaches; empty for all.")
    record_id = TextField(max_length=64, allow_blank=True)
    beginning = TextField(max_length=16, help_text="The first characters of the secret, to know it by.")
    created_at = TimeField()
    expires_at = TimeField()
    revoked_at = TimeField(allow_null=True)
    last_used_at = TimeField(allow_null=True)


class NewToken(StrictSerializer):
    """A token to make, of a role that is not above the maker's."""

    name = TextField(max_length=MAX_TOKEN_NAME)
    role = WordField(Role)
    days = WholeNumberField(min_value=1, max_value=MOST_DAYS, help_text="How long it is good.")
    room = TextField(max_length=32, required=False, help_text="With `recordId`: the one record that it reaches.")
    record_id = TextField(max_length=64, required=False)


class MadeToken(TokenRow):
    """A token with its secret, which is shown this once."""

    secret = TextField(max_length=100, help_text="What `Authorization: Bearer` takes. It cannot be shown again.")


TokenPage = page_of(TokenRow, "TokenPage")


class TokensView(ApiView):
    """`/tokens`."""

    access = Access(needs=Role.VIEWER)

    @operation(
        Operation(
            id="listTokens",
            tag=_TAG,
            summary="List tokens",
            query=PageQuery,
            answer=TokenPage,
            gives={"items": [_TOKEN], "next": None},
        )
    )
    def get(self, request: Request) -> Response:  # noqa: ARG002 - the framework passes it
        """Newest first: one's own, and for an owner everybody's."""
        rows = tokens_of(self.caller)
        page = page_by_key(rows, "id", after=self.cursor("tokens"), limit=self.query["limit"], newest_first=True)
        return self.page(page, "tokens")

    @operation(
        Operation(
            id="createToken",
            tag=_TAG,
            summary="Make a token",
            body=NewToken,
            answer=MadeToken,
            status=201,
            statuses=(404,),
            sends={"name": "nightly import", "role": "operator", "days": 90},
            gives={**_TOKEN, "secret": "kapso_Xk3p9Q..."},
            keeps_answer=False,
        )
    )
    def post(self, request: Request) -> Response:  # noqa: ARG002 - the framework passes it
        """Its role may not be above the caller's. The secret is in this answer and nowhere else: the answer is not kept
        for an `Idempotency-Key`, so the same key again gets `idempotency-answer-not-kept` and makes no second token."""
        values = self.body()
        role = Role(values.pop("role"))
        token, secret = create_token(self.caller, role=role, now=clock.now(), **values)
        return self.answer({**{name: getattr(token, name) for name in _SHOWN}, "secret": secret})


class TokenView(ApiView):
    """`/tokens/{id}`."""

    access = Access(needs=Role.VIEWER, record="token_id")

    @operation(Operation(id="revokeToken", tag=_TAG, summary="End a token", status=204))
    def delete(self, request: Request, token_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """At once and for ever. One's own, and for an owner everybody's."""
        self.no_body()
        revoke_token(self.caller, token_id, now=clock.now())
        return self.answer()


_SHOWN = (
    "id",
    "name",
    "role",
    "room",
    "record_id",
    "beginning",
    "created_at",
    "expires_at",
    "revoked_at",
    "last_used_at",
)
