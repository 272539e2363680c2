"""Cells: the trials of one series at one load point within one run, merged."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from backend.runs.checks import CheckInput, check_cell
from backend.runs.database.bulk import among
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


def join_cells(cells: Sequence[Cell], series: Series) -> Cell:
    """Replace cells of one run at one load by a new cell of `series` that has all their trials."""
    first = cells[0]
    joined = Cell(
        run=first.run,
        workspace=first.workspace,
        series=series,
        connections=first.connections,
        rate_rps=first.rate_rps,
    )
    trials = Trial.objects.filter(cell__in=cells).order_by("ordinal")
    members = list(trials.only(*MEMBER_COLUMNS))
    merge_cell(joined, members, lists_warmups=bool(runs_listing_warmups([first.run])))
    joined.save(force_insert=True)
    trials.update(cell=joined)
    Cell.objects.filter(pk__in=[cell.pk for cell in cells]).delete()
    return joined


def runs_listing_warmups(runs: Iterable[Run], unwritten: Iterable[Trial] = ()) -> set[UUID]:
    """The runs, of these, in which a load point without a warm-up had none; in one statement.

    A saved report does not say what ran before it. A plan lists every trial, and an upload that has
    one warm-up has all of them. `unwritten`: trials of these runs that are not stored yet.
    """
    runs = list(runs)
    listing = {run.pk for run in runs if run.plan}
    listing |= {trial.run_id for trial in unwritten if trial.warmup}
    # A run that is not stored yet has no trials but those.
    others = {run.pk for run in runs if not run._state.adding} - listing
    if not others:
        return listing
    warmups = Trial.objects.filter(among("run", others), warmup=True).order_by()
    return listing.union(warmups.values_list("run_id", flat=True).distinct())


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
    merged = Histogram.merge_all([Histogram.decode(bytes(item)) for item in encoded if item])
    cell.histogram = merged.encode()
    cell.percentiles_us = stored_percentiles(merged)
    cell.curve = {"count": merged.count, "points": percentile_curve(merged)}
