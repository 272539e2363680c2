"""GET /api/v1/trials.csv and /api/v1/trials.parquet: every trial, in parts of whole runs."""

import io
from collections.abc import Sequence
from typing import Any

from defusedcsv import csv
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.analysis.loading.viewer_slots import hold_slot
from backend.api.protocol.auth import viewer_name
from backend.api.protocol.paging import ONLY_WORKSPACE, limit_asked
from backend.api.protocol.rendering import AnyFormat
from backend.api.protocol.schema import operation
from backend.api.runs.runs import workspaces_asked
from backend.links import absolute, link_to
from backend.runs.catalogue.search import RunSearch
from backend.runs.catalogue.trial_table import COLUMNS, Part, read_part
from backend.sharing.export import harmless

PARQUET = "application/vnd.apache.parquet"
# One part is built in memory: 20,000 rows take about 30 MB, and texts that rows repeat no more
# than MOST_TEXT_BYTES (trial_table.py).
DEFAULT_TRIALS, MOST_TRIALS = 10_000, 20_000
NEXT = "Loadsheet-Next"
PARAMETERS = [
    ONLY_WORKSPACE,
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": MOST_TRIALS},
        description="Trials per part; a part has whole runs, and at least one",
        default=DEFAULT_TRIALS,
    ),
    OpenApiParameter("after", str, description="As given by the header Loadsheet-Next"),
    OpenApiParameter("server", str, description="Only runs with a server of this name"),
    OpenApiParameter("workload", str, description="Only runs with a workload of this name"),
    OpenApiParameter("tool", str, description="Only runs with this load tool"),
    OpenApiParameter("host", str, description="Only runs on this host, by name or id"),
    OpenApiParameter("since", OpenApiTypes.DATE, description="The first day, inclusive"),
    OpenApiParameter("until", OpenApiTypes.DATE, description="The last day, inclusive"),
]
_PAGING = ("workspace", "limit", "after")
# Of a Parquet column, by the kind of the column: the name of the type in polars.
_TYPES = {
    "text": "String",
    "whole": "Int64",
    "number": "Float64",
    "flag": "Boolean",
}


class TrialsCsv(APIView):
    content_negotiation_class = AnyFormat

    @operation(
        "trials_csv",
        (401, 404, 413),
        answer={(200, "text/csv"): OpenApiTypes.STR},
        parameters=PARAMETERS,
    )
    def get(self, request: Request) -> HttpResponse:
        """A row for each trial, by when its run became complete. `Link: <…>; rel="next"` leads to
        the rest.

        The last part has no such link. The header `Loadsheet-Next` is the cursor after its last
        run: keep it, and ask with `after` for what became complete since. A run comes one minute
        after it became complete, and again after it got late trials or was
        restored from the trash.
        """
        part = _part(request)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([column.name for column in COLUMNS])
        writer.writerows([_csv_value(value) for value in row] for row in part.rows)
        return _answer(request, part, out.getvalue().encode(), "text/csv; charset=utf-8")


class TrialsParquet(APIView):
    content_negotiation_class = AnyFormat

    @operation(
        "trials_parquet",
        (401, 404, 413),
        answer={(200, PARQUET): OpenApiTypes.BINARY},
        parameters=PARAMETERS,
    )
    def get(self, request: Request) -> HttpResponse:
        """As trials.csv, with types: times in UTC, whole numbers, unknown as null."""
        part = _part(request)
        return _answer(request, part, _as_parquet(part.rows), PARQUET)


def _part(request: Request) -> Part:
    workspaces = workspaces_asked(request)
    given = request.query_params.dict()
    fields = {name: text for name, text in given.items() if name not in _PAGING}
    search = RunSearch.parse(fields).with_current_names(workspaces)
    most_trials = limit_asked(request, range(1, MOST_TRIALS + 1), default=DEFAULT_TRIALS)
    hold_slot(viewer_name(request))
    return read_part(
        workspaces, after=given.get("after", ""), most_trials=most_trials, search=search
    )


def _answer(request: Request, part: Part, body: bytes, content_type: str) -> HttpResponse:
    response = HttpResponse(body, content_type=content_type)
    suffix = request.path.rpartition(".")[2]
    response["Content-Disposition"] = f'attachment; filename="loadsheet-trials.{suffix}"'
    if part.next is not None:
        response[NEXT] = part.next
    if not part.is_last:
        query = {**request.query_params.dict(), "after": part.next}
        following = link_to(f"trials-{suffix}", query=query)
        response["Link"] = f'<{absolute(following)}>; rel="next"'
    return response


def _csv_value(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return harmless(value)


def _as_parquet(rows: Sequence[Sequence[Any]]) -> bytes:
    # Only this answer needs the library: no other request pays for its import.
    import polars as pl

    types = {name: getattr(pl, type_) for name, type_ in _TYPES.items()}
    types["instant"] = pl.Datetime("us", "UTC")
    schema = {column.name: types[column.kind] for column in COLUMNS}
    out = io.BytesIO()
    pl.DataFrame(list(rows), schema=schema, orient="row").write_parquet(out, compression="zstd")
    return out.getvalue()
