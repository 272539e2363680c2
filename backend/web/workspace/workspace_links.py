"""The link of an unlisted workspace: opening, making and revoking it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from backend.accounts.sign_in import browsers, recent_sign_in
from backend.accounts.workspace import workspace_links
from backend.links import absolute, link_to
from backend.sharing.workspace_secrets import NotOpened
from backend.web.base import visible
from backend.web.workspace.settings_page import settings_form


@require_safe
def open_link(request: HttpRequest, token: str) -> HttpResponse:
    """Let this browser read the workspace, and lead to its front page."""
    link = workspace_links.find_link(token)
    browsers.begin_visit(request)
    workspace_links.remember(request.session, link)
    response = HttpResponseRedirect(link_to("workspace", link.workspace.slug))
    response["X-Robots-Tag"] = "noindex"
    response["Referrer-Policy"] = "no-referrer"
    return response


@require_POST
def make_link(request: HttpRequest, slug: str) -> HttpResponse:
    """A new link in place of the former one; it is shown once."""
    workspace = visible.owned_workspace_or_404(request, slug)
    recent_sign_in.require(request)
    maker = visible.viewer_or_404(request)
    try:
        clear = workspace_links.make_link(maker, workspace)
    except NotOpened as refused:
        return settings_form(request, workspace, refused={"link": str(refused)}, error=refused)
    context = {"workspace": workspace, "link": absolute(link_to("open-workspace", clear))}
    return render(request, "workspace_link.html", context)


@require_POST
def revoke_link(request: HttpRequest, slug: str) -> HttpResponse:
    """The link leads nowhere from now on."""
    workspace = visible.owned_workspace_or_404(request, slug)
    workspace_links.revoke_link(workspace)
    messages.info(request, "The link was revoked. Browsers that opened it no longer have access.")
    return HttpResponseRedirect(link_to("settings", workspace.slug))
