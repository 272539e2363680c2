"""Signing in with a password: the same work whether the account exists or not.

Sessions store the dotted path of this backend: moved, it would sign everybody out.
"""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from allauth.account.internal.userkit import filter_users_by_email, get_user_by_username
from allauth.account.models import EmailAddress
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


def account_named(typed: str) -> AbstractBaseUser | None:
    """The account that a user name or an email address means, as it was typed.

    Whoever confirmed the address comes first, then the user name, then the oldest account that has
    the address unconfirmed. So nobody takes a name that somebody uses by claiming it.
    """
    confirmed = EmailAddress.objects.filter(email=typed.lower(), verified=True)
    if (address := confirmed.select_related("user").first()) is not None:
        return address.user  # type: ignore[no-any-return]
    if (named := get_user_by_username(typed)) is not None:
        return named  # type: ignore[no-any-return]
    users = filter_users_by_email(typed, for_login=True)
    return min(users, key=lambda user: user.date_joined, default=None)


class PasswordBackend(AuthenticationBackend):  # type: ignore[misc]
    """As allauth's, but what was typed means one account (`account_named`).

    allauth's looks for an address twice, and checks the password both times: so the time told
    which addresses have an account. Where there is none, the base class hashes a password too.
    """

    def authenticate(
        self, request: HttpRequest | None, **credentials: Any
    ) -> AbstractBaseUser | None:
        """Raises PermissionDenied for a wrong password: Django then asks no other backend."""
        user: AbstractBaseUser | None = super().authenticate(request, **credentials)
        if user is None:
            raise PermissionDenied
        return user

    def _authenticate(
        self, request: HttpRequest | None, **credentials: Any
    ) -> AbstractBaseUser | None:
        # Who is asked again is named by both, and has an address that others may have claimed.
        typed = credentials.get("username") or credentials.get("email") or ""
        return self._check_password(account_named(typed), credentials.get("password") or "")  # type: ignore[no-any-return]
