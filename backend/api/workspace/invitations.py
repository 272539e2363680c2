"""Invitations to a workspace under /api/v1/invitations."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.models import Invitation, Role
from backend.accounts.workspace import invitations
from backend.accounts.workspace.invitation_mail import checked_email, send_invitation
from backend.api.protocol.auth import author_of, require_recent_sign_in, required_actor
from backend.api.protocol.paging import WORKSPACE, list_operation, newest_first
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.protocol.workspaces import managed_row, managed_workspace, workspace_field
from backend.links import absolute, link_to
from backend.runs.database.cursors import Page

MAX_EMAIL = 254


class NewInvitationSerializer(StrictSerializer):
    """Whom to invite, and as what."""

    role = serializers.ChoiceField(Role.choices)
    email = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=MAX_EMAIL,
        help_text="The email address to send the link to, if the service sends mail; optional",
    )
    workspace = workspace_field()


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """An invitation that can still be used, without its link."""

    workspace = serializers.CharField(source="workspace.slug")
    role = serializers.ChoiceField(Role.choices)
    author = serializers.CharField(source="made_by.username")
    email = serializers.CharField(help_text="Empty if the link is handed over by other means")

    class Meta:
        model = Invitation
        fields = ["id", "workspace", "role", "email", "author", "created_at", "expires_at"]


class MadeInvitationSerializer(InvitationSerializer):
    """A new invitation. Its link is in this answer only, and in the mail."""

    url = serializers.SerializerMethodField(help_text="Whoever opens it joins, once")
    is_sent = serializers.SerializerMethodField(help_text="Whether a mail server took the mail")

    class Meta(InvitationSerializer.Meta):
        fields = [*InvitationSerializer.Meta.fields, "url", "is_sent"]

    def get_url(self, invitation: Invitation) -> str:
        return str(self.context["url"])

    def get_is_sent(self, invitation: Invitation) -> bool:
        return bool(self.context["is_sent"])


class InvitationList(APIView):
    @list_operation("invitation_list", "invitations", InvitationSerializer, WORKSPACE)
    def get(self, request: Request) -> Page[Invitation]:
        """Those that can still be used, the newest first. For admins and owners."""
        actor = required_actor(request)
        workspace = managed_workspace(actor, request.query_params.get("workspace"))
        rows = invitations.open_invitations(workspace).select_related("workspace", "made_by")
        return newest_first(request, rows, "created_at")

    @operation(
        "invitation_create",
        (401, 403, 404, 409, 410),
        body=NewInvitationSerializer,
        answer=MadeInvitationSerializer,
        status=201,
    )
    def post(self, request: Request) -> tuple[Invitation, dict[str, Any]]:
        """Invite a person by a link that works once, for 7 days. For admins and owners.

        Only an owner invites an owner. A token acts as an admin, and gives only roles whose scopes
        it has. Who joined stays a member when the token ends.
        """
        actor = required_actor(request)
        asked = validated(NewInvitationSerializer, request)
        workspace = managed_workspace(actor, asked.get("workspace"))
        require_recent_sign_in(request)
        sender = author_of(actor)
        email = checked_email(asked["email"], sender) if sender else ""
        clear = invitations.invite(actor, workspace, asked["role"], email=email)
        invitation = invitations.find(clear)
        url = absolute(link_to("invitation", clear))
        is_sent = bool(email) and send_invitation(invitation, url)
        return invitation, {"url": url, "is_sent": is_sent}


class InvitationDetail(APIView):
    @operation("invitation_revoke")
    def delete(self, request: Request, invitation_id: UUID) -> None:
        """Revoke it: its link no longer works. For admins and owners."""
        invitation = managed_row(request, Invitation.objects.all(), invitation_id)
        invitations.revoke(invitation.workspace, invitation_id)
