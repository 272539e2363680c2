"""How cells become series: what lies on the axis, what makes a series, what makes a panel."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.field import Value
from backend.analysis.query.fields import COVERS, FIELDS, IDENTITY, LOADS, PARTS, parts_of
from backend.analysis.query.records import LoadedCell

LoadAxis = Literal["connections", "rate"]
TrendAxis = Literal["version", "date"]
# The axes along which a series may change.
TREND_AXES: dict[str, TrendAxis] = {"version": "version", "date": "date"}


@dataclass(frozen=True)
class Grouping:
    """How cells become series and points: the axis, what makes a series, what makes a panel."""

    x: str
    series: tuple[str, ...] = ()
    facet: str | None = None
    # Parts of the identity that make no series.
    without: tuple[str, ...] = ()

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The parts of the identity that make a series."""
        if not self.series:
            on_axis = {*COVERS[self.x], *self.without}
            return tuple(part for part in IDENTITY if part not in on_axis)
        # What is named makes series also where the axis would cover it, but for the axis itself.
        on_axis = {FIELDS[self.x].identity, *self.without}
        covered = {part for name in self._named for part in parts_of(name)}
        return tuple(part for part in PARTS if part in covered and part not in on_axis)

    @property
    def _named(self) -> tuple[str, ...]:
        """The fields that make series. A trend is of one server: two of them, one after the other,
        are no change."""
        of_trend = ("server",) if self.x in TREND_AXES else ()
        return (*self.series, *((self.facet,) if self.facet else ()), *of_trend)

    @property
    def x_is_load(self) -> bool:
        return self.x in LOADS


@dataclass(frozen=True, slots=True)
class SeriesGroup:
    """Cells of one identity by their place on the axis."""

    id: str
    label: str
    # The load where it is not on the axis: `64 connections`.
    held: str | None
    # Of its runs, where that makes the series: their time, their labels.
    of_run: str | None
    panel: str | None
    points: Mapping[Value, tuple[LoadedCell, ...]]

    @property
    def first(self) -> LoadedCell:
        return next(iter(self.points.values()))[0]

    def cells(self) -> list[LoadedCell]:
        return [cell for cells in self.points.values() for cell in cells]


def choose_grouping(query: CompareQuery, cells: Sequence[LoadedCell]) -> Grouping:
    """The grouping that `query` asks for.

    Connections, the default axis, stand for the load of the cells, which may be an offered rate.
    """
    x = query.x
    if x == "connections":
        x = load_axis((cell.series.loop, cell.connections, cell.rate_rps) for cell in cells)
    return Grouping(x, query.series, query.facet)


def load_axis(loads: Iterable[tuple[str, int | None, float | None]]) -> LoadAxis:
    """What a sweep is over, of the loop, connections and offered rate of each of its cells.

    The load point of an open loop is its rate, also where the tool was given connections; unless
    the connections vary more, as where one rate is offered over more and more of them.
    """
    loads = list(loads)
    if not loads:
        return "connections"
    connections = {connections for _, connections, _ in loads if connections is not None}
    if not connections:
        return "rate"
    rates = {rate for _, _, rate in loads}
    is_open = None not in rates and all(loop == "open" for loop, _, _ in loads)
    return "rate" if is_open and len(rates) >= len(connections) else "connections"
