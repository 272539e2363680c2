"""Loading what a comparison needs: runs, cells and trials, one statement each.

Nothing wide is read: no parsed output, no histogram of a trial. JSON comes as text, so that what
many rows say alike is read once: Django's own reading was a third of a comparison's time.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
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
from django.db.models.functions import Cast, Coalesce

from backend.analysis.loading.former_names import replace_former_names
from backend.analysis.loading.run_labels import with_any_label
from backend.analysis.loading.series_cache import (
    Catalogue,
    WorkspaceSettings,
    get_catalogue,
    load_settings,
)
from backend.analysis.loading.validation import (
    LOADS,
    Load,
    UnknownValue,
    asking,
    require_labels,
    require_loads,
    require_values,
)
from backend.analysis.query.compare_query import FILTERS, CompareQuery
from backend.analysis.query.fields import FIELDS, UNKNOWN
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.records import (
    LoadedCell,
    LoadedDismissal,
    LoadedRun,
    LoadedSeries,
    LoadedTrial,
)
from backend.runs.dismissals import dismissals_of
from backend.runs.measured import attempts
from backend.runs.models import Cell, Run, Trial
from backend.runs.transactions import repeatable_read

MAX_RUNS = 100
MAX_CELLS = 5_000
MAX_TRIALS = 20_000


class NotVisible(LookupError):
    """The asked-for thing does not exist, or is not this reader's: the two look the same."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The cells of a query, without trials yet, and what had to be left out.

    The query names things as they are called now.
    """

    query: CompareQuery
    runs: tuple[LoadedRun, ...]
    cells: tuple[LoadedCell, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """What a query selects: of all series of the reader some, and conditions on cells and runs."""

    # What was asked, by the names that things have now.
    query: CompareQuery
    tenants: tuple[WorkspaceSettings, ...]
    catalogues: tuple[Catalogue, ...]
    series: Mapping[uuid.UUID, LoadedSeries]
    # Whether `series` are fewer than all that the reader has.
    narrowed: bool
    load: Q
    runs: Q

    @property
    def workspace_ids(self) -> list[uuid.UUID]:
        return [tenant.id for tenant in self.tenants]

    def cells(self) -> QuerySet[Cell]:
        """The selected cells, of whichever run."""
        rows = Cell.objects.filter(self.load)
        return rows.filter(among("series_id", self.series)) if self.narrowed else rows

    def chosen_runs(self) -> QuerySet[Run]:
        """The runs the conditions on runs leave, whether or not they have a selected cell."""
        rows = Run.objects.annotate(happened_at=Coalesce("started_at", "recorded_at"))
        return rows.filter(self.runs, workspace_id__in=self.workspace_ids)


def select(
    query: CompareQuery, workspace_ids: Sequence[uuid.UUID], *, without: str | None = None
) -> Selection:
    """What `query` selects among the workspaces a reader may see, but for the filter `without`.

    Raises UnknownValue for what nothing there is called.
    """
    theirs = load_settings(workspace_ids, query.workspace)
    if query.workspace is not None and not theirs:
        raise UnknownValue(
            "workspace", query.workspace, {one.slug for one in load_settings(workspace_ids)}
        )
    catalogues = tuple(get_catalogue(tenant) for tenant in theirs)
    query = replace_former_names(query, catalogues)
    with asking(query):
        require_values(query, catalogues)
    asked = {
        name: frozenset(values)
        for name in FILTERS
        if name != without and (values := getattr(query, name)) and FIELDS[name].level == "series"
    }
    chosen = {one.id: one for catalogue in catalogues for one in _chosen(catalogue, asked)}
    return Selection(
        query=query,
        tenants=tuple(theirs),
        catalogues=catalogues,
        series=chosen,
        narrowed=len(chosen) < sum(len(catalogue.series) for catalogue in catalogues),
        load=_load_filter(query, without),
        runs=_run_filter(query, without),
    )


def _chosen(catalogue: Catalogue, asked: Mapping[str, frozenset[str]]) -> Sequence[LoadedSeries]:
    """The series of a catalogue that every filter leaves."""
    left = list(range(len(catalogue.series)))
    for name, wanted in asked.items():
        spellings = catalogue.spellings(FIELDS[name])
        left = [number for number in left if not wanted.isdisjoint(spellings[number])]
    return [catalogue.series[number] for number in left]


def _load_filter(query: CompareQuery, without: str | None) -> Q:
    wanted = Q()
    for name, column in LOADS.items():
        values = () if name == without else getattr(query, name)
        if values:
            numbers = [float(value) for value in values if value != UNKNOWN]
            unknown = Q(**{f"{column}__isnull": True}) if UNKNOWN in values else Q()
            wanted &= Q(**{f"{column}__in": numbers}) | unknown if numbers else unknown
    return wanted


def _run_filter(query: CompareQuery, without: str | None) -> Q:
    wanted = Q()
    if query.run and without != "run":
        wanted &= Q(pk__in=query.run)
    if query.label and without != "label":
        wanted &= with_any_label(query.label)
    if query.since is not None:
        wanted &= Q(happened_at__gte=datetime.combine(query.since, time(), UTC))
    if query.until is not None:
        end = datetime.combine(query.until, time(), UTC) + timedelta(days=1)
        wanted &= Q(happened_at__lt=end)
    return wanted


@repeatable_read()
def resolve_query(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> CompareQuery:
    """`query` by the names of now, as far as it means something recorded.

    Raises UnknownValue, and NotVisible for a run that is not there for the reader.
    """
    selection = select(query, workspace_ids)
    require_recorded(selection)
    with asking(selection.query):
        require_loads(selection.query, (), selection.workspace_ids)
    return selection.query


def fetch_cells(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> Loaded:
    """The runs and cells `query` selects among the workspaces a reader may see.

    Raises NotVisible and UnknownValue.
    """
    selection = select(query, workspace_ids)
    require_recorded(selection)
    runs, left_out = _runs(query, selection)
    cells = _cells(selection, runs)
    with asking(selection.query):
        require_loads(selection.query, _loads(cells), selection.workspace_ids)
    if len(cells) > MAX_CELLS:
        cells = cells[:MAX_CELLS]
        left_out.append(f"the first {MAX_CELLS} cells are shown")
    return Loaded(selection.query, tuple(runs.values()), tuple(cells), tuple(left_out))


def require_recorded(selection: Selection) -> None:
    """Raises NotVisible for a run of the query that does not exist or is not the reader's, and
    UnknownValue for a label that no run has."""
    query = selection.query
    with asking(query):
        require_labels(query, selection.workspace_ids)
    if not query.run:
        return
    theirs = Run.objects.filter(pk__in=query.run, workspace_id__in=selection.workspace_ids)
    if missing := set(query.run) - set(theirs.values_list("pk", flat=True)):
        raise NotVisible(f"There is no run {min(missing)}, or it is not shared with you.")


_RUN = ("pk", "workspace_id", "started_at", "recorded_at", "same_host", "is_open")


def _runs(
    query: CompareQuery, selection: Selection
) -> tuple[dict[uuid.UUID, LoadedRun], list[str]]:
    rows = selection.chosen_runs().order_by("-recorded_at", "pk")
    if not query.run and (selection.narrowed or selection.load):
        rows = rows.filter(Exists(selection.cells().filter(run=OuterRef("pk"))))
    found = list(rows.values_list(*_RUN, as_text("labels"))[: MAX_RUNS + 1])
    left_out = [f"only the newest {MAX_RUNS} runs are shown"] if len(found) > MAX_RUNS else []
    by_id = {tenant.id: tenant for tenant in selection.tenants}
    return {row[0]: _run_fact(row, by_id[row[1]]) for row in found[:MAX_RUNS]}, left_out


def _run_fact(row: Sequence[Any], tenant: WorkspaceSettings) -> LoadedRun:
    return LoadedRun(
        id=row[0],
        workspace=tenant.slug,
        relevant_share=tenant.relevant_share,
        must_match=tenant.must_match,
        min_trials=tenant.min_trials,
        started_at=row[2],
        recorded_at=row[3],
        same_host=row[4],
        is_open=row[5],
        labels=_read(row[6]),
    )


def as_text(column: str) -> Cast:
    """A JSON column as its text."""
    return Cast(column, TextField())


def _check_ids(column: str) -> Func:
    """The ids of the findings in a JSON column, as the text of a list."""
    path = Value("$[*].id")
    return Func(F(column), path, function="jsonb_path_query_array", output_field=TextField())


def among(column: str, ids: Iterable[uuid.UUID]) -> Func:
    """`column = ANY(ids)`: one parameter, where Django's `in` prepares and quotes each of them."""
    listed = Value(list(ids), output_field=ArrayField(UUIDField()))
    return Func(
        F(column),
        listed,
        template="%(expressions)s)",
        arg_joiner=" = ANY(",
        output_field=BooleanField(),
    )


