"""API tokens: the list, a new one, and ending one."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from kapsoweb.accounts.access import access_all
from kapsoweb.accounts.actions.tokens import create_token, revoke_token, tokens_of
from kapsoweb.accounts.models import ApiToken
from kapsoweb.accounts.roles import Role, lesser
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.pages.account.forms import TokenForm
from kapsoweb.pages.callers import caller_of

_MOST_SHOWN = 200


@access(needs=Role.VIEWER)
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """The list; posting makes a token, and shows its secret once."""
    caller = caller_of(request)
    holdings = list(access_all(caller))
    if request.method != "POST":
        return _page(
            request, TokenForm(caller, holdings, initial={"role": lesser(caller.role, Role.OPERATOR).value}), 200
        )
    form, status = TokenForm(caller, holdings, request.POST), 400
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
            fresh = TokenForm(caller, holdings, initial={"role": lesser(caller.role, Role.OPERATOR).value})
            return _page(request, fresh, 200, made=token, secret=secret)
    return _page(request, form, status)


@access(needs=Role.VIEWER)
@require_POST
def revoke(request: HttpRequest, token_id: str) -> HttpResponse:
    """End a token at once."""
    revoke_token(caller_of(request), token_id, now=clock.now())
    return redirect("pages:tokens")


def _page(
    request: HttpRequest, form: TokenForm, status: int, *, made: ApiToken | None = None, secret: str = ""
) -> HttpResponse:
    caller = caller_of(request)
    now = clock.now()
    names = {held.record_id: held.name for held in access_all(caller)}
    rows = [
        {
            "token": token,
            "state": "revoked" if token.revoked_at else "expired" if token.expires_at <= now else "good",
            "reaches": names.get(token.record_id, token.record_id),
        }
        for token in tokens_of(caller).select_related("user")[:_MOST_SHOWN]
    ]
    context = {
        "section": "tokens",
        "caller": caller,
        "is_owner": caller.role.allows(Role.OWNER),
        "rows": rows,
        "form": form,
        "made": made,
        "secret": secret,
        "base": request.build_absolute_uri("/"),
    }
    return render(request, "account/tokens.html", context, status=status)
