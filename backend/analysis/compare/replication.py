"""What was repeated, and what another run would add."""

from collections.abc import Iterable, Sequence

from backend.analysis.grouping.points import Point
from backend.noise.models import HostNoise
from backend.noise.sentences import floor_sentence
from backend.stats.comparison import Comparison
from backend.stats.contrast import RunSource, RunVariation
from backend.stats.thresholds import LEAST_RUNS, LEAST_TRIALS, percent


def explain_replication(points: Iterable[Point], noises: Sequence[HostNoise]) -> str | None:
    """What the intervals cover where a point has fewer than three runs, and what the hosts cannot
    tell; None if there is nothing to say."""
    floors = [noise for noise in noises if noise.floor_share is not None]
    noisiest = max(floors, key=lambda noise: noise.floor_share or 0.0, default=None)
    sentences = [_runs_text(points), None if noisiest is None else floor_sentence(noisiest)]
    return " ".join(sentence for sentence in sentences if sentence) or None


def scope_text(comparison: Comparison) -> str | None:
    """Which runs the interval of a ratio covers; None without an interval."""
    if comparison.precision is None:
        return None
    if comparison.between is not None:
        return f"allowing for runs that differ by {run_share_text(comparison.between)}"
    within = {
        "run": within_text(1),
        "shared run": "in the run that measured both",
        "these runs": f"in the {LEAST_RUNS - 1} runs that measured both",
    }
    return within.get(comparison.scope) or f"over {comparison.precision.units} runs"


def within_text(runs: int) -> str:
    """`in this run`, `in these 2 runs`: what covers the measured runs alone."""
    return "in this run" if runs == 1 else f"in these {runs} runs"


def run_share_text(between: RunVariation) -> str:
    """`3 % (assumed)`: the standard deviation between runs that the interval allows for."""
    return f"{percent(round(between.sd, 4))} ({_RUN_SOURCES[between.source]})"


def _runs_text(points: Iterable[Point]) -> str | None:
    points = list(points)
    # Of fewer trials no interval is shown.
    with_interval = [point for point in points if len(point.trials) >= LEAST_TRIALS]
    runs_of_points = [_runs_of([point]) for point in with_interval]
    few = [runs for runs in runs_of_points if len(runs) < LEAST_RUNS]
    if not few:
        return None
    missing = LEAST_RUNS - min(map(len, few))
    more = "One more run" if missing == 1 else f"{_WORDS[missing]} more runs"
    covers_starts = all(map(_covers_starts, with_interval))
    other = "days and builds" if covers_starts else "days, builds and server starts"
    gained = f"{more} would cover other {other} too."
    if len(set(runs_of_points)) == 1:
        return f"{_shared_text(len(few[0]), total=len(_runs_of(points)))}. {gained}"
    return (
        f"{_share_text(len(few), len(runs_of_points))} measured in fewer than {LEAST_RUNS} runs: "
        f"there, the intervals cover more trials of the same runs. {gained}"
    )


def _covers_starts(point: Point) -> bool:
    sample = point.metrics["throughput"].sample
    return sample is not None and sample.units.covers_starts


def _runs_of(points: Iterable[Point]) -> frozenset[int]:
    # By integers: a UUID takes a call to be hashed.
    return frozenset([cell.run.id.int for point in points for cell in point.cells])


def _shared_text(runs: int, *, total: int) -> str:
    """Of points that share their runs. `total`: of all points, also those without an interval."""
    measured, covered = _SHARED[runs]
    if total > runs:
        measured += f" of {total}, the others with fewer than {LEAST_TRIALS} trials a point"
    return f"Measured in {measured}: the intervals cover more trials of {covered}"


def _share_text(few: int, total: int) -> str:
    if few == total:
        return "All points were"
    return f"{few} of {total} points {'was' if few == 1 else 'were'}"


_WORDS = {2: "Two"}
_RUN_SOURCES: dict[RunSource, str] = {
    "assumed": "assumed",
    "host": "learned on this host",
    "side": "learned on one side",
}
# By the number of runs that all points share.
_SHARED = {1: ("one run", "this run"), 2: ("2 runs", "these runs")}