_CELL = ("pk", "run_id", "series_id", "connections", "rate_rps")


def _cells(selection: Selection, runs: Mapping[uuid.UUID, LoadedRun]) -> list[LoadedCell]:
    """The cells in one statement, those of the oldest run first."""
    rows = (
        selection.cells()
        .filter(among("run_id", runs))
        .values_list(*_CELL, as_text("percentiles_us"), _check_ids("checks"))[: MAX_CELLS + 1]
    )
    known = [
        LoadedCell(
            id=pk,
            run=runs[run_id],
            series=selection.series[series_id],
            connections=connections,
            rate_rps=rate_rps,
            percentiles_us=orjson.loads(percentiles),
            checks=check_ids(checks),
        )
        for pk, run_id, series_id, connections, rate_rps, percentiles, checks in rows
        # A series that came after the catalogue was read comes with the next answer.
        if series_id in selection.series
    ]
    return sorted(known, key=lambda cell: (cell.run.recorded_at, cell.id))


def _loads(cells: Iterable[LoadedCell]) -> set[Load]:
    return {(cell.connections, cell.rate_rps) for cell in cells}


_TRIAL = ("cell_id", "pk", "throughput_rps", "error_rate", "requests_completed", "requests_ok")
# Of the rest, these are JSON, which comes as text.
_JSON = frozenset({"resources"})


