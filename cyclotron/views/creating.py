"""Creating a cyclotron."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from cyclotron.core.definition import CyclotronDefinition
from cyclotron.store import ROOM, store_of
from cyclotron.views.create_form import MORE, CreateForm
from cyclotron.views.parameters import get_or_post
from cyclotron.workspace import Workspace
from kapsoweb.accounts.access import access_record_by_name
from kapsoweb.accounts.errors import NameTakenError
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.pages.callers import caller_of


@access(needs=Role.OPERATOR, whole_account=True)
@get_or_post
def create(request: HttpRequest) -> HttpResponse:
    """The form, and the cyclotron made of it. The same form sent twice is one cyclotron and leads to it both times."""
    caller = caller_of(request)
    caller.require_whole_account(Role.OPERATOR)
    if request.method != "POST":
        return _page(request, CreateForm(), 200)
    form = CreateForm(request.POST)
    if not form.is_valid():
        return _page(request, form, 400)
    workspace = Workspace(caller)
    name, definition = form.cleaned_data["name"], form.cleaned_data["definition"]
    try:
        made = workspace.create(name=name, definition=definition).id
    except NameTakenError as error:
        same = _same(workspace, name, definition)
        if same is None:
            return _refused(request, form, error)
        made = same
    except KapsoError as error:
        return _refused(request, form, error)
    return redirect("cyclotron:detail", made)


def _same(workspace: Workspace, name: str, definition: CyclotronDefinition) -> str | None:
    """The id of the cyclotron of that name if it is what the form describes."""
    holding = access_record_by_name(workspace.caller, ROOM, name)
    stored = store_of(holding).cyclotron()
    return holding.record_id if stored.fingerprint == definition.fingerprint else None


def _refused(request: HttpRequest, form: CreateForm, error: KapsoError) -> HttpResponse:
    form.refuse(error)
    return _page(request, form, STATUS_OF_KIND[error.kind])


def _page(request: HttpRequest, form: CreateForm, status: int) -> HttpResponse:
    more = [form[name] for name in MORE]
    return render(request, "cyclotron/create.html", {"form": form, "more": more}, status=status)
