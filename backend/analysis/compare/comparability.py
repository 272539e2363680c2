"""Whether the series may be compared at all: like for like.

The server is what is under test. Workload, loop and load must match. Tool and hardware must match
too, unless one of them is the only thing that differs: then that is the comparison. What lies on
the x axis is compared along it and not across the series; along it nothing else may differ, or no
change could be put down to the axis. The rest is a caveat. Which facts of the hosts must match is
the workspace's choice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from backend.analysis.grouping.fired_checks import Fired
from backend.analysis.grouping.grouping import LOAD_WORDS, Grouping, SeriesGroup
from backend.analysis.query.factors import (
    DEFAULT_MUST_MATCH,
    FACTORS,
    HOST_FACTORS,
    MACHINE,
    REMEDIES,
    TESTED,
    Factor,
)
from backend.analysis.query.fields import FIELDS, IDENTITY, RUN_PARTS, Field, number_text, value_of
from backend.analysis.query.natural_order import ordered
from backend.analysis.query.records import LoadedCell

Status = Literal["comparable", "caveats", "not_comparable"]
# Characters of a value in a reason.
MAX_TEXT = 60


@dataclass(frozen=True, slots=True)
class Comparability:
    status: Status
    differing: tuple[str, ...]
    reasons: tuple[str, ...]
    # The one thing that differs, said: "only the kernel differs".
    intent: str | None = None
    # Things that differ together, so that no difference can be put down to one of them.
    confounded: tuple[str, ...] = ()
    overridden: bool = False
    # Whether the points of each series differ in their place alone.
    alike: bool = True

    @property
    def ranks(self) -> bool:
        """Whether places and ratios may be shown."""
        return self.status != "not_comparable" or self.overridden

    @property
    def sweeps(self) -> bool:
        """Whether a series may be compared with itself over its loads."""
        return self.alike or self.overridden

    def as_dict(self) -> dict[str, object]:
        return {
            "status": self.status,
            "differing": list(self.differing),
            "reasons": list(self.reasons),
            "intent": self.intent,
            "confounded": list(self.confounded),
            "overridden": self.overridden,
        }


def judge_comparability(
    groups: Sequence[SeriesGroup],
    fired: Sequence[Fired],
    *,
    trials: int,
    grouping: Grouping,
    must_match: Collection[str] = DEFAULT_MUST_MATCH,
    override: bool = False,
) -> Comparability:
    """May these series be ranked against each other, and if not, why not."""
    if not groups:
        return Comparability("not_comparable", (), ("nothing was measured that fits this query",))
    axis = FIELDS[grouping.x]
    cells = _one_of_each((cell for one in groups for cell in one.cells()), grouping)
    silent = _silent(grouping)
    every = [_ruled(factor, must_match) for factor in FACTORS]
    placed = _placed((*every, *TESTED), cells, axis)
    across = [factor for factor in every if factor.id not in placed]
    tested = _tested(cells, placed | silent)
    differing = [*tested, *(factor for factor in across if len(_known(factor, cells)) > 1)]
    mixed = _mixed(groups, grouping, every)
    along = [] if mixed else _along(groups, grouping, across, placed | silent)
    # Where servers differ, what differs of one of them is told where it does so along the axis.
    moved = [*along, *_over_days(groups, grouping, placed | silent)]
    further = [factor for factor in dict.fromkeys(moved) if factor not in differing]
    refused = [
        factor for factor in (*differing, *further) if factor in (*along, *_refused(differing))
    ]
    # An axis of loads says only where: the comparison is not about it.
    about = across if grouping.x_is_load else every
    dimensions = _dimensions(cells, about, _tested(cells, silent))
    # Along the axis everything may differ: only what differs across it can be mistaken.
    confounded = _dimensions(cells, across, tested)
    if along:
        confounded = (axis.label.lower(), *confounded)
    caveats = _caveats(differing, together=len(confounded) > 1)
    caveats += [factor for factor in further if factor not in caveats]
    reasons = mixed + [_reason(one, cells, axis if one in along else None) for one in refused]
    reasons += [_difference(factor, cells) for factor in caveats if factor not in refused]
    reasons += [
        f"{factor.word} is unknown for some series"
        for factor in across
        if _partly_unknown(factor, cells)
    ]
    reasons += _checks(fired, trials=trials, points=sum(len(one.points) for one in groups))
    alone = len(dimensions) == 1 and len(confounded) <= 1 and not (further or mixed)
    status: Status = "caveats" if reasons else "comparable"
    forbidden = bool(refused or mixed)
    return Comparability(
        status="not_comparable" if forbidden else status,
        differing=tuple(factor.id for factor in (*differing, *further)),
        reasons=tuple(reasons),
        intent=f"only the {dimensions[0]} differs" if alone else None,
        confounded=confounded if len(confounded) > 1 else (),
        overridden=forbidden and override,
        alike=not (mixed or along),
    )


def _ruled(factor: Factor, must_match: Collection[str]) -> Factor:
    """The factor under the workspace's choice of what must match."""
    if factor.id not in HOST_FACTORS:
        return factor
    return replace(factor, rule="axis" if factor.id in must_match else "note")


