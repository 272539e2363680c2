"""GET /api/v1/explore: the public directory."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.api.runs import LIMIT, limit_asked
from backend.api.schema import documented
from backend.api.sparse import FIELDS, only_asked_in
from backend.links import link_to
from backend.sharing.directory import KINDS, MAX_QUERY, Listed, directory_page


class ListedSerializer(serializers.Serializer[Listed]):
    """One entry of the directory."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    url = serializers.CharField(help_text="Its page")
    created_at = serializers.DateTimeField()
    workspace = serializers.CharField(
        allow_null=True, help_text="The name of its workspace; null where that is not public"
    )


class DirectoryPageSerializer(serializers.Serializer[Any]):
    """A page of the directory."""

    entries = ListedSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="The next page; null on the last")


class Explore(APIView):
    """What is public, for everyone."""

    @extend_schema(
        operation_id="explore",
        parameters=[
            OpenApiParameter(
                "kind", str, enum=KINDS, default=KINDS[0], description="What is listed"
            ),
            OpenApiParameter(
                "q",
                {"type": "string", "maxLength": MAX_QUERY},
                description="Words that the title has, all of them",
            ),
            LIMIT,
            OpenApiParameter("after", str, description="As given by next"),
            FIELDS,
        ],
        responses={200: DirectoryPageSerializer, **documented(400)},
    )
    def get(self, request: Request) -> Response:
        """Public result sets, public runs or public workspaces, newest first."""
        limit = limit_asked(request)
        given = request.query_params.dict()
        kind, query = given.get("kind") or KINDS[0], given.get("q", "")
        page = directory_page(kind, query, after=given.get("after", ""), limit=limit)
        more = link_to("explore-api", query={**given, "after": page.next}) if page.next else None
        answer = DirectoryPageSerializer({"entries": page.entries, "next": more}).data
        return Response(only_asked_in(request, answer, "entries"))
