"""Loading what a comparison needs: runs, cells and trials, one statement each.

Nothing wide is read: no parsed output, no histogram of a trial. JSON comes as text, so that what
many rows say alike is read once: Django's own reading was a third of a comparison's time. Trials
that tell nothing are read with why: their output could not be read, or the load tool failed.
"""

import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import orjson
from django.db.models import Exists, OuterRef, TextField
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast
from msgspec.structs import replace
from psycopg.pq import Format

from backend.analysis.loading.selection import Selection, require_recorded, select
from backend.analysis.loading.series_cache import WorkspaceSettings
from backend.analysis.loading.validation import asking, require_loads
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.metrics import METRICS, RESOURCE_FIGURES
from backend.analysis.query.records import (
    LoadedCell,
    LoadedDismissal,
    LoadedRun,
    LoadedTrial,
)
from backend.runs.amending.dismissals import dismissals_of
from backend.runs.database.bulk import among
from backend.runs.database.read_router import reading_connection
from backend.runs.measured.evidence import response_bytes
from backend.runs.measured.measured import throughput_origin
from backend.runs.models import Cell, Trial
from backend.runs.tables.happening import newest_first, place_of

MAX_RUNS = 100
MAX_CELLS = 5_000
MAX_TRIALS = 20_000
_ROWS_AT_ONCE = 500
# Of a text of JSON that is kept with what it says.
MOST_KEPT_LENGTH = 2 << 10
NO_FIGURE = "The output has no figure."
CUT_OFF = "The output was cut off before the first figure."


@dataclass(frozen=True, slots=True)
class LoadedCells:
    """The cells of a query, without trials yet, and what had to be left out.

    The query names things as they are called now.
    """

    query: CompareQuery
    runs: tuple[LoadedRun, ...]
    cells: tuple[LoadedCell, ...]
    left_out: tuple[str, ...]


