"""Codes of a second factor: wrong ones are limited as wrong passwords are."""

from allauth.core import context
from allauth.mfa.base import forms
from django.core.exceptions import ValidationError

from backend.accounts.limits.throttle import TooOften
from backend.accounts.sign_in import guesses
from backend.problems import time_text


class _LimitedCode(forms.BaseAuthenticateForm):  # type: ignore[misc]
    is_signed_in: bool

    def clean_code(self) -> str:
        """The code, if it is right. Raises ValidationError, also after too many wrong ones."""
        guess = guesses.of_code(context.request, self.user, is_signed_in=self.is_signed_in)
        try:
            guesses.check(guess)
        except TooOften as refused:
            raise ValidationError(
                f"{refused} Try again in {time_text(refused.wait_s)}."
            ) from refused
        code: str = super().clean_code()
        return code


class CodeForm(_LimitedCode, forms.AuthenticateForm):  # type: ignore[misc]
    """The code that a sign-in asks for."""

    is_signed_in = False


class CodeAgainForm(_LimitedCode, forms.ReauthenticateForm):  # type: ignore[misc]
    """The code that is asked for before the account is changed."""

    is_signed_in = True
