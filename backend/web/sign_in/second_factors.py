"""Second factors: wrong codes are limited as wrong passwords are, and what is no answer of a
security key is refused."""

import struct
from typing import Any

from allauth.core import context
from allauth.mfa.base import forms
from allauth.mfa.webauthn import forms as key_forms
from cryptography.exceptions import UnsupportedAlgorithm
from django import forms as django_forms
from django.core.exceptions import ValidationError

from backend.accounts.limits.throttle import TooOften
from backend.accounts.sign_in import guesses
from backend.errors import InvalidInput, LoadsheetError
from backend.problems import time_text
from backend.untrusted.json.plain_json import read_json
from backend.untrusted.limits import PAGE_FORM_BYTES

ANSWER = "The answer of the security key"
# What fido2 raises for an answer of another form, beside what django-allauth refuses itself.
_OTHER_FORMS = (
    *(AssertionError, AttributeError, LookupError, NotImplementedError, OverflowError),
    *(RecursionError, TypeError, ValueError, UnsupportedAlgorithm, struct.error),
)


class BadAnswer(InvalidInput):
    """What a form carries is no answer of a security key."""

    def __init__(self) -> None:
        super().__init__(f"{ANSWER} cannot be read.", hint="Go back, and use the key again.")


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


class _AnswerField(django_forms.JSONField):
    """The answer of a security key, as the script of the page sends it."""

    widget = django_forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        """Raises JsonRefused, also for JSON that cannot be stored."""
        if value in self.empty_values:
            return None
        return read_json(value.encode(), limit_bytes=PAGE_FORM_BYTES, subject=ANSWER)


class _KeyForm(django_forms.Form):
    """Refuses an answer of another form, whatever reads it."""

    credential = _AnswerField()

    def full_clean(self) -> None:
        """Raises JsonRefused and BadAnswer."""
        try:
            super().full_clean()
        except LoadsheetError:
            raise
        except _OTHER_FORMS as fault:
            raise BadAnswer from fault


class KeyForm(_KeyForm, key_forms.AuthenticateWebAuthnForm):  # type: ignore[misc]
    """The key that a sign-in asks for."""


class KeyAgainForm(_KeyForm, key_forms.ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """The key that is asked for before the account is changed."""


class NewKeyForm(_KeyForm, key_forms.AddWebAuthnForm):  # type: ignore[misc]
    """A key to add to the account."""
