"""The summary of one run: each series at each load, with the figures that a comparison gives."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from backend.analysis.grouping.outputs import count_outputs_once
from backend.analysis.grouping.points import Point, plain_load, point_of
from backend.analysis.loading.rows import fetch_cells, fetch_trials
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.field import natural
from backend.analysis.query.metrics import CORE
from backend.runs.catalogue.distinct_labels import label_servers, label_workloads
from backend.runs.database.read_router import repeatable_read
from backend.runs.models import Cell, Server, Workload


@repeatable_read()
def summarise_run(
    run_id: uuid.UUID,
    trials: Sequence[Mapping[str, Any]],
    *,
    workspace_ids: Sequence[uuid.UUID],
) -> list[dict[str, Any]]:
    """A row for each load point of the run, by workload, server and load.

    `trials`: as `describe_run` lists them; each row has its own. Servers and workloads of one
    name have what differs behind it. Figures are in req/s, µs and as a share; None is unknown.
    """
    points = _points(run_id, workspace_ids)
    series = _series_by_cell(run_id)
    by_cell: dict[str, list[Mapping[str, Any]]] = {}
    for trial in trials:
        by_cell.setdefault(trial["cell"], []).append(trial)
    rows = [
        # An upload that was read again since `trials` were read may have replaced the cell.
        {**_row(group, points.get(cell)), **series.get(cell, {})}
        for cell, group in by_cell.items()
    ]
    return sorted(rows, key=_order)


def _series_by_cell(run_id: uuid.UUID) -> dict[str, dict[str, Any]]:
    """By the id of its cell: the id of the series, and what its server and workload are called."""
    rows = Cell.objects.filter(run=run_id).order_by()
    columns = list(rows.values_list("pk", "series", "series__server", "series__workload"))
    servers = label_servers(Server.objects.filter(pk__in={row[2] for row in columns}))
    workloads = label_workloads(Workload.objects.filter(pk__in={row[3] for row in columns}))
    return {
        str(cell): {
            "series": str(series),
            "server": servers[server],
            "workload": workloads[workload],
        }
        for cell, series, server, workload in columns
    }


def _points(run_id: uuid.UUID, workspace_ids: Sequence[uuid.UUID]) -> dict[str, Point]:
    """By the id of its cell: each load point with a figure."""
    query = CompareQuery.parse({"run": str(run_id)})
    cells = count_outputs_once(fetch_trials(fetch_cells(query, workspace_ids).cells).cells)
    return {str(cell.id): point_of(None, [cell], {}, CORE) for cell in cells}


def _row(trials: Sequence[Mapping[str, Any]], point: Point | None) -> dict[str, Any]:
    first = trials[0]
    return {
        **{name: first[name] for name in ("cell", "server", "slot", "workload", "tool", "loop")},
        "series": first["cell"],
        "connections": first["connections"],
        "rate_rps": plain_load(first["rate_rps"]),
        "figures": {name: None if point is None else point.metrics[name] for name in CORE},
        "counted": 0 if point is None else len(point.trials),
        "failed": sum(bool(trial["error"]) for trial in trials),
        "cut_off": sum(trial["incomplete"] and not trial["error"] for trial in trials),
        "trials": trials,
    }


def _order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    loads = (row["connections"], row["rate_rps"])
    names = [natural(row[name]) for name in ("workload", "server", "tool")]
    return (*names, row["series"], *(load or 0 for load in loads))
