"""All trials as a table, in parts of whole runs, in the order in which the runs became complete.

Whoever keeps the cursor of the last part can ask for what is new: a run becomes complete when its
whole upload is recorded, when late trials of it are, or when it comes back from the
trash. Transactions may commit in another order than they wrote, so a run comes only once it has
been complete for a minute.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Count, F, Q, QuerySet, Sum, TextField
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce, Now

from backend.errors import TooLarge
from backend.runs.catalogue.listing import fitting
from backend.runs.catalogue.search import RunSearch
from backend.runs.catalogue.text_search import in_workspaces
from backend.runs.database.cursors import pack_cursor, read_instant_cursor
from backend.runs.database.json_bytes import json_bytes
from backend.runs.models import Run, Trial
from backend.runs.tables.server_texts import SERVER_TEXTS
from backend.stats.histogram import STORED_PERCENTILES

# Of texts that are repeated in each row: labels and configurations may have 200 KB each.
MOST_TEXT_BYTES = 32 << 20
# A run has at most as many trials as an envelope may have.
RUNS_AT_ONCE = 500
# As long a transaction that records a run may take after it wrote when.
HELD_BACK = timedelta(minutes=1)


class PartTooLarge(TooLarge):
    """The texts that a run repeats in each row take too much."""

    def __init__(self, run_id: UUID, size_bytes: int, following: str) -> None:
        super().__init__(
            f"The labels and configurations of run {run_id} have {size_bytes >> 20} MiB in this "
            f"table, which repeats them in each row; at most {MOST_TEXT_BYTES >> 20} MiB are "
            "answered.",
            hint=f"GET /api/v1/runs/{run_id} has its trials. To go on behind it: after={following}",
        )


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table: its name, its kind, and where it is read."""

    name: str
    kind: str  # text, whole, number, flag or instant
    path: str
    # JSON whose text is given.
    is_json: bool = False


COLUMNS = (
    Column("workspace", "text", "run__workspace__slug"),
    Column("run_id", "text", "run_id"),
    Column("run_started_at", "instant", "run__started_at"),
    Column("run_recorded_at", "instant", "run__recorded_at"),
    Column("labels", "text", "run__labels", is_json=True),
    Column("trial_id", "text", "pk"),
    Column("ordinal", "whole", "ordinal"),
    Column("repeat", "whole", "repeat"),
    Column("warmup", "flag", "warmup"),
    Column("incomplete", "flag", "incomplete"),
    Column("error", "text", "error"),
    Column("started_at", "instant", "started_at"),
    Column("server", "text", "cell__series__server__name"),
    *(Column(text.name, "text", f"cell__series__server__{text.name}") for text in SERVER_TEXTS),
    Column("configuration", "text", "cell__series__server__configuration", is_json=True),
    Column("server_host", "text", "cell__series__server_host__name"),
    Column("client_host", "text", "cell__series__client_host__name"),
    Column("workload", "text", "cell__series__workload__name"),
    Column("method", "text", "cell__series__workload__method"),
    Column("path", "text", "cell__series__workload__path"),
    Column("payload_bytes", "whole", "cell__series__workload__payload_bytes"),
    Column("tool", "text", "cell__series__tool"),
    Column("tool_version", "text", "cell__series__tool_version"),
    Column("loop", "text", "cell__series__loop"),
    Column("connections", "whole", "cell__connections"),
    Column("rate_rps", "number", "cell__rate_rps"),
    Column("elapsed_s", "number", "elapsed_s"),
    Column("requests_completed", "whole", "requests_completed"),
    Column("requests_ok", "whole", "requests_ok"),
    Column("attempts", "whole", "attempts"),
    Column("failed", "whole", "failed"),
    Column("bytes_received", "whole", "bytes_received"),
    Column("throughput_rps", "number", "throughput_rps"),
    Column("goodput_rps", "number", "goodput_rps"),
    Column("error_rate", "number", "error_rate"),
    Column("latency_mean_us", "number", "latency_mean_us"),
    Column("latency_max_us", "number", "latency_max_us"),
    *(Column(f"p{key}_us", "number", "percentiles_us") for key in STORED_PERCENTILES),
    Column("percentiles_origin", "text", "percentiles_origin"),
)
_PERCENTILES = {f"p{key}_us": key for key in STORED_PERCENTILES}


