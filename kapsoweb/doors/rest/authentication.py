"""Who is at the REST door: whoever carries an API token in `Authorization: Bearer TOKEN`. Cookies mean nothing here."""

from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from kapsoweb.accounts.access import caller_of_token
from kapsoweb.accounts.caller import Caller, Door
from kapsoweb.doors.errors import CHALLENGE
from kapsoweb.foundation import clock


class BearerAuthentication(BaseAuthentication):
    """`request.auth` is the `Caller`; `request.user` stays a visitor, for a token is no session."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Caller] | None:
        """The caller; None where no bearer token was sent. Raises `UnknownTokenError`."""
        scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        return AnonymousUser(), caller_of_token(secret.strip(), Door.REST, clock.now())

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - the framework passes it
        """The challenge of a 401."""
        return CHALLENGE