def _placed(factors: Iterable[Factor], cells: Sequence[LoadedCell], axis: Field) -> set[str]:
    """The factors that differ along the axis alone: at each place they have one value.

    A server has its version and a host its kernel, so a place says these too; but not where one
    name on the axis stands for two of them.
    """
    at = defaultdict(list)
    for cell in cells:
        at[value_of(axis, cell)].append(cell)
    return {
        factor.id
        for factor in factors
        if factor.part in axis.covers
        and all(len(_known(factor, there)) <= 1 for there in at.values())
    }


def _tested(cells: Sequence[LoadedCell], without: Collection[str]) -> list[Factor]:
    """What differs of what is under test, but for the factors `without`; servers as a whole.

    A date is about nothing by itself: it counts where nothing else under test differs.
    """
    found = [
        one
        for one in TESTED
        if one.id not in without and len({one.read(cell) for cell in cells}) > 1
    ]
    if found[:1] == [TESTED[0]]:
        return found[:1]
    return found[:1] + [one for one in found[1:] if one.id != "date"]


def _dimensions(
    cells: Sequence[LoadedCell], factors: Sequence[Factor], tested: Sequence[Factor]
) -> tuple[str, ...]:
    """Everything that differs at all, each by one word."""
    words = [one.short for one in tested]
    machine = [one for one in factors if one.id in MACHINE and len(_known(one, cells)) > 1]
    others = [one for one in factors if one.id not in MACHINE and len(_known(one, cells)) > 1]
    words += [one.short for one in others if one.id != "path"]
    # Client and server on one machine differ alike, and a name says nothing of its own.
    told = {one.short.removeprefix("client ").removeprefix("number of "): one for one in machine}
    facts = {word: one for word, one in told.items() if one.id not in ("host", "client_host")}
    if len(facts) == 1:
        return (*words, *(one.short.removeprefix("client ") for one in facts.values()))
    return (*words, *(("machine",) if machine else ()))


def _mixed(groups: Sequence[SeriesGroup], grouping: Grouping, every: Sequence[Factor]) -> list[str]:
    """What differs inside of a point: pooled trials must be of one kind.

    Of what the axis covers, what is called otherwise or must match: a host may get another kernel
    and keep its name.
    """
    covered = [part for part in FIELDS[grouping.x].covers if part not in grouping.parts]
    reads: list[tuple[str, Callable[[LoadedCell], object]]] = [
        (part, IDENTITY[part]) for part in IDENTITY if part not in (*grouping.parts, *covered)
    ]
    reads += [
        (factor.part if factor.id != "same_host" else factor.id, factor.read)
        for factor in (*TESTED, *every)
        if factor.part in covered and (factor.rule != "note" or factor.id in _NAMING)
    ]
    pools = [cells for one in groups for cells in one.points.values() if len(cells) > 1]
    found = {
        part: _PLURAL.get(part, part.replace("_", " "))
        for part, read in reads
        if any(_differs(part, read, cells) for cells in pools)
    }
    named = ", ".join(found.values())
    return [f"points mix different {named}; let them make series, or choose one"] * bool(named)


def _differs(part: str, read: Callable[[LoadedCell], object], cells: Sequence[LoadedCell]) -> bool:
    """Whether pooled cells differ; who did not say where the client ran contradicts nobody."""
    values = {read(cell) for cell in cells}
    return len(values - {None} if part == "same_host" else values) > 1


# What a thing is called, beside what must match of it.
_NAMING = ("host", "client_host", "tool_version")
_PLURAL = {
    "name": "servers",
    "version": "versions",
    "runtime": "runtimes",
    "configuration": "configurations",
    "workload": "workloads",
    "payload": "payload sizes",
    "request": "request settings",
    "tool": "load tools",
    "tool_version": "load tool versions",
    "server_host": "server hosts",
    "client_host": "client hosts",
    "same_host": "placements of the client",
    "rate": "offered rates",
}


