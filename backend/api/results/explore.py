"""GET /api/v1/explore: the public directory."""

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.api.protocol.paging import after_asked, limit_asked, list_operation
from backend.runs.database.cursors import Page
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


class Explore(APIView):
    """What is public, for everyone."""

    @list_operation(
        "explore",
        "entries",
        ListedSerializer,
        OpenApiParameter("kind", str, enum=KINDS, default=KINDS[0], description="What is listed"),
        OpenApiParameter(
            "q",
            {"type": "string", "maxLength": MAX_QUERY},
            description="Words that the title must contain, all of them",
        ),
        problems=(),
    )
    def get(self, request: Request) -> Page[Listed]:
        """Public result sets, public runs or public workspaces, newest first."""
        limit = limit_asked(request)
        given = request.query_params
        kind, query = given.get("kind") or KINDS[0], given.get("q", "")
        return directory_page(kind, query, after=after_asked(request), limit=limit)
