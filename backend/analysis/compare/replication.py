"""What was repeated, and what another run would add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backend.analysis.grouping.points import Point
from backend.noise.models import HostNoise
from backend.noise.sentences import floor_sentence
from backend.stats.thresholds import LEAST_RUNS


def explain_replication(points: Iterable[Point], noises: Sequence[HostNoise]) -> str | None:
    """What the intervals cover where a point has fewer than three runs, and what the hosts cannot
    tell; None where there is nothing to say."""
    floors = [noise for noise in noises if noise.floor_share is not None]
    noisiest = max(floors, key=lambda noise: noise.floor_share or 0.0, default=None)
    sentences = [_runs_text(points), None if noisiest is None else floor_sentence(noisiest)]
    return " ".join(sentence for sentence in sentences if sentence) or None


def _runs_text(points: Iterable[Point]) -> str | None:
    fewest = min((len({cell.run.id for cell in point.cells}) for point in points), default=None)
    if fewest is None or fewest >= LEAST_RUNS:
        return None
    missing = LEAST_RUNS - fewest
    measured = "one run" if fewest == 1 else f"{fewest} runs"
    covered = "this run" if fewest == 1 else "these runs"
    more = "One more run" if missing == 1 else f"{_WORDS[missing]} more runs"
    return (
        f"Measured in {measured}: the intervals cover more trials of {covered}. "
        f"{more} would cover other days, builds and server starts too."
    )


_WORDS = {2: "Two"}
