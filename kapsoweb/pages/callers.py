"""Who is at the browser: the signed-in user, in the account that they last chose."""

from django.http import HttpRequest

from kapsoweb.accounts.access import caller_of_user
from kapsoweb.accounts.caller import Caller, Door
from kapsoweb.accounts.errors import RecordNotFound

CHOSEN_ACCOUNT = "account"  # the session's key


def caller_of(request: HttpRequest, door: Door = Door.BROWSER) -> Caller:
    """The caller behind a page's request; raises `RecordNotFound` for somebody who is a member of no account.

    A chosen account that the user has left since is forgotten, and the first of theirs takes its place.
    """
    chosen = request.session.get(CHOSEN_ACCOUNT)
    try:
        return caller_of_user(request.user, door, chosen)
    except RecordNotFound:
        if chosen is None:
            raise
    del request.session[CHOSEN_ACCOUNT]
    return caller_of_user(request.user, door)
