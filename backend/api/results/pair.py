"""GET /api/v1/compare/pair: two runs, or two versions of a server, side by side."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from msgspec import to_builtins
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.analysis.pages.pair.answer import Pair
from backend.analysis.pages.pair.describe import compare_pair
from backend.analysis.pages.pair.sides import read_side_ids
from backend.api.protocol.auth import readable_ids, viewer_name
from backend.api.protocol.schema import operation


class ComparePair(APIView):
    @operation(
        "compare_pair",
        answer=Pair,
        parameters=[
            OpenApiParameter(
                "a", OpenApiTypes.UUID, required=True, description="The id of a run or a server"
            ),
            OpenApiParameter(
                "b",
                OpenApiTypes.UUID,
                required=True,
                description="The id of another run or server, of the same kind as a",
            ),
        ],
    )
    def get(self, request: Request) -> Response:
        """Ratios are b ÷ a, so a is the baseline: the older run, or the older version."""
        workspace_ids = readable_ids(request)
        a, b = read_side_ids(request.query_params)
        pair = compare_pair(a, b, workspace_ids=workspace_ids, viewer=viewer_name(request))
        return Response(to_builtins(pair))
