"""The rules over what several series share, asked of the points of a comparison."""

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from statistics import median

from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.query.field import ordered
from backend.runs.checks import NO_WARMUP, ComparedPoint, Round, at_ceiling, check_comparison
from backend.runs.tables.happening import happened_at


def check_sweeps(sweeps: Sequence[Sweep]) -> dict[str, list[Point]]:
    """The ids of the rules that fire on series held against each other, each with its points."""
    telling, timed = _runs_that_list_warmups(sweeps), _runs_with_times(sweeps)
    described = [
        (_describe(sweep.group.id, point, telling, timed), point)
        for sweep in sweeps
        for point in sweep.points
    ]
    if not described:
        return {}
    # Two points may read alike, so they are found again by identity.
    points = {id(compared): point for compared, point in described}
    fired = check_comparison([compared for compared, _ in described])
    fired["common-ceiling"] = at_ceiling(_at_largest_load(described))
    return {
        id_: [points[id(compared)] for compared in members]
        for id_, members in fired.items()
        if members
    }


def _at_largest_load(
    described: Iterable[tuple[ComparedPoint, Point]],
) -> list[ComparedPoint]:
    """Where a limit that several servers share shows."""
    pairs = list(described)
    largest = ordered({point.x for _, point in pairs})[-1]
    return [compared for compared, point in pairs if point.x == largest]


def _runs_that_list_warmups(sweeps: Iterable[Sweep]) -> set[int]:
    """The runs whose trials without a warm-up have the check: those of plans, and others of which
    one trial has it."""
    cells = (cell for sweep in sweeps for point in sweep.points for cell in point.cells)
    return {cell.run.id.int for cell in cells if cell.run.has_plan or NO_WARMUP in cell.checks}


def _warmed_up(point: Point, telling: Container[int]) -> bool | None:
    """Whether warm-ups came before the trials; None if a run does not tell, or runs differ."""
    known = {NO_WARMUP not in cell.checks for cell in point.cells}
    is_told = all(cell.run.id.int in telling for cell in point.cells)
    return known.pop() if is_told and len(known) == 1 else None


def _runs_with_times(sweeps: Iterable[Sweep]) -> set[int]:
    """The runs of which every trial says when it began."""
    cells = [cell for sweep in sweeps for point in sweep.points for cell in point.cells]
    return {cell.run.id.int for cell in cells} - {
        cell.run.id.int for cell in cells for trial in cell.trials if trial.began_s is None
    }


def _describe(
    series: str, point: Point, telling: Container[int], timed: Container[int]
) -> ComparedPoint:
    cell = point.cells[0]
    counts = [trial.requests_completed for trial in point.trials if trial.requests_completed]
    lengths = _lengths_s(point)
    return ComparedPoint(
        series=series,
        server=cell.server.name,
        workload=cell.workload.name,
        place=(cell.workload.name, cell.connections, cell.rate_rps),
        axis_place=point.x,
        connections=cell.connections if cell.series.loop == "closed" else None,
        throughput_rps=point.metrics["throughput"].value,
        trial_s=median(lengths) if lengths else None,
        requests=median(counts) if counts else None,
        threads=frozenset(trial.threads for trial in point.trials if trial.threads),
        warmed_up=_warmed_up(point, telling),
        backlog=_backlog(cell.server.configuration),
        measured=_span(point),
        turns=_turns(point, timed),
    )


def _lengths_s(point: Point) -> list[float]:
    return [
        trial.requests_completed / trial.throughput_rps
        for trial in point.trials
        if trial.requests_completed and trial.throughput_rps
    ]


def _backlog(configuration: Mapping[str, object]) -> str | None:
    backlog = configuration.get("backlog")
    return None if backlog is None else str(backlog)


def _span(point: Point) -> tuple[datetime, datetime] | None:
    """When the first and the last run of a point began, of those that tell it."""
    starts = [happened_at(cell.run) for cell in point.cells if cell.run.started_at is not None]
    return (min(starts), max(starts)) if starts else None


def _turns(point: Point, timed: Container[int]) -> dict[Round, float]:
    """When the trial of each round was measured: its time, else its number in the run."""
    # As an integer: a UUID takes a call to be hashed.
    return {
        (cell.run.id.int, trial.repeat): place
        for cell in point.cells
        for trial in cell.trials
        if trial.repeat is not None
        and (place := trial.began_s if cell.run.id.int in timed else trial.ordinal) is not None
    }
