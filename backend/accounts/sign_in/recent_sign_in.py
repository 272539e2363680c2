"""Whether the person behind a session proved lately who it is.

Asked before acts by which somebody who took over a session would stay, or would do lasting harm.
"""

import time

from allauth.account import app_settings
from allauth.account.internal.flows import reauthentication
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest

# In the session.
SIGNED_IN_AT = "signed_in_at"


@receiver(user_logged_in)
def remember_sign_in(*, request: HttpRequest, **_: object) -> None:
    """Remember when a session began, by whatever form or link; it lasts longer than a visit."""
    request.session.set_expiry(None)
    request.session[SIGNED_IN_AT] = time.time()


def began_lately(request: HttpRequest) -> bool:
    """Whether the session itself began at most ACCOUNT_REAUTHENTICATION_TIMEOUT ago.

    django-allauth counts only a password, code or key that was given again afterwards. So it would
    ask for the password right after the password.
    """
    age_s = time.time() - request.session.get(SIGNED_IN_AT, 0.0)
    return bool(age_s < app_settings.REAUTHENTICATION_TIMEOUT)


def is_proof_needed(request: HttpRequest) -> bool:
    """Whether password, code or key must be given again. Accounts that have none need none."""
    return bool(reauthentication.is_reauthentication_required(request, app=""))


def require(request: HttpRequest) -> None:
    """Raise what leads a page to the form for the password, and then on with what was sent."""
    reauthentication.raise_if_reauthentication_required(request, app="")
