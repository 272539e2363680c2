"""Where each part of the site begins."""

from django.urls import include, path

from backend.api.urls import VERSION_ROOT
from backend.config.health import health, metrics, operator
from backend.web.sign_in import reauthentication
from backend.web.sign_in.sign_in import SignInPage
from backend.web.staff.staff_site import staff_site

urlpatterns = [
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("operator", operator.operator, name="operator"),
    path("operator/check", operator.check_now, name="check-integrity"),
    # Before allauth's own route of the same address: its page says whether anyone may sign up.
    path("accounts/login/", SignInPage.as_view(), name="account_login"),
    # These too: a first password needs a new session, and forms say what they confirm.
    path("accounts/password/set/", reauthentication.set_password, name="account_set_password"),
    path(
        "accounts/reauthenticate/",
        reauthentication.confirm_by_password,
        name="account_reauthenticate",
    ),
    path(
        "accounts/2fa/reauthenticate/", reauthentication.confirm_by_code, name="mfa_reauthenticate"
    ),
    path(
        "accounts/2fa/webauthn/reauthenticate/",
        reauthentication.confirm_by_key,
        name="mfa_reauthenticate_webauthn",
    ),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("accounts/sessions/", include("allauth.usersessions.urls")),
    path(VERSION_ROOT, include("backend.api.urls")),
    path("staff/", staff_site.urls),
    path("", include("backend.web.urls")),
]

handler400 = "backend.config.serving.errors.bad_request"
handler403 = "backend.config.serving.errors.permission_denied"
handler404 = "backend.config.serving.errors.not_found"
handler500 = "backend.config.serving.errors.server_error"
