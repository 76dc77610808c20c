"""The members of an account: the list with its invitations, another role, and the way out."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from kapsoweb.accounts import queries
from kapsoweb.accounts.actions import invitations as inviting
from kapsoweb.accounts.actions import members as changing
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.pages.account.forms import InvitationForm, RoleForm
from kapsoweb.pages.account.listing import listed
from kapsoweb.pages.callers import CHOSEN_ACCOUNT, caller_of

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


def _page(
    request: HttpRequest, form: InvitationForm, status: int, *, link: str = "", refusal: KapsoError | None = None
) -> HttpResponse:
    caller = caller_of(request)
    rows = queries.members(caller)
    page = listed(request, rows, reverse("pages:members"))
    context = {
        "section": "members",
        "caller": caller,
        "is_owner": caller.role.allows(Role.OWNER),
        "total": rows.count(),
        "page": page,
        "rows": [{"member": member, "own": member.user_id == caller.user_id} for member in page.rows],
        "roles": [role.value for role in Role],
        "form": form,
        "link": link,
        "refusal": refusal,
        **_invitations(request, caller),
    }
    return render(request, "account/members.html", context, status=status)


def _invitations(request: HttpRequest, caller: Caller) -> dict[str, object]:
    """The account's invitations for an owner, and which of them can still be followed."""
    if not caller.role.allows(Role.OWNER):
        return {}
    page = listed(
        request,
        queries.invitations(caller).select_related("user"),
        reverse("pages:members"),
        after="invitations-after",
        newest_first=True,
    )
    now = clock.now()
    usable = queries.open_invitations(now).filter(pk__in=[row.pk for row in page.rows])
    open_ids = set(usable.values_list("pk", flat=True))
    rows = [{"row": row, "open": row.pk in open_ids, "expired": row.expires_at <= now} for row in page.rows]
    return {"invitations_page": page, "invitations": rows}


def _refused(request: HttpRequest, error: KapsoError) -> HttpResponse:
    if error.kind is Kind.MISSING:
        raise error
    return _page(request, InvitationForm(), STATUS_OF_KIND[error.kind], refusal=error)
