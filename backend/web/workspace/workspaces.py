"""Creating the first account, creating a workspace and renaming it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from backend.accounts.mail import held_mail
from backend.accounts.models import Membership
from backend.accounts.sign_in import browsers, recent_sign_in
from backend.accounts.sign_in import first_owner as first
from backend.accounts.sign_in.adapter import SIGN_UP_TOKEN
from backend.accounts.workspace import workspaces
from backend.accounts.workspace.takedowns import takedowns_of_workspaces
from backend.accounts.workspace.workspaces import WorkspaceRefused
from backend.links import link_to
from backend.sharing.workspace_deletion import delete_workspace
from backend.web.base import visible
from backend.web.base.errors import message
from backend.web.workspace.settings_page import settings_form


@require_safe
def first_owner(request: HttpRequest, token: str) -> HttpResponse:
    """The link printed at the first start: leads to the form of the first account."""
    if not first.is_usable(token):
        return message(
            request,
            410,
            title="This link no longer works",
            sentence="It works for 12 hours, and only for the first account.",
            hint="Sign in, or print another link on the server: manage.py first_owner_link",
        )
    browsers.begin_visit(request)
    request.session[SIGN_UP_TOKEN] = token
    sign_up = link_to("account_signup", query={"next": link_to("new-workspace")})
    return HttpResponseRedirect(sign_up)


@require_safe
@login_required
def workspaces_page(request: HttpRequest) -> HttpResponse:
    """The workspaces of the viewer, with their role in each."""
    viewer = visible.viewer(request)
    rows = Membership.objects.filter(user=viewer).select_related("workspace")
    memberships = list(rows.order_by("workspace__name"))
    takedowns = takedowns_of_workspaces(each.workspace for each in memberships)
    listed = [
        {
            "workspace": each.workspace,
            "role": each.role,
            "takedown": takedowns.get(each.workspace_id),
        }
        for each in memberships
    ]
    return render(request, "workspaces.html", {"memberships": listed})


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def new_workspace(request: HttpRequest) -> HttpResponse:
    """The form of a new workspace. Fields: name, slug (made from the name where it is empty)."""
    if request.method != "POST":
        return render(request, "new_workspace.html", {})
    name, slug = request.POST.get("name", ""), request.POST.get("slug", "").strip()
    owner = visible.viewer_or_404(request)
    try:
        workspace = workspaces.create(owner, name=name, slug=slug)
    except WorkspaceRefused as refused:
        context = {"refused": refused, "name": name, "slug": slug}
        return render(request, "new_workspace.html", context, status=400)
    return HttpResponseRedirect(link_to("workspace", workspace.slug))


@require_POST
def rename_workspace(request: HttpRequest, slug: str) -> HttpResponse:
    """Fields: name, slug."""
    workspace = visible.administered_workspace_or_404(request, slug)
    new_slug = request.POST.get("slug", "").strip() or workspace.slug
    try:
        workspaces.rename(workspace, name=request.POST.get("name", ""), slug=new_slug)
    except WorkspaceRefused as refused:
        workspace.refresh_from_db()
        return settings_form(request, workspace, refused={"rename": str(refused)})
    has_moved = workspace.slug != slug
    messages.info(
        request, "Saved." + " Links with the former address lead to the new one." * has_moved
    )
    return HttpResponseRedirect(link_to("settings", workspace.slug))


@require_POST
def remove_workspace(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete the workspace for good. Field: confirm, its slug."""
    workspace = visible.owned_workspace_or_404(request, slug)
    if request.POST.get("confirm", "").strip() != workspace.slug:
        sentence = f"The text does not match; expected “{workspace.slug}”. Nothing was deleted."
        return settings_form(request, workspace, refused={"delete": sentence})
    recent_sign_in.require(request)
    name = workspace.name
    delete_workspace(workspace)
    messages.info(request, f"{name} was deleted. Its data are removed in the background.")
    return HttpResponseRedirect(link_to("workspaces"))


@require_safe
def held_messages(request: HttpRequest) -> HttpResponse:
    """Mails that were not sent, for the operator of a service without a mail server."""
    visible.or_404(visible.is_operator(request))
    return render(request, "held_messages.html", {"held": held_mail.read_messages()})
