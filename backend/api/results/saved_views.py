"""Saved views: comparisons that a workspace keeps under a name."""

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.api.protocol.auth import author_of, required_actor
from backend.api.protocol.idempotency import idempotent
from backend.api.protocol.paging import ONLY_WORKSPACE, by_name, list_operation
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.protocol.workspaces import (
    refuse_other_question,
    workspace_field,
    writable_row,
    writable_workspace,
)
from backend.api.runs.runs import workspaces_asked
from backend.runs.database.cursors import Page
from backend.sharing.models import SavedView
from backend.sharing.saved_views import MAX_NAME, change_view, delete_view, save_view, views_in

MAX_QUERY = 8_000


class ViewEditSerializer(StrictSerializer):
    """What to change; what is left out stays."""

    name = serializers.CharField(required=False, max_length=MAX_NAME)
    query = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=MAX_QUERY,
        help_text="The query string of the comparison",
    )
    is_default = serializers.BooleanField(
        required=False,
        help_text="Whether Compare in the menu opens it; at most one view is default",
    )


class NewViewSerializer(ViewEditSerializer):
    """What to save."""

    name = serializers.CharField(max_length=MAX_NAME, help_text="Unique in the workspace")
    query = serializers.CharField(
        allow_blank=True, max_length=MAX_QUERY, help_text="The query string of the comparison"
    )
    is_default = serializers.BooleanField(default=False)
    workspace = workspace_field()


class ViewSerializer(serializers.ModelSerializer[SavedView]):
    """A saved view."""

    workspace = serializers.CharField(source="workspace.slug")
    author = serializers.CharField(source="author.username", allow_null=True, read_only=True)
    url = serializers.CharField(source="path", help_text="The comparison")

    class Meta:
        model = SavedView
        fields = ["id", "workspace", "name", "query", "is_default", "author", "created_at", "url"]


class ViewList(APIView):
    @list_operation("view_list", "views", ViewSerializer, ONLY_WORKSPACE)
    def get(self, request: Request) -> Page[SavedView]:
        """The comparisons that were saved, by name."""
        return by_name(request, views_in(workspaces_asked(request)))

    @idempotent
    @operation(
        "view_create", (401, 404, 409), body=NewViewSerializer, answer=ViewSerializer, status=201
    )
    def post(self, request: Request) -> SavedView:
        """Save a comparison under a name."""
        actor = required_actor(request)
        asked = validated(NewViewSerializer, request)
        workspace = writable_workspace(actor, asked.pop("workspace", None))
        refuse_other_question(workspace, asked["query"])
        return save_view(workspace, author=author_of(actor), **asked)


class ViewDetail(APIView):
    @operation("view_edit", (401, 404, 409), body=ViewEditSerializer, answer=ViewSerializer)
    def patch(self, request: Request, view_id: UUID) -> SavedView:
        """Rename it, change its query, or make it the default."""
        view = writable_row(request, SavedView.objects.select_related("author"), view_id)
        changes = validated(ViewEditSerializer, request)
        refuse_other_question(view.workspace, changes.get("query", ""))
        change_view(view, **changes)
        return view

    @operation("view_delete")
    def delete(self, request: Request, view_id: UUID) -> None:
        """Forget it. Nothing that was measured is deleted."""
        delete_view(writable_row(request, SavedView.objects.all(), view_id))
