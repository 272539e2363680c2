"""What every public site has: robots.txt, security.txt, and the operator's terms and privacy."""

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.links import absolute, link_to
from backend.web.base.errors import message
from backend.web.documents.guide import render_document

log = logging.getLogger(__name__)

# Pages of members, forms, and what costs much to compute. A crawler reads result sets, the library,
# shared runs and the front page of a public workspace without them.
NOT_CRAWLED = (
    "/accounts/",
    "/account/",
    "/api/",
    "/staff/",
    "/operator",
    "/messages",
    "/metrics",
    "/livez",
    "/readyz",
    "/oembed",
    "/report",
    "/search",
    "/try",
    "/invitations/",
    "/sign-in/",
    "/first-owner/",
    "/workspaces",
    "/new-workspace",
    "/a/",
    "/u/",
    "/r/*/plan.toml",
    "/s/*.png",
    "/s/*.svg",
    "/s/*.csv",
    "/s/*.json",
    "/w/*/compare",
    "/w/*/search",
    "/w/*/runs?",
    "/*.atom",
)
# RFC 9116 asks for less than a year; whoever copied the file looks again before.
VALID = timedelta(days=180)
TEXTS = {"terms": ("TERMS_FILE", "Terms"), "privacy": ("PRIVACY_FILE", "Privacy")}


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """What crawlers leave alone; with INDEXING=false everything."""
    paths = NOT_CRAWLED if settings.INDEXING else ("/",)
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in paths)]
    return _text(lines)


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Whom to tell of a vulnerability (RFC 9116). Raises Http404 where no contact is set."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = [
        f"Contact: {settings.SECURITY_CONTACT}",
        f"Expires: {midnight + VALID:%Y-%m-%dT%H:%M:%SZ}",
        f"Canonical: {absolute(link_to('security-txt'))}",
    ]
    if settings.SECURITY_POLICY_URL:
        lines.append(f"Policy: {settings.SECURITY_POLICY_URL}")
    return _text(lines)


def _text(lines: list[str]) -> HttpResponse:
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")


@require_safe
def operators_text(request: HttpRequest, name: str) -> HttpResponse:
    """The terms or the privacy notice. Raises Http404 where the operator gave no text."""
    setting, title = TEXTS[name]
    path: Path | None = getattr(settings, setting)
    if path is None:
        raise Http404
    try:
        body = render_document(path).body
    except (OSError, UnicodeDecodeError):
        # It could be read when the service began.
        log.exception("operators_text_unreadable", extra={"path": str(path)})
        sentence = "This text of the operator cannot be read at the moment."
        return message(request, 503, title=f"{title} away", sentence=sentence, hint="Try again.")
    return render(request, "operators_text.html", {"title": title, "body": body})
