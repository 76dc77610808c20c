"""The members of an account, and the invitations to it."""

from urllib.parse import urlencode

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from kapsoweb.accounts import queries
from kapsoweb.accounts.actions import invitations as inviting
from kapsoweb.accounts.actions import members as changing
from kapsoweb.accounts.errors import AlreadyMemberError, InvitationError
from kapsoweb.accounts.models import Membership
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.pages.account.forms import InvitationForm, NewUserForm, RoleForm
from kapsoweb.pages.callers import CHOSEN_ACCOUNT, caller_of

_BACKEND = "django.contrib.auth.backends.ModelBackend"
_get_or_post = require_http_methods(["GET", "HEAD", "POST"])


@access(needs=Role.VIEWER, whole_account=True)
@_get_or_post
@never_cache
def members(request: HttpRequest) -> HttpResponse:
    """The list; posting invites somebody, and shows the link once."""
    caller = caller_of(request)
    if request.method != "POST":
        return _page(request, InvitationForm(), 200)
    form, status = InvitationForm(request.POST), 400
    if form.is_valid():
        given = form.cleaned_data
        try:
            _, secret = inviting.invite(
                caller, role=Role(given["role"]), note=given["note"], days=given["days"], now=clock.now()
            )
        except KapsoError as error:
            form.refuse(error)
            status = STATUS_OF_KIND[error.kind]
        else:
            link = request.build_absolute_uri(reverse("pages:invitation", args=[secret]))
            return _page(request, InvitationForm(), 200, link=link)
    return _page(request, form, status)


@access(needs=Role.OWNER, whole_account=True)
@require_POST
def change_role(request: HttpRequest, member_id: int) -> HttpResponse:
    """Give a member another role."""
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _page(request, InvitationForm(), 400)
    try:
        changing.change_role(caller_of(request), member_id, role=Role(form.cleaned_data["role"]), now=clock.now())
    except KapsoError as error:
        return _refused(request, error)
    return redirect("pages:members")


@access(needs=Role.VIEWER, whole_account=True)
@_get_or_post
@never_cache
def remove(request: HttpRequest, member_id: int) -> HttpResponse:
    """Ask for the member's name, for a removal cannot be undone; the visitor's own leads out of the account."""
    caller = caller_of(request)
    member = queries.members(caller).filter(pk=member_id).first()
    if member is None:
        return _refused(request, changing.no_member(member_id))
    own = member.user_id == caller.user_id
    wrong = request.method == "POST" and request.POST.get("name", "") != member.user.get_username()
    if request.method != "POST" or wrong:
        if not own:
            caller.require_whole_account(Role.OWNER)
        context = {"section": "members", "member": member, "own": own, "wrong": wrong}
        return render(request, "account/remove.html", context, status=400 if wrong else 200)
    try:
        changing.remove_member(caller, member_id, now=clock.now())
    except KapsoError as error:
        return _refused(request, error)
    if own:
        request.session.pop(CHOSEN_ACCOUNT, None)
        return redirect("pages:home")
    return redirect("pages:members")


@access(needs=Role.OWNER, whole_account=True)
@require_POST
def revoke(request: HttpRequest, invitation_id: str) -> HttpResponse:
    """End an invitation."""
    inviting.revoke_invitation(caller_of(request), invitation_id, now=clock.now())
    return redirect("pages:members")


@access(needs=None)
@login_not_required
@_get_or_post
@never_cache
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Follow an invitation: somebody signed in joins by a button; a stranger gives a user name and a password."""
    try:
        found = inviting.open_invitation(secret, clock.now())
    except InvitationError as error:
        return render(request, "account/invitation_refused.html", {"error": error}, status=403)
    stranger = not request.user.is_authenticated
    form = NewUserForm(request.POST if stranger and request.method == "POST" else None)
    context = {"invitation": found, "form": form, "stranger": stranger, "error": None}
    back = urlencode({"next": request.path}, safe="/")
    context["sign_in"] = f"{reverse('pages:sign-in')}?{back}"
    if request.method != "POST":
        return render(request, "account/invitation.html", context)
    if stranger and not form.is_valid():
        return render(request, "account/invitation.html", context, status=400)
    user = form.save(commit=False) if stranger else _user(request)
    try:
        member = inviting.accept_invitation(secret, user, clock.now())
    except AlreadyMemberError as error:
        return render(request, "account/invitation.html", {**context, "error": error}, status=409)
    except InvitationError as error:
        return render(request, "account/invitation_refused.html", {"error": error}, status=403)
    if stranger:
        login(request, user, backend=_BACKEND)
    request.session[CHOSEN_ACCOUNT] = member.account_id
    return redirect("pages:home")


def _user(request: HttpRequest) -> User:
    return User.objects.get(username=request.user.get_username())


def _page(
    request: HttpRequest, form: InvitationForm, status: int, *, link: str = "", refusal: KapsoError | None = None
) -> HttpResponse:
    caller = caller_of(request)
    is_owner = caller.role.allows(Role.OWNER)
    now = clock.now()
    context = {
        "section": "members",
        "caller": caller,
        "is_owner": is_owner,
        "members": [_row(member, caller.user_id) for member in queries.members(caller)],
        "invitations": [
            {"row": row, "open": row.used_at is None and row.revoked_at is None and row.expires_at > now}
            for row in (queries.invitations(caller)[:50] if is_owner else ())
        ],
        "form": form,
        "link": link,
        "refusal": refusal,
    }
    return render(request, "account/members.html", context, status=status)


def _row(member: Membership, user_id: int | None) -> dict[str, object]:
    return {"member": member, "own": member.user_id == user_id, "form": RoleForm(initial={"role": member.role})}


def _refused(request: HttpRequest, error: KapsoError) -> HttpResponse:
    if error.kind is Kind.MISSING:
        raise error
    return _page(request, InvitationForm(), STATUS_OF_KIND[error.kind], refusal=error)
