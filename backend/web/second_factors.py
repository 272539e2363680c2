"""Codes of a second factor: wrong ones are limited as wrong passwords are."""

import math

from allauth.core import context
from allauth.mfa.base import forms
from django.core.exceptions import ValidationError

from backend.accounts import throttle


class _LimitedCode(forms.BaseAuthenticateForm):  # type: ignore[misc]
    proof: str

    def clean_code(self) -> str:
        """The code, if it is right. Raises ValidationError, also after too many wrong ones."""
        address = throttle.address_of(context.request.META)
        if wait_s := throttle.seconds_until_sign_in(address, str(self.user.pk), proof=self.proof):
            raise ValidationError(
                "Too many wrong codes or passwords came within an hour from your address, for "
                f"this account, or in total. Try again in {math.ceil(wait_s / 60)} minutes."
            )
        code: str = super().clean_code()
        return code


class CodeForm(_LimitedCode, forms.AuthenticateForm):  # type: ignore[misc]
    """The code that a sign-in asks for."""

    proof = throttle.CODE


class CodeAgainForm(_LimitedCode, forms.ReauthenticateForm):  # type: ignore[misc]
    """The code that is asked for before the account is changed."""

    proof = throttle.CODE_AGAIN
