"""Codes of a second factor: wrong ones are limited as wrong passwords are."""

from __future__ import annotations

import math

from allauth.core import context
from allauth.mfa.base import forms
from django.core.exceptions import ValidationError

from backend.accounts import throttle
from backend.accounts.models import User


def account_of_codes(user: User) -> str:
    """What wrong codes count for: who guesses passwords shall not keep the owner from a code."""
    return f"codes of {user.pk}"


def _refuse_after_wrong_codes(user: User) -> None:
    address = throttle.address_of(context.request.META)
    if wait_s := throttle.seconds_until_sign_in(address, account_of_codes(user)):
        raise ValidationError(
            "Too many wrong codes or passwords came within an hour from your address, for this "
            f"account, or in all. Try again in {math.ceil(wait_s / 60)} minutes."
        )


class CodeForm(forms.AuthenticateForm):  # type: ignore[misc]
    """The code that a sign-in asks for."""

    def clean_code(self) -> str:
        _refuse_after_wrong_codes(self.user)
        code: str = super().clean_code()
        return code


class CodeAgainForm(forms.ReauthenticateForm):  # type: ignore[misc]
    """The code that is asked for before the account is changed."""

    def clean_code(self) -> str:
        _refuse_after_wrong_codes(self.user)
        code: str = super().clean_code()
        return code
