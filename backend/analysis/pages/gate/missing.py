"""What the newest run of a baseline has and a build lacks: it would pass unseen."""

from collections import Counter, defaultdict
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
    """What the candidate lacks of what the newest run of the baseline has; None if nothing.

    The first of these that is not empty: workloads of servers, loads, series at a load.
    """
    if lacking := names_of(newest.sweeps) - names_of(candidate.sweeps):
        named = [f"{workload} of {server}" for server, workload in sorted(lacking)]
        return _text(named, ("server", "workload"))
    axis = newest.grouping.x
    if axis != candidate.grouping.x:
        return None
    return _fewer_text(newest, _count_series(candidate.sweeps))


def _fewer_text(newest: Gathered, found: Counter[tuple[Value, Names]]) -> str | None:
    """`json of nginx at 64 connections`: the loads without any series. If each load has some, the
    loads with fewer: `1 of 2 series of json of nginx at 64 connections`.

    Series are counted and not named, because builds change versions and configurations.
    """
    known = _count_series(newest.sweeps)
    lacking_at = _by_load(known.keys() - found.keys())
    fewer_at = lacking_at or _by_load(at for at, count in known.items() if found[at] < count)
    named = []
    for x in ordered(fewer_at):
        for names in sorted(fewer_at[x]):
            server, workload = names
            lost, of = known[x, names] - found[x, names], known[x, names]
            share = "" if lacking_at else f"{lost} of {of} series of "
            named.append(f"{share}{workload} of {server} {place_text(x, newest.grouping.x)}")
    fields = (newest.grouping.x,) if lacking_at else ("server", "workload", "tool")
    return _text(named, fields) if named else None


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
        f"the candidate lacks {', '.join(named[:MOST_MISSING])}{rest}, which the newest run of the "
        f"baseline has. Measure the same, or narrow the question by {asked}."
    )


def _names(sweep: Sweep) -> Names:
    first = sweep.group.first
    return first.server.name, first.workload.name


def _count_series(sweeps: Iterable[Sweep]) -> Counter[tuple[Value, Names]]:
    """How many series each workload of each server has at each known load. Several
    configurations or tools make several."""
    return Counter(
        (point.x, _names(sweep))
        for sweep in sweeps
        for point in sweep.points
        if point.x is not None
    )
