"""The form that signs in, and the one-time sign-in link."""

from typing import Any

from allauth.account.forms import LoginForm
from allauth.account.views import LoginView
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_GET

from backend.accounts.tokens import tokens
from backend.links import link_to, own_path
from backend.web.base.errors import message

HINT = "Create another one on the server: manage.py sign_in_link"


# Not HEAD: a link preview must not use up the link.
@require_GET
def sign_in(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in with the link, then redirect to the page it was made for."""
    try:
        user = tokens.redeem_link(token)
    except tokens.TokenRefused as refused:
        return _refused(request, str(refused))
    if not user.is_active:
        return _refused(request, "This account is closed.")
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
    # Listed with the other sessions, so that its user can end it.
    UserSession.objects.create_from_request(request)
    return HttpResponseRedirect(_next_page(request))


def _refused(request: HttpRequest, reason: str) -> HttpResponse:
    # Opening the link again in the same browser leads to the page.
    if request.user.is_authenticated:
        return HttpResponseRedirect(_next_page(request))
    return message(
        request, 410, title="This sign-in link no longer works", sentence=reason, hint=HINT
    )


def _next_page(request: HttpRequest) -> str:
    return own_path(request.GET.get("next", ""), link_to("home"))


class SignInForm(LoginForm):  # type: ignore[misc]
    """allauth's, with a label that says what to type."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.fields["login"].label = "Username or email"


class SignInPage(LoginView):  # type: ignore[misc]
    """The form, with what somebody without an account can do."""

    form_class = SignInForm

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        more = {"is_sign_up_open": settings.OPEN_SIGN_UP, "is_local": settings.LOCAL_SITE}
        shown: dict[str, Any] = super().get_context_data(**context, **more)
        return shown