def _along(
    groups: Sequence[SeriesGroup],
    grouping: Grouping,
    across: Sequence[Factor],
    without: Collection[str],
) -> list[Factor]:
    """What differs between the points of a series beside the axis, but for caveats.

    A date is about nothing by itself: what changed over the days is judged as across series.
    """
    if grouping.x == "date":
        return []
    found: list[Factor] = []
    for one in groups:
        cells = _one_of_each(one.cells(), grouping)
        found += _tested(cells, without)
        found += [
            factor for factor in across if factor.rule != "note" and len(_known(factor, cells)) > 1
        ]
    return found


def _over_days(
    groups: Sequence[SeriesGroup], grouping: Grouping, without: Collection[str]
) -> list[Factor]:
    """What is under test that changed in a series over the days: the trend is about it."""
    if grouping.x != "date":
        return []
    series = [_one_of_each(one.cells(), grouping) for one in groups]
    return [factor for cells in series for factor in _tested(cells, without)]


def _silent(grouping: Grouping) -> set[str]:
    """The parts of a run that nobody asked about: every run has a date and may have labels."""
    return set(RUN_PARTS) - set(grouping.parts) - set(FIELDS[grouping.x].covers)


def _one_of_each(cells: Iterable[LoadedCell], grouping: Grouping) -> list[LoadedCell]:
    """One cell for each that no factor tells apart: trials and places on an axis of loads."""
    axis, silent = FIELDS[grouping.x], _silent(grouping)
    reads = [IDENTITY[part] for part in LOAD_WORDS if part not in axis.covers]
    reads += [read for part, read in RUN_PARTS.items() if part not in silent]
    found = {
        (cell.run.same_host, cell.series.id, *(read(cell) for read in reads)): cell
        for cell in cells
    }
    return list(found.values())


def _known(factor: Factor, cells: Sequence[LoadedCell]) -> set[object]:
    return {factor.read(cell) for cell in cells} - {None}


def _partly_unknown(factor: Factor, cells: Sequence[LoadedCell]) -> bool:
    values = {factor.read(cell) for cell in cells}
    return factor.rule != "note" and None in values and len(values) == 2


def _refused(differing: Sequence[Factor]) -> list[Factor]:
    """The factors that forbid a comparison across the series."""
    must = [factor for factor in differing if factor.rule == "must"]
    axes = [factor for factor in differing if factor.rule == "axis"]
    servers = {"server"} if any(factor.rule == "test" for factor in differing) else set()
    dimensions = {_dimension(factor) for factor in axes} | servers
    return must + (axes if len(dimensions) > 1 else [])


def _caveats(differing: Sequence[Factor], *, together: bool) -> list[Factor]:
    """Differences to be named. That the servers differ is the comparison; what differs of one
    server is named where it differs `together` with something else."""
    return [
        factor
        for factor in differing
        if factor.rule != "test" or (together and factor.id != "server")
    ]


def _dimension(factor: Factor) -> str:
    return "machine" if factor.id in MACHINE else factor.id


def _reason(factor: Factor, cells: Sequence[LoadedCell], axis: Field | None) -> str:
    """Why a factor forbids the comparison; `axis` where it differs along that."""
    remedy = REMEDIES.get(factor.id)
    hint = f"; choose one {remedy}" if remedy else ""
    return f"{_difference(factor, cells, axis)}{hint}"


def _difference(factor: Factor, cells: Sequence[LoadedCell], axis: Field | None = None) -> str:
    where = "" if axis is None else f" along the axis ({axis.label.lower()})"
    return f"{factor.word} differs{where}: {_values(factor, cells)}"


def _values(factor: Factor, cells: Sequence[LoadedCell]) -> str:
    values = {factor.read(cell) for cell in cells}
    if factor.rule != "test":
        values.discard(None)
    texts = [str(text) for text in ordered({_text(value) for value in values})]
    more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
    return ", ".join(texts[:3]) + more


def _text(value: object) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "; ".join(f"{name}: {text}" for name, text in value)[:MAX_TEXT] or "none"
    if isinstance(value, float):
        return number_text(value)
    return str(value)[:MAX_TEXT]


def _checks(fired: Sequence[Fired], *, trials: int, points: int) -> list[str]:
    """Checks of weight as caveats, with how many of the trials or load points they are about."""
    return [
        _check_text(one, trials=trials, points=points)
        for one in fired
        if one.check.severity != "info" and one.count
    ]


def _check_text(one: Fired, *, trials: int, points: int) -> str:
    title = one.check.title[0].lower() + one.check.title[1:]
    if one.trials and len(one.trials) < trials:
        return f"{title} ({len(one.trials)} of {trials} trials)"
    if one.cells and not one.trials and len(one.cells) < points:
        return f"{title} ({len(one.cells)} of {points} load points)"
    return title
