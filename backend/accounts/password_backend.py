"""Signing in with a password: the same work whether the account exists or not.

Sessions store the dotted path of this backend: moved, it would sign everybody out.
"""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from allauth.account.internal.userkit import filter_users_by_email, get_user_by_username
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest


def account_named(typed: str) -> AbstractBaseUser | None:
    """The account that a user name or an email address means, as it was typed.

    An address comes first, and whoever confirmed it; without a confirmation, the oldest account
    that has it. So nobody takes an address or a user name from the person who had it.
    """
    users = filter_users_by_email(typed, prefer_verified=True, for_login=True)
    if users:
        return min(users, key=lambda user: user.date_joined)  # type: ignore[no-any-return]
    return get_user_by_username(typed)  # type: ignore[no-any-return]


class PasswordBackend(AuthenticationBackend):  # type: ignore[misc]
    """As allauth's, but what was typed is looked up once, as an email address or a user name.

    allauth's looks for an address twice, and checks the password both times: so the time told
    which addresses have an account. Where there is none, the base class hashes a password too.
    """

    def _authenticate(
        self, request: HttpRequest | None, **credentials: Any
    ) -> AbstractBaseUser | None:
        typed = credentials.get("email") or credentials.get("username") or ""
        return self._check_password(account_named(typed), credentials.get("password") or "")  # type: ignore[no-any-return]
