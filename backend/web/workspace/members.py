"""The members of a workspace: roles, invitations, leaving."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from backend.accounts.models import Role, Workspace
from backend.accounts.sign_in import browsers, recent_sign_in
from backend.accounts.sign_in.adapter import SIGN_UP_TOKEN
from backend.accounts.workspace import invitations, members
from backend.accounts.workspace.invitation_mail import checked_email, send_invitation
from backend.deliveries.models import Channel
from backend.links import absolute, link_to
from backend.web.base import visible

# What a role may do, beside everything that the roles before it may.
ROLE_HELP = {
    Role.VIEWER: "reads everything",
    Role.MEMBER: "uploads, shares and corrects",
    Role.ADMIN: "changes settings, invites and removes members",
    Role.OWNER: "appoints and removes owners",
}


@require_http_methods(["GET", "HEAD", "POST"])
def members_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Who belongs to the workspace. A POST invites someone; the link is shown once."""
    if request.method != "POST":
        return _page(request, visible.own_workspace_or_404(request, slug))
    workspace = visible.administered_workspace_or_404(request, slug)
    recent_sign_in.require(request)
    role = request.POST.get("role", "")
    email = checked_email(request.POST.get("email", ""), visible.viewer_or_404(request))
    clear = invitations.invite(visible.viewer_or_404(request), workspace, role, email=email)
    address = absolute(link_to("invitation", clear))
    is_sent = bool(email) and send_invitation(invitations.find(clear), address)
    return _page(request, workspace, invitation=address, sent_to=email if is_sent else "")


@require_POST
def change_role(request: HttpRequest, slug: str, user_id: UUID) -> HttpResponse:
    """Field: role."""
    workspace = visible.administered_workspace_or_404(request, slug)
    recent_sign_in.require(request)
    role = request.POST.get("role", "")
    membership = members.change_role(visible.viewer_or_404(request), workspace, user_id, role)
    messages.info(request, f"{membership.user} is now {membership.role} of {workspace.name}.")
    return HttpResponseRedirect(link_to("members-page", workspace.slug))


@require_POST
def remove_member(request: HttpRequest, slug: str, user_id: UUID) -> HttpResponse:
    """Take a member out of the workspace; for oneself, leave it."""
    viewer = visible.viewer_or_404(request)
    workspace = visible.own_workspace_or_404(request, slug)
    recent_sign_in.require(request)
    # Others learn from the refusal who may; a stranger got 404 above.
    removed = members.remove(viewer, workspace, user_id)
    if removed == viewer:
        messages.info(request, f"You left {workspace.name}.")
        return HttpResponseRedirect(link_to("home"))
    messages.info(
        request, f"{removed} was removed from {workspace.name}. Their tokens stopped working."
    )
    left = Channel.objects.filter(workspace=workspace, author=removed).exclude(kind="mail")
    if names := ", ".join(left.values_list("name", flat=True)):
        messages.info(
            request, f"Channels that {removed} added still get messages: {names}. See Channels."
        )
    return HttpResponseRedirect(link_to("members-page", workspace.slug))


@require_POST
def revoke_invitation(request: HttpRequest, slug: str, invitation_id: UUID) -> HttpResponse:
    """Refuse an invitation from now on."""
    workspace = visible.administered_workspace_or_404(request, slug)
    invitations.revoke(workspace, invitation_id)
    messages.info(request, "The invitation was revoked. Its link no longer works.")
    return HttpResponseRedirect(link_to("members-page", workspace.slug))


@require_safe
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Who invites to what, and how to join."""
    joined = invitations.joined_by(token, visible.viewer(request))
    if joined is not None:
        return HttpResponseRedirect(link_to("workspace", joined.slug))
    invited = invitations.find(token)
    # The sign-up page asks whether this visitor may make an account.
    browsers.begin_visit(request)
    request.session[SIGN_UP_TOKEN] = token
    context = {
        "invitation": invited,
        "may_do": ROLE_HELP[Role(invited.role)],
        "join_url": link_to("join", token),
        "next": link_to("invitation", token),
    }
    return render(request, "invitation.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Accept an invitation. A GET, such as after signing in, leads to the page with the button."""
    if request.method != "POST":
        return HttpResponseRedirect(link_to("invitation", token))
    workspace = invitations.accept(token, visible.viewer_or_404(request))
    request.session.pop(SIGN_UP_TOKEN, None)
    messages.info(request, f"You are a member of {workspace.name}.")
    return HttpResponseRedirect(link_to("workspace", workspace.slug))


def _page(
    request: HttpRequest, workspace: Workspace, *, invitation: str = "", sent_to: str = ""
) -> HttpResponse:
    viewer = visible.viewer_or_404(request)
    given = members.roles_given_by(members.role_of(viewer, workspace))
    rows = members.members_of(workspace)
    context: dict[str, Any] = {
        "workspace": workspace,
        "nav": "members",
        "rows": [
            {
                "membership": membership,
                "is_viewer": membership.user_id == viewer.pk,
                "is_manageable": membership.role in given,
            }
            for membership in rows.order_by("user__username")
        ],
        "roles": [{"id": role.value, "help": ROLE_HELP[role]} for role in given],
        "sends_mail": settings.SENDS_MAIL,
        "invitation": invitation,
        "sent_to": sent_to,
        "open_invitations": invitations.open_invitations(workspace) if given else [],
    }
    return render(request, "members.html", context)