@dataclass(frozen=True, slots=True)
class Part:
    """Rows in the order of COLUMNS; unknown is None.

    `next`: the cursor after the last run of this part, None for a part without runs. `is_last`:
    no run follows now.
    """

    rows: list[tuple[Any, ...]]
    next: str | None
    is_last: bool


def read_part(
    workspace_ids: Iterable[UUID], *, after: str, most_trials: int, search: RunSearch
) -> Part:
    """The trials of the next whole runs, at least one run, else at most `most_trials` trials.

    Runs that are still measured and runs of the last minute (HELD_BACK) are left out: they come
    later. Raises BadCursor and PartTooLarge.
    """
    complete = Run.objects.filter(is_open=False, completed_at__lt=Now() - HELD_BACK)
    ids = list(workspace_ids)
    rows = search.applied(complete.filter(workspace__in=ids), in_workspaces(ids))
    if after:
        completed_at, run_id = read_instant_cursor(after)
        is_later = Q(completed_at=completed_at, pk__gt=run_id) | Q(completed_at__gt=completed_at)
        rows = rows.filter(is_later, completed_at__gte=completed_at)
    rows = rows.order_by("completed_at", "pk")
    listed = list(rows.values_list("pk", "completed_at")[: RUNS_AT_ONCE + 1])
    if not listed:
        return Part([], None, is_last=True)
    run_ids = [pk for pk, _ in listed[:RUNS_AT_ONCE]]
    count, text_bytes = _first_runs(run_ids, most_trials)
    last_id, completed_at = listed[count - 1]
    following = pack_cursor(completed_at.isoformat(), str(last_id))
    if text_bytes > MOST_TEXT_BYTES:
        raise PartTooLarge(last_id, text_bytes, following)
    return Part(
        rows=list(_rows(Trial.objects.filter(run__in=run_ids[:count]))),
        next=following,
        is_last=count == len(listed),
    )


def _first_runs(run_ids: list[UUID], most_trials: int) -> tuple[int, int]:
    """How many of the runs have together at most `most_trials` trials and MOST_TEXT_BYTES, one in
    any case; and the bytes of their texts.
    """
    trials = Trial.objects.filter(run__in=run_ids).order_by().values_list("run")
    texts = _length("run__labels") + _length("cell__series__server__configuration")
    found = {run: sizes for run, *sizes in trials.annotate(count=Count("pk"), bytes=Sum(texts))}
    trial_counts, sizes = zip(*(found.get(run_id, (0, 0)) for run_id in run_ids), strict=True)
    count = min(fitting(trial_counts, most_trials), fitting(sizes, MOST_TEXT_BYTES))
    return count, sum(sizes[:count])


def _length(path: str) -> Combinable:
    return Coalesce(json_bytes(path), 0)


def _rows(trials: QuerySet[Trial]) -> Iterator[tuple[Any, ...]]:
    paths = [column.path for column in COLUMNS]
    columns = {path: F(path) for path in dict.fromkeys(paths)}
    as_text = {column.path for column in COLUMNS if column.is_json}
    selected = [
        Cast(path, TextField()) if path in as_text | {"percentiles_us"} else expression
        for path, expression in columns.items()
    ]
    ordered = trials.order_by("run__completed_at", "run_id", "ordinal")
    for values in ordered.values_list(*selected):
        by_path = dict(zip(columns, values, strict=True))
        percentiles = orjson.loads(by_path["percentiles_us"])
        yield tuple(_value(column, by_path, percentiles) for column in COLUMNS)


def _value(column: Column, by_path: dict[str, Any], percentiles: dict[str, Any]) -> Any:
    if column.name in _PERCENTILES:
        value = percentiles.get(_PERCENTILES[column.name])
        return None if value is None else float(value)
    value = by_path[column.path]
    if column.kind == "text" and value is not None:
        # Nothing is unknown where there is no error.
        return str(value) or None
    return value
