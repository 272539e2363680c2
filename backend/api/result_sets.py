"""POST /api/v1/result-sets freezes a comparison; GET /api/v1/result-sets/<id> reads one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.accounts import access
from backend.accounts.models import Token, User, Workspace
from backend.analysis.cells import NotVisible
from backend.analysis.query import QueryError
from backend.api.auth import actor_of, required_actor
from backend.api.compare import bad_query, read_query
from backend.api.errors import NOT_FOUND_HINT, Problem, sign_in_needed
from backend.api.runs import not_found
from backend.api.schema import documented
from backend.sharing import Card, NothingToFreeze, Reading, find_result_set, freeze, save_live
from backend.sharing.models import ResultSet, Visibility


class FreezeSerializer(serializers.Serializer[Any]):
    """What to freeze."""

    query = serializers.CharField(
        allow_blank=True, max_length=8_000, help_text="The query string of the comparison"
    )
    title = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    visibility = serializers.ChoiceField(Visibility.choices, default=Visibility.PRIVATE)
    workspace = serializers.CharField(
        required=False, max_length=60, help_text="Slug; a token has its own"
    )


class ResultSetSerializer(serializers.ModelSerializer[ResultSet]):
    """A frozen comparison: its snapshot never changes."""

    workspace = serializers.CharField(source="workspace.slug")
    url = serializers.SerializerMethodField(help_text="The page")
    json_url = serializers.SerializerMethodField(help_text="The snapshot, byte for byte")
    csv_url = serializers.SerializerMethodField()

    class Meta:
        model = ResultSet
        fields = ["id", "workspace", "title", "query", "visibility", "created_at", "sha256"]
        fields += ["url", "json_url", "csv_url"]

    def get_url(self, result_set: ResultSet) -> str:
        return f"/s/{result_set.pk}"

    def get_json_url(self, result_set: ResultSet) -> str:
        return f"/s/{result_set.pk}.json"

    def get_csv_url(self, result_set: ResultSet) -> str:
        return f"/s/{result_set.pk}.csv"


class ResultSetList(APIView):
    """Freeze a comparison."""

    @extend_schema(
        operation_id="result_set_create",
        request=FreezeSerializer,
        responses={201: ResultSetSerializer, **documented(400, 401, 404)},
    )
    def post(self, request: Request) -> Response:
        """Keep the figures of a comparison as they are now, under a link that never changes."""
        actor = required_actor(request)
        form = FreezeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        asked = form.validated_data
        workspace = _workspace(actor, asked.get("workspace"))
        query = replace(read_query(asked["query"]), workspace=workspace.slug)
        try:
            result_set = freeze(
                query,
                workspace=workspace,
                author=actor.user if isinstance(actor, Token) else actor,
                title=asked["title"],
                visibility=Visibility(asked["visibility"]),
            )
        except QueryError as error:
            raise bad_query(error) from None
        except NotVisible as missing:
            raise Problem(404, "Not found", str(missing), hint=NOT_FOUND_HINT) from None
        return Response(ResultSetSerializer(result_set).data, status=status.HTTP_201_CREATED)


def _workspace(actor: Token | User, slug: str | None) -> Workspace:
    """Where to freeze; what the actor may not write to is not told from what is missing."""
    visible = access.workspaces_of(actor)
    if slug is None and isinstance(actor, User):
        raise Problem(
            400,
            "No workspace",
            "workspace: got nothing, expected the slug of a workspace.",
            hint="A token knows its workspace; a session must name one.",
            field="workspace",
        )
    found = visible.first() if slug is None else visible.filter(slug=slug).first()
    if found is None or not access.may_write(actor, found.pk):
        raise not_found()
    return found


class ResultSetDetail(APIView):
    """One frozen comparison."""

    @extend_schema(
        operation_id="result_set_read",
        responses={200: ResultSetSerializer, **documented(401, 404)},
    )
    def get(self, request: Request, result_set_id: UUID) -> Response:
        """Its title, hash and links; public and unlisted ones need no token."""
        actor = actor_of(request)
        workspaces = access.workspace_ids_of(actor)
        found = find_result_set(result_set_id, workspace_ids=workspaces)
        if found is None:
            raise sign_in_needed() if actor is None else not_found()
        response = Response(ResultSetSerializer(found).data)
        if found.visibility == Visibility.UNLISTED:
            response["X-Robots-Tag"] = "noindex"
            response["Referrer-Policy"] = "no-referrer"
        return response
