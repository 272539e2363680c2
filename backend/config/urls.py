"""Where each part of the site begins."""

from django.urls import include, path

from backend.config import health

urlpatterns = [
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("accounts/", include("allauth.account.urls")),
    path("api/v1/", include("backend.api.urls")),
    path("", include("backend.web.urls")),
]

handler400 = "backend.config.errors.bad_request"
handler403 = "backend.config.errors.permission_denied"
handler404 = "backend.config.errors.not_found"
handler500 = "backend.config.errors.server_error"
