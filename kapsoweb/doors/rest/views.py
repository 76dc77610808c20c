"""The base of every view of the REST door."""

from typing import Any, ClassVar, cast

from django.http import HttpRequest
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kapsoweb.accounts.caller import Caller
from kapsoweb.doors.access_rules import Access, hold
from kapsoweb.doors.cursors import make_cursor, read_cursor
from kapsoweb.doors.limits import JSON_BODY_BYTES
from kapsoweb.doors.rest.authentication import BearerAuthentication
from kapsoweb.doors.rest.bodies import ApiRequest, ExactTypes, JsonParser
from kapsoweb.doors.rest.errors import not_authenticated
from kapsoweb.doors.rest.operations import Operation, operation_of
from kapsoweb.doors.rest.serializers import NoQuery, StrictSerializer, read_query, read_values
from kapsoweb.foundation.canonical import digest
from kapsoweb.foundation.paging import Page


class ApiView(APIView):
    """Translates in, makes one call, translates out. Its methods are declared with `operation`, its rule in `access`.

    `body_bytes` is the most that a body may have.
    """

    access: ClassVar[Access]
    body_bytes: ClassVar[int] = JSON_BODY_BYTES
    http_method_names = ["get", "head", "post", "patch", "delete"]  # noqa: RUF012 - Django's own form
    authentication_classes: Any = (BearerAuthentication,)
    permission_classes = (AllowAny,)  # the rule is checked in `initial`, and what is done by the Workspace
    parser_classes: Any = (JsonParser,)
    content_negotiation_class = ExactTypes
    renderer_classes: Any = (JSONRenderer,)
    metadata_class = None
    query: dict[str, Any]

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:  # noqa: ARG002
        """The request with a body that is read once and under a limit."""
        return ApiRequest(
            request,
            parsers=self.get_parsers(),
            authenticators=self.get_authenticators(),
            negotiator=self.get_content_negotiator(),
            parser_context=self.get_parser_context(request),
        )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Know the caller, hold them to the rule of the address, and read the query."""
        super().initial(request, *args, **kwargs)
        rule = self.access
        if rule.needs is not None:
            if not isinstance(request.auth, Caller):
                raise not_authenticated()
            hold(rule, self.caller)
        declared = self._operation(request)
        if declared is not None:
            self.query = read_query(request._request, declared.query)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        """Nothing that the door answers may be stored on the way, and every refusal is JSON."""
        if getattr(response, "exception", False):
            request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
        final = super().finalize_response(request, response, *args, **kwargs)
        final.headers["Cache-Control"] = "no-store"
        return final

    @property
    def caller(self) -> Caller:
        """Whoever carries the token; only where `access` needs a role."""
        return cast("Caller", self.request.auth)

    def body(self) -> dict[str, Any]:
        """The values of the body, by their names inside. Raises `InvalidRequestError` and the parser's refusals."""
        declared = self._operation(self.request)
        if declared is None or declared.body is None:
            raise AssertionError("an operation whose body is read declares its form")
        return read_values(declared.body, self.request.data)

    def no_body(self) -> None:
        """Refuse a body with anything in it, where the address takes none."""
        read_values(NoQuery, self.request.data)

    def answer(self, value: Any = None, **extra: Any) -> Response:
        """The declared answer, written from a row or dataclass; `extra` are headers."""
        declared = self._operation(self.request)
        if declared is None:
            raise AssertionError("a method that answers is declared as an operation")
        form = declared.answer
        data = form(value).data if isinstance(form, type) and issubclass(form, StrictSerializer) else value
        return Response(data, status=declared.status, headers=extra or None)

    def cursor(self, of: str) -> Any:
        """The key that the query's cursor holds, or None at the beginning of the list. Raises `InvalidCursorError`."""
        cursor = self.query.get("cursor")
        return None if cursor is None else read_cursor(self.list_name(of), cursor)

    def page(self, page: Page[Any], of: str) -> Response:
        """A page of the list `of`, with the cursor of the next."""
        following = None if page.next is None else make_cursor(self.list_name(of), page.next)
        return self.answer({"items": page.rows, "next": following})

    def list_name(self, of: str) -> str:
        """What a cursor is good for: this list of this account, under these filters."""
        filters = {name: value for name, value in self.query.items() if name not in ("cursor", "limit")}
        return digest([of, self.caller.account.pk, dict(self.kwargs), filters])

    def _operation(self, request: Request) -> Operation | None:
        name = "get" if request.method == "HEAD" else str(request.method).lower()
        return operation_of(getattr(self, name, None)) if name in self.http_method_names else None
