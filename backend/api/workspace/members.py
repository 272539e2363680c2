"""Members of a workspace under /api/v1/members: listing, changing roles, removing and leaving."""

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.models import Membership, Role
from backend.accounts.workspace.members import change_role, members_of, remove
from backend.api.protocol.auth import require_recent_sign_in, required_actor
from backend.api.protocol.paging import WORKSPACE, by_name, list_operation
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.protocol.workspaces import managed_workspace, member_workspace
from backend.runs.database.cursors import Page


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """A person in a workspace."""

    id = serializers.UUIDField(source="user_id", help_text="The id of the person")
    workspace = serializers.CharField(source="workspace.slug")
    name = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(Role.choices)

    class Meta:
        model = Membership
        fields = ["id", "workspace", "name", "role"]


class RoleSerializer(StrictSerializer):
    """The role to give."""

    role = serializers.ChoiceField(Role.choices)


class MemberList(APIView):
    @list_operation("member_list", "members", MemberSerializer, WORKSPACE)
    def get(self, request: Request) -> Page[Membership]:
        """By name. For members; for a token with the scope admin."""
        workspace = member_workspace(required_actor(request), request.query_params.get("workspace"))
        return by_name(request, members_of(workspace), key="user_id")


class MemberDetail(APIView):
    @operation(
        "member_edit",
        (401, 403, 404, 409),
        body=RoleSerializer,
        answer=MemberSerializer,
        parameters=[WORKSPACE],
    )
    def patch(self, request: Request, user_id: UUID) -> Membership:
        """Give another role. For admins and owners; only an owner appoints and changes owners.

        To transfer a workspace, its owner makes another member an owner, and then leaves or takes
        another role. A token acts as an admin, and gives only roles whose scopes it has.
        """
        actor = required_actor(request)
        workspace = managed_workspace(actor, request.query_params.get("workspace"))
        role = validated(RoleSerializer, request)["role"]
        require_recent_sign_in(request)
        return change_role(actor, workspace, user_id, role)

    @operation("member_remove", (401, 403, 404, 409), parameters=[WORKSPACE])
    def delete(self, request: Request, user_id: UUID) -> None:
        """Take a member out of the workspace; members may leave by it. Tokens that the member made
        stop working. 409 for the only owner, and for a member whom you cannot manage."""
        actor = required_actor(request)
        workspace = member_workspace(actor, request.query_params.get("workspace"))
        require_recent_sign_in(request)
        remove(actor, workspace, user_id)
