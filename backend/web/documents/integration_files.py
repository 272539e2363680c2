"""What builds at GitHub and GitLab are made of, for download. These files hold no secret."""

from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

FOLDER = Path(settings.BASE_DIR) / "integrations"
NAMES = ("github/action.yml", "gitlab/loadsheet.yml")


@require_safe
def integration_file(request: HttpRequest, name: str) -> HttpResponse:
    """The action for GitHub, or the template that GitLab includes from here."""
    if name not in NAMES:
        raise Http404
    return HttpResponse((FOLDER / name).read_text(), content_type="text/plain; charset=utf-8")