def fetch_trials(
    cells: Sequence[LoadedCell], metrics: Iterable[str] = ()
) -> tuple[list[LoadedCell], list[str]]:
    """The cells with their counted trials, in the order of execution; cells without any drop.

    A trial counts when it is no warm-up and tells something: a throughput, a share of failures or
    a latency. `metrics`: those whose further columns are wanted.
    """
    more = tuple(dict.fromkeys(name for metric in metrics for name in METRICS[metric].columns))
    rows = list(
        Trial.objects.filter(among("cell_id", (cell.id for cell in cells)), warmup=False)
        .order_by("cell_id", "ordinal")
        .values_list(
            *_TRIAL,
            as_text("percentiles_us"),
            "percentiles_origin",
            as_text("errors"),
            _check_ids("checks"),
            *(as_text(name) if name in _JSON else name for name in more),
        )[: MAX_TRIALS + 1]
    )
    trials: dict[uuid.UUID, list[LoadedTrial]] = {}
    silent = 0
    for row in rows[:MAX_TRIALS]:
        trial = _trial(row[1:], more)
        if trial.tells:
            trials.setdefault(row[0], []).append(trial)
        else:
            silent += 1
    known = [replace(cell, trials=tuple(trials[cell.id])) for cell in cells if cell.id in trials]
    cut = [f"only {MAX_TRIALS} trials are counted"] if len(rows) > MAX_TRIALS else []
    if silent:
        cut.append(f"{silent} trial{'s' if silent > 1 else ''} without any figure")
    return known, cut


def _trial(row: Sequence[Any], more: Sequence[str]) -> LoadedTrial:
    errors = _read(row[7])
    counts = attempts(row[3], row[4], errors)
    return LoadedTrial(
        id=row[0],
        throughput_rps=row[1],
        error_rate=row[2],
        requests_completed=row[3],
        attempts=counts if counts and counts[1] else None,
        percentiles_us=orjson.loads(row[5]),
        origin=row[6],
        errors=errors,
        checks=check_ids(row[8]),
        more={
            name: _read(value) if name in _JSON else value
            for name, value in zip(more, row[9:], strict=True)
        },
    )


def fetch_dismissals(run_ids: Iterable[uuid.UUID]) -> dict[tuple[uuid.UUID, str], LoadedDismissal]:
    """The dismissals that stand, by run and check."""
    return {
        (run_id, check_id): LoadedDismissal(
            run_id, check_id, row.reason, str(row.author) if row.author else None, row.dismissed_at
        )
        for run_id, rows in dismissals_of(run_ids).items()
        for check_id, row in rows.items()
    }


def fetch_histograms(cell_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, bytes]:
    """The stored merged histograms, for points pooled over several runs."""
    if not cell_ids:
        return {}
    rows = Cell.objects.filter(among("pk", cell_ids)).values_list("pk", "histogram")
    return {pk: bytes(stored) for pk, stored in rows if stored is not None}


def fetch_curves(cell_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, dict[str, Any]]:
    """The stored percentile curves: {"count": n, "points": [[percent, µs], …]}."""
    if not cell_ids:
        return {}
    rows = Cell.objects.filter(among("pk", cell_ids)).exclude(curve=None)
    return {pk: orjson.loads(text) for pk, text in rows.values_list("pk", as_text("curve"))}


@lru_cache(maxsize=4096)
def check_ids(listed: str) -> tuple[str, ...]:
    """The ids in the text of a list, each once: hundreds of trials fire the same few checks."""
    return tuple(dict.fromkeys(str(id_) for id_ in orjson.loads(listed) if id_))


@lru_cache(maxsize=4096)
def _read(text: str) -> Mapping[str, Any]:
    """An object that many rows have alike, with integers of any size; not to be changed."""
    read: dict[str, Any] = json.loads(text)
    return read
