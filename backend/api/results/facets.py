"""GET /api/v1/facets: what can be chosen in a comparison, with counts."""

from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.analysis.loading.facets import FACETS, facets
from backend.analysis.loading.response_cache import get_or_compute_json
from backend.analysis.query.compare_query import CompareQuery, QueryError
from backend.api.protocol.auth import question_ids, viewer_name
from backend.api.protocol.parameters import names_of_arrays
from backend.api.protocol.rendering import AnyFormat
from backend.api.protocol.schema import operation
from backend.api.results.compare import QUERY

Shape = serializers.Serializer[Any]
PARAMETERS = [
    *QUERY,
    OpenApiParameter("field", str, description="Only these fields", many=True, enum=FACETS),
]


class FacetValueSerializer(Shape):
    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # popped by DRF's metaclass
    count = serializers.IntegerField(help_text="Trials under all filters but this field's")
    chosen = serializers.BooleanField()


class FacetSerializer(Shape):
    id = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # popped by DRF's metaclass
    values = FacetValueSerializer(many=True)
    more = serializers.IntegerField(help_text="How many values are not listed")


class TotalSerializer(Shape):
    cells = serializers.IntegerField()
    trials = serializers.IntegerField()
    runs = serializers.IntegerField()


class FacetsSerializer(Shape):
    """What can be chosen."""

    total = TotalSerializer()
    fields = FacetSerializer(many=True)  # type: ignore[assignment]  # popped by DRF's metaclass


class Facets(APIView):
    arrays = names_of_arrays(PARAMETERS)
    content_negotiation_class = AnyFormat
    asks_public = True

    @operation("facets", answer=FacetsSerializer, parameters=PARAMETERS)
    def get(self, request: Request) -> HttpResponse:
        """Counts of trials: each field's under all filters but its own."""
        workspace_ids = question_ids(request)
        asked = request.query_params.copy()
        only = sorted(set(asked.pop("field", None) or FACETS))
        if unknown := set(only) - set(FACETS):
            raise QueryError("field", min(unknown), ", ".join(FACETS))
        query = CompareQuery.parse(asked)
        counted = get_or_compute_json(
            f"facets of {only}",
            query,
            workspace_ids,
            lambda: orjson.dumps(facets(query, workspace_ids=workspace_ids, only=only)),
            viewer=viewer_name(request),
        )
        return HttpResponse(counted, content_type="application/json")
