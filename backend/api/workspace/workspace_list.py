"""The workspaces that one may read, making one, and the link of an unlisted one."""

from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.models import Membership, Role, Token, User, Workspace
from backend.accounts.workspace import access, workspaces
from backend.accounts.workspace.takedowns import takedowns_of_workspaces
from backend.accounts.workspace.workspace_links import make_link, revoke_link
from backend.api.protocol.auth import author_of, require_recent_sign_in, required_actor
from backend.api.protocol.idempotency import idempotent
from backend.api.protocol.paging import by_name, list_operation
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.protocol.taken_down import HELP, TakenDownSerializer
from backend.api.protocol.workspaces import owned_workspace
from backend.api.workspace.workspace_settings import WorkspaceSettingsSerializer
from backend.links import absolute, link_to
from backend.runs.database.cursors import Page


class WorkspaceRowSerializer(serializers.Serializer[Workspace]):
    """A workspace that one may read."""

    workspace = serializers.CharField(source="slug", help_text="Slug")
    name = serializers.CharField()
    role = serializers.ChoiceField(
        Role.choices, allow_null=True, help_text="Your role; null for a token"
    )
    is_public = serializers.BooleanField(help_text="Whether everyone may read its runs")
    taken_down = serializers.SerializerMethodField(help_text=HELP)
    url = serializers.SerializerMethodField(help_text="The front page")

    @extend_schema_field(TakenDownSerializer(allow_null=True))
    def get_taken_down(self, workspace: Workspace) -> dict[str, Any] | None:
        takedown = self.context["takedowns"].get(workspace.pk)
        return None if takedown is None else TakenDownSerializer(takedown).data

    def get_url(self, workspace: Workspace) -> str:
        return absolute(link_to("workspace", workspace.slug))


class NewWorkspaceSerializer(StrictSerializer):
    """The workspace to make."""

    name = serializers.CharField(max_length=120)
    slug = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=60,
        help_text="The part of its address; default: made from the name",
    )


class WorkspaceList(APIView):
    @list_operation("workspace_list", "workspaces", WorkspaceRowSerializer, problems=(401,))
    def get(self, request: Request) -> tuple[Page[Workspace], dict[str, Any]]:
        """By name, with one's role in each; for a token, its own workspace."""
        page = by_name(request, _with_role(required_actor(request)))
        return page, {"takedowns": takedowns_of_workspaces(page.rows)}

    @idempotent
    @operation(
        "workspace_create",
        (401,),
        body=NewWorkspaceSerializer,
        answer=WorkspaceSettingsSerializer,
        status=201,
    )
    def post(self, request: Request) -> Workspace:
        """Make a workspace; the sender becomes its owner. For people: a token belongs to one
        workspace and makes no other."""
        owner = required_actor(request)
        assert isinstance(owner, User)  # HasScope refuses every token
        asked = validated(NewWorkspaceSerializer, request)
        return workspaces.create(owner, name=asked["name"], slug=asked["slug"])


def _with_role(actor: Token | User) -> QuerySet[Workspace]:
    memberships = Membership.objects.filter(workspace=OuterRef("pk"), user=author_of(actor))
    if isinstance(actor, Token):
        memberships = memberships.none()
    return access.workspaces_of(actor).annotate(role=Subquery(memberships.values("role")[:1]))


class WorkspaceLinkSerializer(serializers.Serializer[Any]):
    """The link of an unlisted workspace. It is in this answer only."""

    workspace = serializers.CharField(help_text="Slug")
    url = serializers.CharField(help_text="Whoever opens it in a browser reads the workspace")


class WorkspaceLinkDetail(APIView):
    @operation(
        "workspace_link_make",
        (401, 403, 404),
        body=None,
        answer=WorkspaceLinkSerializer,
        status=201,
    )
    def post(self, request: Request, slug: str) -> dict[str, str]:
        """Make a link by which everyone who has it reads the workspace; a former link ends. For
        owners."""
        maker = required_actor(request)
        workspace = owned_workspace(maker, slug)
        assert isinstance(maker, User)  # no token owns
        require_recent_sign_in(request)
        url = absolute(link_to("open-workspace", make_link(maker, workspace)))
        return {"workspace": workspace.slug, "url": url}

    @operation("workspace_link_revoke")
    def delete(self, request: Request, slug: str) -> None:
        """End the link, also for browsers that opened it. For owners."""
        revoke_link(owned_workspace(required_actor(request), slug))
