"""Signing in by one-time link or by name and password, signing out, and the way home."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRedirect

from kapsoweb.accounts.actions import create_first_owner, use_sign_in_link
from kapsoweb.accounts.actions.signing_in import check_sign_in_link
from kapsoweb.accounts.errors import OwnerExistsError, RecordNotFound, SignInLinkError, UserNameTakenError
from kapsoweb.accounts.queries import local_owner
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import PUBLIC, access
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.pages.account.forms import NewAccountForm, NewUserForm
from kapsoweb.pages.callers import caller_of


class SignIn(LoginView):
    """A form for name and password; `next` is followed within this site only (Django's own check)."""

    access = PUBLIC
    template_name = "pages/sign_in.html"
    authentication_form = AuthenticationForm
    redirect_authenticated_user = True

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """The form. A part of a page whose visit has ended sends the browser here instead of showing the form in it."""
        if request.htmx:  # type: ignore[attr-defined]  # django-htmx puts it there
            query = urlencode({"next": request.htmx.current_url_abs_path or "/"}, safe="/")  # type: ignore[attr-defined]
            return HttpResponseClientRedirect(f"{request.path}?{query}")
        return super().get(request, *args, **kwargs)


class SignOut(LogoutView):
    """End the visit. Anybody may: whoever has none is shown the sign-in page."""

    access = PUBLIC
    next_page = "pages:sign-in"


@access(needs=None)
@login_not_required
@require_http_methods(["GET", "POST"])
@never_cache
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Spend a one-time token and go home as the lab's owner; a token that is unknown, used or too old says so (403).

    The first visitor becomes the owner: the link then shows a form, and is spent when that is sent and right.
    """
    try:
        if local_owner() is None:
            check_sign_in_link(token, clock.now())
            form = NewUserForm(request.POST if request.method == "POST" else None)
            if request.method != "POST" or not form.is_valid():
                return _first_owner(request, form, 400 if form.errors else 200)
            user = create_first_owner(token, form.save(commit=False), clock.now())
        else:
            user = use_sign_in_link(token, clock.now())
    except UserNameTakenError as error:
        form.refuse(error)
        return _first_owner(request, form, STATUS_OF_KIND[error.kind])
    except (SignInLinkError, OwnerExistsError) as error:
        return render(
            request, "pages/sign_in_refused.html", {"message": error.message, "error_id": error.id}, status=403
        )
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("pages:home")


def _first_owner(request: HttpRequest, form: NewUserForm, status: int) -> HttpResponse:
    return render(request, "pages/first_owner.html", {"form": form}, status=status)


@access(needs=Role.VIEWER)
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """A visit begins in the first room; somebody who is a member of no account learns what to do."""
    try:
        caller_of(request)
    except RecordNotFound:
        return render(request, "account/none.html", {"new_form": NewAccountForm()})
    return redirect("cyclotron:list")
