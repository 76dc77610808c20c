"""Following an invitation, for whoever has its link."""

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from kapsoweb.accounts.actions.invitations import accept_invitation, open_invitation
from kapsoweb.accounts.errors import AlreadyMemberError, InvitationError, UserNameTakenError
from kapsoweb.accounts.models import Invitation
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.pages.account.forms import NewUserForm
from kapsoweb.pages.addresses import with_parameters
from kapsoweb.pages.callers import CHOSEN_ACCOUNT

_BACKEND = "django.contrib.auth.backends.ModelBackend"


@access(needs=None)
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Somebody signed in joins by a button; a stranger gives a user name and a password."""
    try:
        found = open_invitation(secret, clock.now())
        return _asked(request, found) if request.method != "POST" else _joined(request, found, secret)
    except InvitationError as error:
        status = STATUS_OF_KIND[error.kind]
        return render(request, "account/invitation_refused.html", {"error": error}, status=status)


def _joined(request: HttpRequest, found: Invitation, secret: str) -> HttpResponse:
    form = NewUserForm(request.POST) if _is_stranger(request) else None
    if form is not None and not form.is_valid():
        return _asked(request, found, form, status=400)
    user = form.save(commit=False) if form is not None else User.objects.get(username=request.user.get_username())
    try:
        member = accept_invitation(secret, user, clock.now())
    except (AlreadyMemberError, UserNameTakenError) as error:
        if form is None:
            return _asked(request, found, error=error, status=STATUS_OF_KIND[error.kind])
        form.refuse(error)
        return _asked(request, found, form, status=STATUS_OF_KIND[error.kind])
    if form is not None:
        login(request, user, backend=_BACKEND)
    request.session[CHOSEN_ACCOUNT] = member.account_id
    return redirect("pages:home")


def _asked(
    request: HttpRequest,
    found: Invitation,
    form: NewUserForm | None = None,
    *,
    error: KapsoError | None = None,
    status: int = 200,
) -> HttpResponse:
    stranger = _is_stranger(request)
    context = {
        "invitation": found,
        "stranger": stranger,
        "form": form or (NewUserForm() if stranger else None),
        "error": error,
        "sign_in": with_parameters(reverse("pages:sign-in"), {"next": request.path}),
    }
    return render(request, "account/invitation.html", context, status=status)


def _is_stranger(request: HttpRequest) -> bool:
    return not request.user.is_authenticated
