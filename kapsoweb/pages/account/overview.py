"""A visitor's account: its name, their role, the other accounts that they belong to, and their password."""

from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from kapsoweb.accounts import queries
from kapsoweb.accounts.access import caller_of_user
from kapsoweb.accounts.actions.members import create_account, rename_account
from kapsoweb.accounts.caller import Door
from kapsoweb.accounts.errors import RecordNotFound
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access, access
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.pages.account.forms import ROLE_WORDS, AccountForm, NewAccountForm, NewPasswordForm
from kapsoweb.pages.callers import CHOSEN_ACCOUNT, caller_of


@access(needs=Role.VIEWER)
@require_safe
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    """The account that the visitor acts for, and the way to the others."""
    return _page(request, AccountForm(initial={"name": caller_of(request).account.name}), 200)


@access(needs=Role.VIEWER)
@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Act for another account of the visitor's from now on."""
    chosen = caller_of_user(request.user, Door.BROWSER, request.POST.get("account", ""))
    request.session[CHOSEN_ACCOUNT] = chosen.account.pk
    return redirect("pages:home")


@access(needs=Role.VIEWER)
@require_POST
def create(request: HttpRequest) -> HttpResponse:
    """Make an account, with the visitor as its owner, and act for it. They need be a member of none."""
    form = NewAccountForm(request.POST)
    if form.is_valid():
        user = User.objects.get(username=request.user.get_username())
        try:
            made = create_account(user, name=form.cleaned_data["name"], door=Door.BROWSER, now=clock.now())
        except KapsoError as error:
            form.refuse(error)
        else:
            request.session[CHOSEN_ACCOUNT] = made.pk
            return redirect("pages:account")
    return render(request, "account/none.html", {"new_form": form}, status=400)


@access(needs=Role.OWNER, whole_account=True)
@require_POST
def rename(request: HttpRequest) -> HttpResponse:
    """Give the account another name."""
    caller, form, status = caller_of(request), AccountForm(request.POST), 400
    if form.is_valid():
        try:
            rename_account(caller, name=form.cleaned_data["name"], now=clock.now())
        except KapsoError as error:
            form.refuse(error)
            status = STATUS_OF_KIND[error.kind]
        else:
            return redirect("pages:account")
    return _page(request, form, status)


class ChangePassword(PasswordChangeView):
    """Change the visitor's own password; their other visits end."""

    access = Access(needs=Role.VIEWER)
    template_name = "account/password.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("pages:account", query={"password": "changed"})


def _page(request: HttpRequest, name: AccountForm, status: int) -> HttpResponse:
    caller = caller_of(request)
    if caller.user_id is None:
        raise RecordNotFound("There is no account for a visitor who has not signed in; sign in first.")
    context = {
        "section": "account",
        "caller": caller,
        "role_words": ROLE_WORDS[caller.role],
        "is_owner": caller.role.allows(Role.OWNER),
        "places": queries.accounts_of(caller.user_id),
        "new_form": NewAccountForm(),
        "name_form": name,
        "password_changed": request.GET.get("password") == "changed",
    }
    return render(request, "account/account.html", context, status=status)
