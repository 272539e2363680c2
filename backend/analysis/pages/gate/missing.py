"""What the newest run of a baseline has and a build lacks: it would pass unseen."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from backend.analysis.compare.gathering import Gathered
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.query.field import Value, ordered
from backend.analysis.query.units import place_text

MOST_MISSING = 5

# The names of a server and of a workload.
Names = tuple[str, str]


def names_of(sweeps: Iterable[Sweep]) -> set[Names]:
    """The servers of series with their workloads, read or not."""
    return {_names(sweep) for sweep in sweeps}


def missing_text(newest: Gathered, candidate: Gathered) -> str | None:
    """Which workloads of which servers the candidate lacks, else at which loads; None if it has all
    that the newest run of the baseline has."""
    if lacking := names_of(newest.sweeps) - names_of(candidate.sweeps):
        named = [f"{workload} of {server}" for server, workload in sorted(lacking)]
        return _text(named, ("server", "workload"))
    axis = newest.grouping.x
    if axis != candidate.grouping.x:
        return None
    lacking_at = _by_load(_points(newest.sweeps) - _points(candidate.sweeps))
    named = [
        f"{workload} of {server} {place_text(x, axis)}"
        for x in ordered(lacking_at)
        for server, workload in sorted(lacking_at[x])
    ]
    return _text(named, (axis,)) if named else None


def _by_load(points: Iterable[tuple[Value, Names]]) -> dict[Value, list[Names]]:
    by_load: dict[Value, list[Names]] = defaultdict(list)
    for x, names in points:
        by_load[x].append(names)
    return by_load


def _text(named: Sequence[str], fields: Collection[str]) -> str:
    more = len(named) - MOST_MISSING
    rest = f" and {more} more" if more > 0 else ""
    asked = " and ".join(f"{field}=" for field in fields)
    return (
        f"{', '.join(named[:MOST_MISSING])}{rest} is missing: the newest run of the baseline "
        f"measured it. Measure it, or narrow the question by {asked}."
    )


def _names(sweep: Sweep) -> Names:
    first = sweep.group.first
    return first.server.name, first.workload.name


def _points(sweeps: Iterable[Sweep]) -> set[tuple[Value, Names]]:
    """The known loads at which each workload of each server was measured."""
    return {
        (point.x, _names(sweep))
        for sweep in sweeps
        for point in sweep.points
        if point.x is not None
    }
