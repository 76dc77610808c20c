"""The way into a lab for the person at its machine. Imported once Django is set up."""

from django.urls import reverse

from kapsoweb.accounts.actions import create_sign_in_link
from kapsoweb.foundation import clock
from kapsoweb.lab.address import HOST


def sign_in_address(port: int) -> str:
    """The address of a fresh sign-in link of the lab on `port`; it works once, within 12 hours."""
    path = reverse("pages:sign-in-by-link", args=[create_sign_in_link(clock.now())])
    return f"http://{HOST}:{port}{path}"
