"""Loading what a comparison needs: runs, cells and trials, one statement each.

Nothing wide is read: no parsed output, no histogram of a trial. JSON comes as text, so that what
many rows say alike is read once: Django's own reading was a third of a comparison's time.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import orjson
from django.contrib.postgres.fields import ArrayField
from django.db.models import (
    BooleanField,
    Exists,
    F,
    Func,
    OuterRef,
    Q,
    QuerySet,
    TextField,
    UUIDField,
    Value,
)
from django.db.models.functions import Cast
from django.utils.text import slugify

from backend.analysis.facts import (
    CellFact,
    HostFact,
    RunFact,
    ServerFact,
    TrialFact,
    WorkloadFact,
)
from backend.analysis.query import CompareQuery
from backend.runs.models import Cell, Host, Run, Server, Trial

MAX_RUNS = 100
MAX_CELLS = 5_000
MAX_TRIALS = 20_000


class NotVisible(LookupError):
    """The asked-for thing does not exist, or is not this reader's: the two look the same."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The cells of a query, without trials yet, and what had to be left out."""

    runs: tuple[RunFact, ...]
    cells: tuple[CellFact, ...]
    left_out: tuple[str, ...]


def load_cells(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> Loaded:
    """The runs and cells `query` selects among the workspaces a reader may see."""
    wanted = _selection(query, workspace_ids)
    runs, left_out = _runs(query, workspace_ids, wanted)
    cells = _cells(wanted, runs)
    if len(cells) > MAX_CELLS:
        cells = cells[:MAX_CELLS]
        left_out.append(f"the first {MAX_CELLS} cells are shown")
    return Loaded(tuple(runs.values()), tuple(cells), tuple(left_out))


def _selection(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> Q:
    """The filters of the query on Cell."""
    wanted = Q(workspace_id__in=workspace_ids)
    if query.workload:
        wanted &= Q(workload__name__in=query.workload)
    if query.tool:
        wanted &= Q(tool__in=query.tool)
    if query.server:
        wanted &= Q(server_id__in=_servers_named(query.server, workspace_ids))
    if query.host:
        hosts = _hosts_named(query.host, workspace_ids)
        wanted &= Q(run__server_host_id__in=hosts) | Q(run__client_host_id__in=hosts)
    return wanted


def _servers_named(names: Iterable[str], workspace_ids: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    rows = Server.objects.filter(workspace_id__in=workspace_ids).values_list("pk", "name")
    wanted = set(names)
    return [pk for pk, name in rows if name in wanted or slug_of(name) in wanted]


def _hosts_named(names: Iterable[str], workspace_ids: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    rows = Host.objects.filter(workspace_id__in=workspace_ids).only("name", "cpu_model")
    wanted = set(names)
    return [host.pk for host in rows if host.name in wanted or _host_slug(host) in wanted]


def slug_of(name: str) -> str:
    """How a name stands in a link."""
    return slugify(name, allow_unicode=True) or name


def _host_slug(host: Host) -> str:
    return slug_of(host.name or host.cpu_model or str(host.pk))


def _runs(
    query: CompareQuery, workspace_ids: Sequence[uuid.UUID], wanted: Q
) -> tuple[dict[uuid.UUID, RunFact], list[str]]:
    rows = Run.objects.filter(workspace_id__in=workspace_ids)
    if query.workspace is not None:
        rows = rows.filter(workspace__slug=query.workspace)
    if query.run:
        rows = rows.filter(pk__in=query.run)
    else:
        rows = rows.filter(Exists(Cell.objects.filter(wanted, run=OuterRef("pk"))))
    found = list(_narrow(rows)[: MAX_RUNS + 1])
    missing = set(query.run) - {run.pk for run in found}
    if missing and len(found) <= MAX_RUNS:
        raise NotVisible(f"There is no run {min(missing)}, or it is not shared with you.")
    left_out = [f"only the newest {MAX_RUNS} runs are shown"] if len(found) > MAX_RUNS else []
    return {run.pk: run_fact(run) for run in found[:MAX_RUNS]}, left_out


def _narrow(rows: QuerySet[Run]) -> QuerySet[Run]:
    related = rows.select_related("workspace", "server_host", "client_host")
    return related.defer("plan", "facts", "labels").order_by("-recorded_at", "pk")


def run_fact(run: Run) -> RunFact:
    return RunFact(
        id=run.pk,
        workspace_id=run.workspace_id,
        workspace=run.workspace.slug,
        relevant_share=run.workspace.relevant_share,
        started_at=run.started_at,
        recorded_at=run.recorded_at,
        same_host=run.same_host,
        server_host=host_fact(run.server_host),
        client_host=host_fact(run.client_host),
    )


def host_fact(host: Host | None) -> HostFact | None:
    if host is None:
        return None
    return HostFact(
        id=host.pk,
        name=host.name,
        slug=_host_slug(host),
        cpu_model=host.cpu_model,
        cores=host.cores,
        memory_bytes=host.memory_bytes,
        virtualisation=host.virtualisation,
        os=host.os,
        kernel=host.kernel,
    )


def _text(column: str) -> Cast:
    """A JSON column as its text."""
    return Cast(column, TextField())


def _check_ids(column: str) -> Func:
    """The ids of the findings in a JSON column, as the text of a list."""
    path = Value("$[*].id")
    return Func(F(column), path, function="jsonb_path_query_array", output_field=TextField())


def _among(column: str, ids: Iterable[uuid.UUID]) -> Func:
    """`column = ANY(ids)`: one parameter, where Django's `in` prepares and quotes each of them."""
    listed = Value(list(ids), output_field=ArrayField(UUIDField()))
    return Func(
        F(column),
        listed,
        template="%(expressions)s)",
        arg_joiner=" = ANY(",
        output_field=BooleanField(),
    )


_SERVER = ("pk", "name", "version", "slot")
_WORKLOAD = ("pk", "name", "method", "path", "payload_bytes", "keepalive", "tls")
_CELL = ("pk", "run_id", "series_key", "tool", "tool_version", "loop", "connections", "rate_rps")


def _cells(wanted: Q, runs: dict[uuid.UUID, RunFact]) -> list[CellFact]:
    """The cells with their servers and workloads, in one statement."""
    rows = (
        Cell.objects.filter(wanted, run_id__in=list(runs))
        .order_by("run__recorded_at", "pk")
        .values_list(
            *_CELL,
            _text("percentiles_us"),
            _check_ids("checks"),
            *(f"server__{name}" for name in _SERVER),
            _text("server__configuration"),
            *(f"workload__{name}" for name in _WORKLOAD),
            _text("workload__headers"),
        )[: MAX_CELLS + 1]
    )
    servers: dict[uuid.UUID, ServerFact] = {}
    workloads: dict[uuid.UUID, WorkloadFact] = {}
    return [_cell(row, runs, servers, workloads) for row in rows]


def _cell(
    row: Sequence[Any],
    runs: Mapping[uuid.UUID, RunFact],
    servers: dict[uuid.UUID, ServerFact],
    workloads: dict[uuid.UUID, WorkloadFact],
) -> CellFact:
    own, server, workload = row[:_OWN], row[_OWN : _OWN + _OF_SERVER], row[_OWN + _OF_SERVER :]
    if server[0] not in servers:
        servers[server[0]] = ServerFact(*_last_read(server))
    if workload[0] not in workloads:
        workloads[workload[0]] = WorkloadFact(*_last_read(workload))
    return CellFact(
        id=own[0],
        run=runs[own[1]],
        series_key=bytes(own[2]),
        server=servers[server[0]],
        workload=workloads[workload[0]],
        tool=own[3],
        tool_version=own[4],
        loop=own[5],
        connections=own[6],
        rate_rps=own[7],
        percentiles_us=orjson.loads(own[8]) or {},
        checks=check_ids(own[9]),
    )


def _last_read(columns: Sequence[Any]) -> list[Any]:
    """The columns with the last read, which is free-form JSON with integers of any size."""
    return [*columns[:-1], json.loads(columns[-1])]


# How many columns of a row are the cell's and the server's.
_OWN, _OF_SERVER = len(_CELL) + 2, len(_SERVER) + 1
_TRIAL = ("cell_id", "pk", "throughput_rps", "error_rate", "requests_completed", "requests_ok")


def with_trials(cells: Sequence[CellFact]) -> tuple[list[CellFact], list[str]]:
    """The cells with their counted trials, in the order of execution; cells without any drop.

    A trial counts when it is no warm-up and has a throughput.
    """
    rows = list(
        Trial.objects.filter(_among("cell_id", (cell.id for cell in cells)), warmup=False)
        .exclude(throughput_rps=None)
        .order_by("cell_id", "ordinal")
        .values_list(*_TRIAL, _text("percentiles_us"), "percentiles_origin", _check_ids("checks"))[
            : MAX_TRIALS + 1
        ]
    )
    trials: dict[uuid.UUID, list[TrialFact]] = {}
    for row in rows[:MAX_TRIALS]:
        trials.setdefault(row[0], []).append(_trial(row[1:]))
    known = [replace(cell, trials=tuple(trials[cell.id])) for cell in cells if cell.id in trials]
    cut = [f"only {MAX_TRIALS} trials are counted"] if len(rows) > MAX_TRIALS else []
    return known, cut


def _trial(row: Sequence[Any]) -> TrialFact:
    return TrialFact(
        id=row[0],
        throughput_rps=row[1],
        error_rate=row[2],
        requests_completed=row[3],
        requests_ok=row[4],
        percentiles_us=orjson.loads(row[5]) or {},
        origin=row[6],
        checks=check_ids(row[7]),
    )


def load_histograms(cell_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, bytes]:
    """The stored merged histograms, for points pooled over several runs."""
    if not cell_ids:
        return {}
    rows = Cell.objects.filter(_among("pk", cell_ids)).values_list("pk", "histogram")
    return {pk: bytes(stored) for pk, stored in rows if stored is not None}


@lru_cache(maxsize=4096)
def check_ids(listed: str) -> tuple[str, ...]:
    """The ids in the text of a list, each once: hundreds of trials fire the same few checks."""
    return tuple(dict.fromkeys(str(id_) for id_ in orjson.loads(listed) if id_))
