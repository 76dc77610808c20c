"""The way into a lab for the person at its machine. Imported once Django is set up."""

from django.urls import reverse

from kapsoweb.accounts.actions import create_sign_in_link
from kapsoweb.accounts.queries import local_owner
from kapsoweb.foundation import clock
from kapsoweb.lab.address import HOST


def sign_in_address(port: int) -> str:
    """The address of a fresh sign-in link of the lab on `port`; it works once, within 12 hours."""
    path = reverse("pages:sign-in-by-link", args=[create_sign_in_link(clock.now())])
    return f"http://{HOST}:{port}{path}"


def way_in(port: int) -> str:
    """A line for the person at the machine: a fresh sign-in link, and what it does for whoever opens it."""
    does = "Become the lab's owner at" if local_owner() is None else "Sign in with"
    return f"{does} {sign_in_address(port)} (works once, within 12 hours)"
