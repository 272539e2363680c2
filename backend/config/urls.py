"""Where each part of the site begins."""

from allauth.account import views as allauth
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import include, path

from backend.api.urls import VERSION_ROOT
from backend.config import health


def closed(request: HttpRequest, page: str) -> HttpResponse:
    """No sign-up and no password reset: accounts are made on the server, which sends no mail."""
    raise Http404


urlpatterns = [
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("accounts/login/", allauth.login, name="account_login"),
    path("accounts/logout/", allauth.logout, name="account_logout"),
    path("accounts/inactive/", allauth.account_inactive, name="account_inactive"),
    path("accounts/<path:page>", closed),
    # Only for the names that allauth's own views look up.
    path("accounts/", include("allauth.account.urls")),
    path(VERSION_ROOT, include("backend.api.urls")),
    path("", include("backend.web.urls")),
]

handler400 = "backend.config.errors.bad_request"
handler403 = "backend.config.errors.permission_denied"
handler404 = "backend.config.errors.not_found"
handler500 = "backend.config.errors.server_error"
