"""Addresses that take a form and show nothing of their own."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from cyclotron.views.parameters import address, classifier_name
from cyclotron.workspace import Workspace
from kapsoweb.pages.callers import caller_of

View = Callable[..., HttpResponse]


def takes_a_form(page: str, *kept: str) -> Callable[[View], View]:
    """A view that changes something, and so only by POST; `kept` arguments of its address are also those of `page`.

    A browser asks for such an address by GET when its visit had ended and somebody signed in again: the sign-in page
    leads back to wherever the form was sent. They find the page that the form was on, and nothing is changed.
    """

    def decorator(view: View) -> View:
        @require_http_methods(["GET", "HEAD", "POST"])
        @wraps(view)
        def either(request: HttpRequest, cyclotron_id: str, **arguments: Any) -> HttpResponse:
            if request.method == "POST":
                return view(request, cyclotron_id, **arguments)
            Workspace(caller_of(request)).open(cyclotron_id)
            classifier = classifier_name(request.GET.get("classifier"))
            return redirect(address(page, cyclotron_id, *(str(arguments[key]) for key in kept), classifier=classifier))

        return either

    return decorator
