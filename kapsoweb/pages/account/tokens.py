"""API tokens: the list, a new one, and ending one."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from kapsoweb.accounts.access import access_all
from kapsoweb.accounts.actions.tokens import create_token, revoke_token, tokens_of
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.models import ApiToken
from kapsoweb.accounts.roles import Role, lesser
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.pages.account.forms import TokenForm
from kapsoweb.pages.account.listing import listed
from kapsoweb.pages.callers import caller_of


@access(needs=Role.VIEWER)
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """The list; posting makes a token, and shows its secret once."""
    caller = caller_of(request)
    if request.method != "POST":
        return _page(request, _form(caller), 200)
    form, status = TokenForm(caller, list(access_all(caller)), request.POST), 400
    if form.is_valid():
        given = form.cleaned_data
        room, _, record_id = given["record"].partition(":")
        try:
            token, secret = create_token(
                caller,
                name=given["name"],
                role=Role(given["role"]),
                days=given["days"],
                room=room,
                record_id=record_id,
                now=clock.now(),
            )
        except KapsoError as error:
            form.refuse(error)
            status = STATUS_OF_KIND[error.kind]
        else:
            return _page(request, _form(caller), 200, made=token, secret=secret)
    return _page(request, form, status)


@access(needs=Role.VIEWER)
@require_POST
def revoke(request: HttpRequest, token_id: str) -> HttpResponse:
    """End a token at once."""
    revoke_token(caller_of(request), token_id, now=clock.now())
    return redirect("pages:tokens")


def _form(caller: Caller) -> TokenForm:
    """A form for the next token, which is seldom to manage members."""
    return TokenForm(caller, list(access_all(caller)), initial={"role": lesser(caller.role, Role.OPERATOR).value})


def _page(
    request: HttpRequest, form: TokenForm, status: int, *, made: ApiToken | None = None, secret: str = ""
) -> HttpResponse:
    caller = caller_of(request)
    now = clock.now()
    rows = tokens_of(caller).select_related("user")
    page = listed(request, rows, reverse("pages:tokens"), newest_first=True)
    held = access_all(caller).filter(record_id__in={token.record_id for token in page.rows} - {""})
    names = dict(held.values_list("record_id", "name"))
    context = {
        "section": "tokens",
        "is_owner": caller.role.allows(Role.OWNER),
        "page": page,
        "rows": [
            {"token": token, "state": token.state_at(now), "reaches": names.get(token.record_id, token.record_id)}
            for token in page.rows
        ],
        "form": form,
        "made": made,
        "secret": secret,
        "base": request.build_absolute_uri("/"),
    }
    return render(request, "account/tokens.html", context, status=status)
