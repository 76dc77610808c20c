"""Signing in by one-time link or by name and password, signing out, and the way home."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_safe
from django_htmx.http import HttpResponseClientRedirect

from kapsoweb.accounts.actions import use_sign_in_link
from kapsoweb.accounts.errors import SignInLinkError
from kapsoweb.foundation import clock


class SignIn(LoginView):
    """A form for name and password; `next` is followed within this site only (Django's own check)."""

    template_name = "pages/sign_in.html"
    authentication_form = AuthenticationForm
    redirect_authenticated_user = True

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """The form. A part of a page whose visit has ended sends the browser here instead of showing the form in it."""
        if request.htmx:  # type: ignore[attr-defined]  # django-htmx puts it there
            query = urlencode({"next": request.htmx.current_url_abs_path or "/"}, safe="/")  # type: ignore[attr-defined]
            return HttpResponseClientRedirect(f"{request.path}?{query}")
        return super().get(request, *args, **kwargs)


@login_not_required
@require_GET
@never_cache
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Spend a one-time token and go home; a token that is unknown, used or too old says so with 403."""
    try:
        user = use_sign_in_link(token, clock.now())
    except SignInLinkError as error:
        return render(
            request, "pages/sign_in_refused.html", {"message": error.message, "error_id": error.id}, status=403
        )
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("pages:home")


@require_safe
def home(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 - Django passes it
    """The only room that exists is where a visit begins."""
    return redirect("cyclotron:list")