def fetch_cells(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> LoadedCells:
    """The runs and cells `query` selects among the workspaces a reader may see.

    Raises NotVisible and UnknownValue.
    """
    selection = select(query, workspace_ids)
    runs, left_out = _runs(selection)
    require_recorded(selection, runs)
    cells = _cells(selection, runs)
    with asking(selection.query):
        loads = {(cell.connections, cell.rate_rps) for cell in cells}
        require_loads(selection.query, loads, selection.workspace_ids)
    if len(cells) > MAX_CELLS:
        cells = cells[:MAX_CELLS]
        left_out.append(f"the first {MAX_CELLS:,} cells are shown")
    return LoadedCells(selection.query, tuple(runs.values()), tuple(cells), tuple(left_out))


_RUN = ("pk", "workspace_id", "started_at", "recorded_at", "same_host", "is_open", "plan_sha256")


def _runs(selection: Selection) -> tuple[dict[uuid.UUID, LoadedRun], list[str]]:
    rows = newest_first(selection.chosen_runs())
    if not selection.query.run_ids and (selection.is_narrowed or selection.load):
        rows = rows.filter(Exists(selection.cells().filter(run=OuterRef("pk"))))
    columns = (*_RUN, as_text("labels"), _governor("client"), _governor("server"))
    newest = list(rows.values_list(*columns)[: MAX_RUNS + 1])
    left_out = [f"only the newest {MAX_RUNS} runs are shown"] if len(newest) > MAX_RUNS else []
    settings = {workspace.id: workspace for workspace in selection.workspaces}
    return {row[0]: _run(row, settings[row[1]]) for row in newest[:MAX_RUNS]}, left_out


def _run(row: Sequence[Any], settings: WorkspaceSettings) -> LoadedRun:
    return LoadedRun(
        id=row[0],
        workspace=settings.slug,
        relevant_share=settings.relevant_share,
        must_match=settings.must_match,
        min_trials=settings.min_trials,
        started_at=row[2],
        recorded_at=row[3],
        same_host=row[4],
        is_open=row[5],
        has_plan=bool(row[6]),
        labels=_read_object(row[7]),
        client_governor=row[8] or None,
        server_governor=row[9] or None,
    )


def as_text(column: str) -> Cast:
    """A JSON column as its text."""
    return Cast(column, TextField())


def _governor(role: str) -> KeyTextTransform:
    """The CPU governor of a host of the run, as the facts of the host say."""
    return KeyTextTransform("cpu_governor", KeyTransform(role, "facts"))


# The statements of a comparison are text: Django takes as long to compose them as PostgreSQL to
# answer.
_CELLS = """
    SELECT id, run_id, series_id, connections, rate_rps, percentiles_us::text,
           jsonb_path_query_array(checks, '$[*].id')::text
    FROM runs_cell
    WHERE run_id = ANY(%(runs)s::uuid[]) AND {condition}
    LIMIT %(most)s
    """


def _cells(selection: Selection, runs: Mapping[uuid.UUID, LoadedRun]) -> list[LoadedCell]:
    """The cells in one statement, those of the oldest run first."""
    condition, values = selection.cells_where()
    statement = _CELLS.format(condition=condition)
    rows = _rows(statement, {**values, "runs": list(runs), "most": MAX_CELLS + 1})
    cells = [
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
    # By integers, the order of UUIDs: comparing these takes a call each.
    return sorted(cells, key=lambda cell: (place_of(cell.run), cell.id.int))


# The threads are those that the agent asked for, the start is that of the server.
_TRIALS = """
    SELECT cell_id, id, throughput_rps, error_rate, requests_completed, failed, attempts,
           output_sha256, bytes_received, percentiles_us::text, percentiles_origin, errors::text,
           jsonb_path_query_array(checks, '$[*].id')::text, repeat, latency_resolution_us,
           elapsed_s, ordinal, load ->> 'threads', printed::text, load ->> 'start',
           extract(epoch FROM started_at)::float8 {more}
    FROM runs_trial
    WHERE cell_id = ANY(%s::uuid[]) AND NOT warmup
    ORDER BY cell_id, ordinal
    LIMIT %s
    """
# The columns of metrics that are not spelled like their names. JSON comes as text; of the
# resources, which may have 64 KB a trial, the numbers that metrics read.
_RESOURCES = ", ".join(
    f"""'{name}', jsonb_path_query_first(resources, '$.{name} ? (@.type() == "number")')"""
    for name in RESOURCE_FIGURES
)
_COLUMNS = {
    "cell__rate_rps": "(SELECT rate_rps FROM runs_cell WHERE runs_cell.id = cell_id)",
    "resources": f"jsonb_build_object({_RESOURCES})::text",
}
_JSON = frozenset({"resources"})


@dataclass(frozen=True, slots=True)
class LoadedTrials:
    """Cells with their counted trials, and what does not count.

    `unread`: by cell, the trials without any figure. `left_out`: sentences on what is not shown.
    """

    cells: list[LoadedCell]
    unread: Mapping[uuid.UUID, Sequence[uuid.UUID]]
    left_out: list[str]


def fetch_trials(cells: Sequence[LoadedCell], metrics: Iterable[str] = ()) -> LoadedTrials:
    """The cells with their counted trials in the order of execution.

    A trial counts when it is no warm-up and has a figure: a throughput, a share of failures or a
    latency. Cells without such a trial drop out. `metrics`: those whose columns are wanted too.
    """
    rows, more = _trial_rows(cells, metrics)
    # By integers: a UUID takes a call to be hashed.
    trials: dict[int, list[LoadedTrial]] = defaultdict(list)
    unread: dict[uuid.UUID, list[uuid.UUID]] = defaultdict(list)
    for row in rows[:MAX_TRIALS]:
        trial = _trial(row, more)
        if trial.has_figure:
            trials[row[0].int].append(trial)
        else:
            unread[row[0]].append(trial.id)
    filled = [
        replace(cell, trials=tuple(own)) for cell in cells if (own := trials.get(cell.id.int))
    ]
    left_out = [f"only {MAX_TRIALS:,} trials are counted"] if len(rows) > MAX_TRIALS else []
    if without_figure := sum(map(len, unread.values())):
        plural = "s" if without_figure > 1 else ""
        left_out.append(f"{without_figure} trial{plural} without any figure")
    return LoadedTrials(filled, unread, left_out)


def _trial_rows(
    cells: Sequence[LoadedCell], metrics: Iterable[str]
) -> tuple[list[tuple[Any, ...]], tuple[str, ...]]:
    """The trials of the cells, one more than are counted; and the columns that `metrics` add."""
    more = tuple(dict.fromkeys(name for metric in metrics for name in METRICS[metric].columns))
    further = "".join([f", {_COLUMNS.get(name, name)}" for name in more])
    cell_ids = [cell.id for cell in cells]
    return _rows(_TRIALS.format(more=further), [cell_ids, MAX_TRIALS + 1]), more


def _rows(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with reading_connection().cursor() as cursor:
        # Numbers and ids as PostgreSQL has them: writing and reading them as text takes longer.
        cursor.cursor.format = Format.BINARY
        cursor.execute(statement, values)
        # While rows are made of what PostgreSQL sent, no other thread runs.
        return list(chain.from_iterable(iter(lambda: cursor.fetchmany(_ROWS_AT_ONCE), [])))


def _trial(row: Sequence[Any], more: Sequence[str]) -> LoadedTrial:
    (_, id_, throughput_rps, error_rate, completed, failed, attempts, output) = row[:8]
    (received_bytes, percentiles, origin, errors_text, checks, repeat, latency_step_us) = row[8:15]
    (elapsed_s, ordinal, threads, printed_text, start, began_s) = row[15:21]
    errors, printed = _read_object(errors_text), _read_object(printed_text)
    return LoadedTrial(
        id=id_,
        throughput_rps=throughput_rps,
        error_rate=error_rate,
        requests_completed=completed,
        attempts=(failed, attempts) if attempts and failed is not None else None,
        percentiles_us=orjson.loads(percentiles),
        origin=origin,
        errors=errors,
        checks=check_ids(checks),
        repeat=repeat,
        latency_step_us=latency_step_us,
        throughput_origin=throughput_origin(throughput_rps, completed, elapsed_s),
        ordinal=ordinal,
        threads=_count(threads) or printed.get("threads"),
        printed=printed,
        # The agent counts from 1.
        start=_count(start) or None,
        began_s=began_s,
        more={
            name: _read_object(value) if name in _JSON else value
            for name, value in zip(more, row[21:], strict=True)
        },
        output=None if output is None else bytes(output),
        response_bytes=response_bytes(received_bytes, completed),
    )


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


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


_CURVES = """
    SELECT id, curve::text FROM runs_cell WHERE id = ANY(%s::uuid[]) AND curve <> 'null'
    """


def fetch_curves(cell_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, dict[str, Any]]:
    """The stored percentile curves: {"count": n, "points": [[percent, µs], …]}."""
    if not cell_ids:
        return {}
    return {pk: orjson.loads(text) for pk, text in _rows(_CURVES, [list(cell_ids)])}


@lru_cache(maxsize=4096)
def check_ids(listed: str) -> tuple[str, ...]:
    """The ids in the text of a list, each once: hundreds of trials fire the same few checks."""
    return tuple(dict.fromkeys(str(id_) for id_ in orjson.loads(listed) if id_))


def _read_object(text: str) -> Mapping[str, Any]:
    """An object that many rows have alike, with integers of any size; not to be changed.

    A long one is not kept: thousands of them would take memory that is never given back.
    """
    return _read_short(text) if len(text) <= MOST_KEPT_LENGTH else _read_anew(text)


def _read_anew(text: str) -> Mapping[str, Any]:
    value: dict[str, Any] = json.loads(text)
    return value


_read_short = lru_cache(maxsize=4096)(_read_anew)


def fetch_reasons(trial_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, str]:
    """By trial, one sentence on why it has no figure; no statement where there is no trial."""
    ids = list(trial_ids)
    if not ids:
        return {}
    rows = Trial.objects.filter(among("pk", ids))
    columns = rows.values_list("pk", "error", "exit_code", "incomplete")
    return {pk: _reason(error, exit_code, cut) for pk, error, exit_code, cut in columns}


def _reason(error: str, exit_code: int | None, is_cut: bool) -> str:
    if error:
        return error
    if exit_code:
        return f"The load tool ended with exit status {exit_code}."
    return CUT_OFF if is_cut else NO_FIGURE


def fetch_trial_counts(cell_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, int]:
    """How many trials of each cell have a figure; no statement where there is no cell."""
    ids = list(cell_ids)
    if not ids:
        return {}
    return dict(Cell.objects.filter(among("pk", ids)).values_list("pk", "trial_count"))
