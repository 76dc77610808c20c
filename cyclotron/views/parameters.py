"""What the pages read from a request: the record that its address names, and its parameters."""

from django.shortcuts import resolve_url
from django.views.decorators.http import require_http_methods

from kapsoweb.foundation.canonical import check_text
from kapsoweb.pages.addresses import with_parameters

get_or_post = require_http_methods(["GET", "HEAD", "POST"])


def classifier_name(name: str | None) -> str | None:
    """A classifier's name as a request gives it, or None for the cyclotron's first."""
    return check_text(name, "the classifier") if name else None


def address(view: str, *arguments: str, **parameters: str | None) -> str:
    """The address of a page with those parameters that have a value."""
    return with_parameters(resolve_url(view, *arguments), parameters)


def query(**parameters: str | None) -> str:
    """The end of an address: those parameters that have a value, or nothing."""
    return with_parameters("", parameters)
