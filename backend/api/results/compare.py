"""GET /api/v1/compare and /api/v1/compare.csv: the figures of one comparison.

And GET /api/v1/compare/pair: two runs, or two versions of a server, side by side.
"""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from msgspec import to_builtins
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.analysis.compare.comparison import compare_as_json
from backend.analysis.figures import Figures
from backend.analysis.kept_figures import figures_of_json
from backend.analysis.pages.pair.answer import Pair
from backend.analysis.pages.pair.describe import compare_pair
from backend.analysis.pages.pair.sides import read_side_ids
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.field import Field
from backend.analysis.query.fields import AXES, FIELDS, FILTERS, GROUPING
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.view_ids import VIEWS
from backend.api.protocol.auth import question_ids, readable_ids, viewer_name
from backend.api.protocol.parameters import names_of_arrays
from backend.api.protocol.rendering import AnyFormat
from backend.api.protocol.schema import operation
from backend.sharing.export import csv_of


def _parameter(name: str, text: str, **more: Any) -> OpenApiParameter:
    return OpenApiParameter(name, more.pop("type", str), description=text, **more)


def _filter(field: Field) -> OpenApiParameter:
    type_ = OpenApiTypes.UUID if field.syntax == "run id" else str
    return _parameter(field.id, field.help, type=type_, many=True)


QUERY = [
    *(_filter(FIELDS[name]) for name in FILTERS),
    _parameter(
        "series", "What makes a series; default: everything that is not on the axis", many=True
    ),
    _parameter("workspace", "Only this workspace, by its slug"),
    _parameter("since", "Only runs from this day on", type=OpenApiTypes.DATE),
    _parameter("until", "Only runs up to and on this day", type=OpenApiTypes.DATE),
    _parameter("metric", "What is ranked", enum=list(METRICS), default="throughput"),
    _parameter("x", "What lies on the x axis", enum=AXES, default="connections"),
    _parameter("facet", "What divides the chart into panels", enum=GROUPING),
    _parameter(
        "at", "The place on the axis to rank at; default: the last place that most series share"
    ),
    _parameter("baseline", "Id of the series that ratios are relative to"),
    _parameter("limit", "The p99, in µs, that the highest load must stay under", type=float),
    _parameter("override", "1: rank although not comparable", enum=["0", "1"], default="0"),
    _parameter("view", "Which chart the page draws large", enum=VIEWS, default="sweep"),
    _parameter("logx", "How the page draws the x axis", enum=["0", "1"]),
    _parameter("logy", "How the page draws the y axis", enum=["0", "1"], default="0"),
    _parameter("hidden", "Ids of series that the page does not draw", many=True),
    _parameter("zoom", "Both ends of the part of the x axis that the page draws", many=True),
]


def _answer_json(request: Request) -> bytes:
    """The comparison that the request asks for, over what its sender may see, as JSON."""
    workspace_ids = question_ids(request)
    query = CompareQuery.parse(request.query_params)
    return compare_as_json(query, workspace_ids=workspace_ids, viewer=viewer_name(request))


class Compare(APIView):
    arrays = names_of_arrays(QUERY)
    content_negotiation_class = AnyFormat
    asks_public = True

    @operation("compare", answer=Figures, parameters=QUERY)
    def get(self, request: Request) -> HttpResponse:
        """The asked metric, throughput, latency and errors of every series, with checks."""
        return HttpResponse(_answer_json(request), content_type="application/json")


class CompareCsv(APIView):
    arrays = names_of_arrays(QUERY)
    content_negotiation_class = AnyFormat
    asks_public = True

    @operation("compare_csv", answer={(200, "text/csv"): OpenApiTypes.STR}, parameters=QUERY)
    def get(self, request: Request) -> HttpResponse:
        """The table of the asked view. The same query as /compare.

        One row per series and load point, with its rank where it is ranked; `view=nines`: per
        series and percentile; `view=ratios`: per server and workload.
        """
        table = csv_of(figures_of_json(_answer_json(request)))
        response = HttpResponse(table, content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="loadsheet-comparison.csv"'
        return response


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
