"""New users."""

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from kapsoweb.accounts.errors import UserNameTakenError


def save_new_user(user: User) -> None:
    """Save somebody who chose a name that was free a moment ago; raises `UserNameTakenError` when it no longer is."""
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError:
        raise UserNameTakenError(
            "somebody took this user name in between; choose another one.", field="username"
        ) from None
