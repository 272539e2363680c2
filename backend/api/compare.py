"""GET /api/v1/compare and /api/v1/compare.csv: the figures of one comparison."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.accounts import access
from backend.analysis.cells import NotVisible
from backend.analysis.comparison import compare
from backend.analysis.query import AXES, METRICS, CompareQuery, QueryError
from backend.api.auth import required_actor
from backend.api.errors import NOT_FOUND_HINT, Problem
from backend.api.figures_schema import FiguresSerializer
from backend.api.schema import documented
from backend.sharing import csv_of


def _parameter(name: str, text: str, **more: Any) -> OpenApiParameter:
    return OpenApiParameter(name, more.pop("type", str), description=text, **more)


QUERY = [
    _parameter("run", "Only these runs", type=OpenApiTypes.UUID, many=True),
    _parameter("server", "Only these servers: name or slug", many=True),
    _parameter("workload", "Only these workloads", many=True),
    _parameter("tool", "Only these load tools", many=True),
    _parameter("host", "Only these hosts: name or slug", many=True),
    _parameter("workspace", "Only this workspace, by its slug"),
    _parameter("metric", "What is ranked", enum=METRICS, default="throughput"),
    _parameter("at", "Load point of the ranking; else the largest most series share", type=float),
    _parameter("baseline", "Id of the series the ratios are against"),
    _parameter("x", "The load axis", enum=AXES, default="connections"),
    _parameter("logx", "How the page draws the x axis", enum=["0", "1"]),
    _parameter("logy", "How the page draws the y axis", enum=["0", "1"], default="0"),
]


def read_query(source: Any) -> CompareQuery:
    """The query, or a 400 that names the field."""
    try:
        return CompareQuery.parse(source)
    except QueryError as error:
        raise bad_query(error) from None


def bad_query(error: QueryError) -> Problem:
    return Problem(
        400,
        "Bad query",
        str(error),
        hint=f"Correct or leave out {error.field[:80]}.",
        field=error.field[:80],
        got=error.got[:300],
        allowed=error.allowed,
    )


def figures_of(request: Request) -> dict[str, Any]:
    """The comparison that the request asks for, over what its sender may see."""
    actor = required_actor(request)
    query = read_query(request.query_params)
    try:
        return compare(query, workspace_ids=access.workspace_ids_of(actor))
    except QueryError as error:
        raise bad_query(error) from None
    except NotVisible as missing:
        raise Problem(404, "Not found", str(missing), hint=NOT_FOUND_HINT) from None


class FiguresRenderer(JSONRenderer):
    """Plain figures by orjson, in a tenth of the time. No integer is beyond 64 bits there."""

    def render(self, data: Any, *_: Any, **__: Any) -> bytes:
        return orjson.dumps(data)


class Compare(APIView):
    """The figures of a comparison as JSON."""

    renderer_classes = (FiguresRenderer,)

    @extend_schema(
        operation_id="compare",
        parameters=QUERY,
        responses={200: FiguresSerializer, **documented(400, 401, 404)},
    )
    def get(self, request: Request) -> Response:
        """Throughput, latency and error rate of every series, with intervals and checks."""
        return Response(figures_of(request))


class AnyFormat(BaseContentNegotiation):
    """The address already says the format, so Accept is not asked."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


class CompareCsv(APIView):
    """The figures of a comparison as a table."""

    content_negotiation_class = AnyFormat

    @extend_schema(
        operation_id="compare_csv",
        parameters=QUERY,
        responses={(200, "text/csv"): OpenApiTypes.STR, **documented(400, 401, 404)},
    )
    def get(self, request: Request) -> HttpResponse:
        """One row per series and load point. The same query as /compare."""
        table = csv_of(figures_of(request))
        response = HttpResponse(table, content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="loadsheet-comparison.csv"'
        return response
