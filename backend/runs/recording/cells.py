"""Cells: the trials of one series at one load point within one run, merged."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Sum

from backend.runs.checks import CheckInput, check_cell
from backend.runs.database.bulk import among, copy_rows, delete_rows
from backend.runs.database.json_bytes import bytes_of_columns
from backend.runs.database.portions import portions
from backend.runs.measured.evidence import with_own_output
from backend.runs.models import Cell, Run, Series, Trial
from backend.stats import Histogram
from backend.stats.histogram import percentile_curve, stored_percentiles
from backend.stats.replicates import centre_of_run


def load_of(cell: Cell) -> tuple[object, ...]:
    """Series and load: no other cell of the run has both."""
    return (cell.series_id, cell.connections, cell.rate_rps)


# The columns that merging needs of a trial recorded earlier.
MEMBER_COLUMNS = (
    *("ordinal", "warmup", "throughput_rps", "error_rate", "percentiles_us"),
    *("requests_completed", "histogram", "cell", "output_sha256"),
    *("load", "started_at", "finished_at", "latency_mean_us", "latency_max_us"),
)
# Of cells that are joined together: so many, and so many bytes of their trials.
JOINED_AT_ONCE, BYTES_AT_ONCE = 500, 8 << 20


def join_cells(pairs: Sequence[Sequence[Cell]], series: Series) -> None:
    """Replace each pair of cells, which are of one run at one load, by a new cell of `series` that
    has all their trials.

    The first of a pair has its run loaded, with the workspace. It takes as many statements for
    hundreds of small cells as for two.
    """
    listing = runs_listing_warmups({cells[0].run_id for cells in pairs})
    for some in portions(_with_sizes(pairs), (JOINED_AT_ONCE, BYTES_AT_ONCE)):
        _join_some(some, series, listing)


def _with_sizes(
    pairs: Sequence[Sequence[Cell]],
) -> Iterator[tuple[Sequence[Cell], tuple[int, int]]]:
    of_cells = among("cell", [cell.pk for cells in pairs for cell in cells])
    trials = Trial.objects.filter(of_cells).order_by().values("cell")
    totals = trials.annotate(size=Sum(bytes_of_columns(Trial, MEMBER_COLUMNS)))
    sizes = dict(totals.values_list("cell", "size"))
    for cells in pairs:
        yield cells, (1, sum(sizes.get(cell.pk, 0) for cell in cells))


def _join_some(pairs: Sequence[Sequence[Cell]], series: Series, listing: Collection[UUID]) -> None:
    joined = [_empty_cell(cells[0], series) for cells in pairs]
    place_of = {cell.pk: place for place, cells in enumerate(pairs) for cell in cells}
    trials = Trial.objects.filter(among("cell", place_of)).order_by("ordinal")
    members: dict[int, list[Trial]] = defaultdict(list)
    for trial in trials.only(*MEMBER_COLUMNS):
        members[place_of[trial.cell_id]].append(trial)
    for place, cell in enumerate(joined):
        merge_cell(cell, members[place], lists_warmups=cell.run_id in listing)
    copy_rows(Cell, joined)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE runs_trial SET cell_id = moved.joined
            FROM unnest(%s::uuid[], %s::uuid[]) AS moved (cell, joined)
            WHERE runs_trial.cell_id = moved.cell
            """,
            [list(place_of), [joined[place].pk for place in place_of.values()]],
        )
    delete_rows(Cell.objects.filter(among("pk", place_of)))


def _empty_cell(cell: Cell, series: Series) -> Cell:
    """A new cell of `series` in the same run and at the same load."""
    return Cell(
        run=cell.run,
        workspace_id=cell.workspace_id,
        series=series,
        connections=cell.connections,
        rate_rps=cell.rate_rps,
    )


def runs_listing_warmups(run_ids: Collection[UUID], unwritten: Iterable[Trial] = ()) -> set[UUID]:
    """The runs, of these, in which a load point without a warm-up had none; in one statement, which
    reads no plan.

    A saved report does not say what ran before it. A plan lists every trial, and an upload that has
    one warm-up has all of them. `unwritten`: trials of these runs that are not stored yet.
    """
    unwritten = list(unwritten)
    listing = {trial.run_id for trial in unwritten if trial.warmup or trial.run.plan}
    # A run that is not stored yet has no trials but those.
    new = {trial.run_id for trial in unwritten if trial.run._state.adding}
    others = set(run_ids) - listing - new
    if not others:
        return listing
    planned = Run.with_trash.filter(among("pk", others)).exclude(plan="").order_by()
    warmups = Trial.objects.filter(among("run", others), warmup=True).order_by()
    stored = planned.values_list("pk", flat=True).union(warmups.values_list("run_id", flat=True))
    return listing.union(stored)


def merge_cell(cell: Cell, trials: Sequence[Trial], *, lists_warmups: bool) -> None:
    """Set all that a cell says of its trials, which are in order of execution."""
    counted = with_own_output([trial for trial in trials if not trial.warmup])
    has_warmup = any(trial.warmup for trial in trials)
    warmed_up = has_warmup or (False if lists_warmups else None)
    cell.throughput_rps = _throughput_of(counted)
    figures = [_stored_figures(trial, cell) for trial in counted]
    _count_and_check(cell, figures, warmed_up=warmed_up)
    _merge_histograms(cell, [trial.histogram for trial in counted if trial.requests_completed])


def give_totals(run: Run, cells: Iterable[Cell], trials: Iterable[Trial]) -> None:
    """Of a run that is not stored yet: else the database would write its row once more."""
    rates = (cell.throughput_rps for cell in cells)
    run.best_rps = max((rate for rate in rates if rate is not None), default=None)
    run.counted_trials = sum(not trial.warmup for trial in trials)


def _throughput_of(counted: Sequence[Trial]) -> float | None:
    rates = (trial.throughput_rps for trial in counted)
    return centre_of_run([rate for rate in rates if rate is not None])


def _count_and_check(cell: Cell, figures: Sequence[CheckInput], *, warmed_up: bool | None) -> None:
    findings = check_cell(figures, min_trials=cell.run.workspace.min_trials, warmed_up=warmed_up)
    cell.checks = [finding.as_dict() for finding in findings]
    cell.trial_count = sum(trial.has_figures for trial in figures)


def _stored_figures(trial: Trial, cell: Cell) -> CheckInput:
    """What the rules over a cell read of a recorded trial."""
    return CheckInput(
        throughput_rps=trial.throughput_rps,
        error_rate=trial.error_rate,
        percentiles_us=trial.percentiles_us,
        latency_mean_us=trial.latency_mean_us,
        latency_max_us=trial.latency_max_us,
        loop=cell.series.loop,
        offered_rps=cell.rate_rps,
        server_start=trial.load.get("start"),
        started_at=trial.started_at,
        finished_at=trial.finished_at,
    )


def _merge_histograms(cell: Cell, encoded: Sequence[Any]) -> None:
    # One trial without a distribution makes the merge incomplete: then there is none.
    if not encoded or any(item is None for item in encoded):
        return
    merged = Histogram.merge_all(Histogram.decode(bytes(item)) for item in encoded if item)
    cell.histogram = merged.encode()
    cell.percentiles_us = stored_percentiles(merged)
    cell.curve = {"count": merged.count, "points": percentile_curve(merged)}
