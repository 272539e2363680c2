"""What was repeated, and what another run would add."""

from __future__ import annotations

from collections.abc import Iterable

from backend.analysis.grouping.points import Point
from backend.stats.thresholds import LEAST_RUNS


def explain_replication(points: Iterable[Point]) -> str | None:
    """What the intervals cover where a point has fewer than three runs; else None."""
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
