"""Where the cells of a comparison differ: between series, along the axis, and inside of points."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from backend.analysis.compare.measured_factors import find_measured_factors
from backend.analysis.grouping.grouping import Grouping, SeriesGroup
from backend.analysis.query.factors import (
    FACTORS,
    HOST_FACTORS,
    MACHINE,
    TESTED,
    Factor,
    MustMatch,
)
from backend.analysis.query.field import Field, value_of
from backend.analysis.query.fields import COVERS, FIELDS, IDENTITY, LOADS, OF_PART, RUN_PARTS
from backend.analysis.query.records import LoadedCell

# Factors that name a host or a tool, beside what is known of it.
_NAMING_FACTORS = ("host", "client_host", "tool_version")
# Factors of a run, which may differ within a series.
_OF_RUNS = tuple(HOST_FACTORS[id_] for id_ in ("same_host", "governor", "client_governor"))
_Reader = Callable[[LoadedCell], object]


@dataclass(frozen=True, slots=True)
class Differences:
    """The factors that differ, by where they differ.

    `cells`: one cell of each kind; cells that no factor tells apart are of one kind.
    """

    axis: Field
    cells: tuple[LoadedCell, ...]
    # Between the series: of what is under test, and of the conditions around it.
    tested: tuple[Factor, ...]
    conditions: tuple[Factor, ...]
    # Between the points of one series, in more than their place on the axis.
    along_axis: tuple[Factor, ...]
    # Between the days of one series: what the trend is about.
    over_days: tuple[Factor, ...]
    # Inside of points: words like `servers`.
    mixed: tuple[str, ...]
    # Conditions that are known for some cells only.
    partly_unknown: tuple[Factor, ...]
    # One word for each thing that differs: at all, and apart from what the axis explains.
    dimensions: tuple[str, ...]
    unexplained: tuple[str, ...]

    @property
    def across(self) -> tuple[Factor, ...]:
        """What differs between the series."""
        return (*self.tested, *self.conditions)

    @property
    def within(self) -> tuple[Factor, ...]:
        """What differs within a series alone."""
        factors = dict.fromkeys((*self.along_axis, *self.over_days))
        return tuple(factor for factor in factors if factor not in self.across)


def find_differences(
    groups: Sequence[SeriesGroup], grouping: Grouping, must_match: MustMatch
) -> Differences:
    """The differences between and within `groups`."""
    axis = FIELDS[grouping.x]
    every_cell = [cell for group in groups for cell in group.cells()]
    measured = find_measured_factors(every_cell)
    cells = _one_of_each_kind(every_cell, grouping, measured)
    factors = _conditions_judged(measured, must_match)
    unasked = _unasked_run_parts(grouping)
    explained = _explained_by_axis((*factors, *TESTED), cells, axis)
    conditions = [factor for factor in factors if factor.id not in explained]
    tested = _differing_under_test(cells, explained | unasked)
    mixed = _mixed_in_points(groups, grouping, factors)
    kinds = [_one_of_each_kind(group.cells(), grouping, measured) for group in groups]
    changes = _changes_within_series(kinds, grouping, conditions, explained | unasked)
    # Series are compared at a load, so the load is not what the comparison is about.
    named = conditions if grouping.x_is_load else factors
    return Differences(
        axis=axis,
        cells=tuple(cells),
        tested=tuple(tested),
        conditions=_only(conditions, differs, cells),
        along_axis=() if mixed or axis.id == "date" else changes,
        over_days=changes if axis.id == "date" else (),
        mixed=mixed,
        partly_unknown=_only(conditions, _is_partly_unknown, cells),
        dimensions=_dimensions(cells, named, _differing_under_test(cells, unasked)),
        unexplained=_dimensions(cells, conditions, tested),
    )


def differs(factor: Factor, cells: Iterable[LoadedCell]) -> bool:
    """Whether two known values of a factor differ; an unknown value contradicts none."""
    return len({factor.read(cell) for cell in cells} - {None}) > 1


def _only(
    factors: Iterable[Factor],
    holds: Callable[[Factor, Sequence[LoadedCell]], bool],
    cells: Sequence[LoadedCell],
) -> tuple[Factor, ...]:
    return tuple(factor for factor in factors if holds(factor, cells))


def _conditions_judged(measured: Sequence[Factor], must_match: MustMatch) -> list[Factor]:
    """The factors, those of the measurements in place of what was declared of the same."""
    declared = map(must_match.apply, FACTORS)
    return list({factor.id: factor for factor in (*declared, *measured)}.values())


def _unasked_run_parts(grouping: Grouping) -> set[str]:
    """The parts of a run that the query does not ask about.

    Every run has a date and may have labels: unless asked for, they are no difference.
    """
    return set(RUN_PARTS) - set(grouping.parts) - COVERS[grouping.x]


def _one_of_each_kind(
    cells: Iterable[LoadedCell], grouping: Grouping, measured: Sequence[Factor]
) -> list[LoadedCell]:
    """One cell of each kind. Cells that differ only in their load are of one kind."""
    covered, unasked = COVERS[grouping.x], _unasked_run_parts(grouping)
    readers = [IDENTITY[part] for part in LOADS if part not in covered]
    readers += [read for part, read in RUN_PARTS.items() if part not in unasked]
    readers += [factor.read for factor in (*_OF_RUNS, *measured)]
    # By integers: a UUID takes a call to be hashed.
    kinds = {(cell.series.id.int, *[read(cell) for read in readers]): cell for cell in cells}
    return list(kinds.values())


def _explained_by_axis(
    factors: Iterable[Factor], cells: Sequence[LoadedCell], axis: Field
) -> set[str]:
    """The factors with one value at each place on the axis: they differ along it alone.

    A server has its version and a host its kernel, so a place says these too; but not where one
    name on the axis stands for two servers or hosts.
    """
    cells_by_place = defaultdict(list)
    for cell in cells:
        cells_by_place[value_of(axis, cell)].append(cell)
    return {
        factor.id
        for factor in factors
        if factor.part in COVERS[axis.id]
        and not any(differs(factor, same_place) for same_place in cells_by_place.values())
    }


def _differing_under_test(cells: Sequence[LoadedCell], exempt: Collection[str]) -> list[Factor]:
    """What differs of what is under test, but for the factors `exempt`.

    Servers count as a whole. A date means nothing alone: it counts where nothing else differs.
    """
    differing = [
        factor
        for factor in TESTED
        if factor.id not in exempt and len({factor.read(cell) for cell in cells}) > 1
    ]
    if differing and differing[0].id == "server":
        return differing[:1]
    return differing[:1] + [factor for factor in differing[1:] if factor.id != "date"]


def _changes_within_series(
    kinds_by_series: Iterable[Sequence[LoadedCell]],
    grouping: Grouping,
    conditions: Sequence[Factor],
    exempt: Collection[str],
) -> tuple[Factor, ...]:
    """What differs between the points of a series beside the axis, but for caveats.

    Over the days only what is under test counts: the conditions are judged across the series.
    """
    judged = () if grouping.x == "date" else conditions
    changes: list[Factor] = []
    # Most series are of one kind, which differs in nothing.
    for cells in (kinds for kinds in kinds_by_series if len(kinds) > 1):
        changes += _differing_under_test(cells, exempt)
        changes += [factor for factor in judged if factor.rule != "note" and differs(factor, cells)]
    return tuple(dict.fromkeys(changes))


def _mixed_in_points(
    groups: Sequence[SeriesGroup], grouping: Grouping, factors: Sequence[Factor]
) -> tuple[str, ...]:
    """What differs inside of a point, as plural words: pooled trials must be of one kind."""
    pools = [cells for group in groups for cells in group.points.values() if len(cells) > 1]
    parts = dict.fromkeys(
        part
        for part, read in _readers_of_pools(grouping, factors)
        if any(_is_mixed(part, read, cells) for cells in pools)
    )
    return tuple(_plural_of(part) for part in parts)


def _plural_of(part: str) -> str:
    return "placements of the client" if part == "same_host" else OF_PART[part].several


def _readers_of_pools(
    grouping: Grouping, factors: Sequence[Factor]
) -> Iterable[tuple[str, _Reader]]:
    """What must be alike in a point: the parts of the identity that make no series."""
    covered = COVERS[grouping.x].difference(grouping.parts)
    exempt = covered.union(grouping.parts)
    yield from ((part, read) for part, read in IDENTITY.items() if part not in exempt)
    for factor in (*TESTED, *factors):
        if factor.part in covered and _names_or_must_match(factor):
            yield (factor.id if factor.id == "same_host" else factor.part), factor.read


def _names_or_must_match(factor: Factor) -> bool:
    """What counts of a part that the axis covers.

    A host may get another kernel and keep its name; under another name it is another host.
    """
    return factor.rule != "note" or factor.id in _NAMING_FACTORS


def _is_mixed(part: str, read: _Reader, cells: Sequence[LoadedCell]) -> bool:
    values = {read(cell) for cell in cells}
    # An output that does not say where its client ran does not contradict another output.
    return len(values - {None} if part == "same_host" else values) > 1


def _is_partly_unknown(factor: Factor, cells: Sequence[LoadedCell]) -> bool:
    values = {factor.read(cell) for cell in cells}
    return factor.rule != "note" and None in values and len(values) == 2


def _dimensions(
    cells: Sequence[LoadedCell], conditions: Iterable[Factor], tested: Iterable[Factor]
) -> tuple[str, ...]:
    """One word for each thing that differs; the workload tells its path."""
    differing = [factor for factor in conditions if differs(factor, cells)]
    hardware = [factor for factor in differing if factor.id in MACHINE]
    others = [f for f in differing if f.id not in MACHINE and f.id != "path"]
    return (*(factor.short for factor in (*tested, *others)), *_machine_words(hardware))


def _machine_words(hardware: Sequence[Factor]) -> tuple[str, ...]:
    """The one fact of the hardware that differs, or `machine` where several do."""
    if not hardware:
        return ()
    # If client and server share one machine, the same facts differ for both; a name is no fact.
    by_word = {f.short.removeprefix("client ").removeprefix("number of "): f for f in hardware}
    facts = [factor for factor in by_word.values() if factor.id not in ("host", "client_host")]
    return (facts[0].short.removeprefix("client "),) if len(facts) == 1 else ("machine",)
