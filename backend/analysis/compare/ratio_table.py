"""Servers × workloads: how far each is from the baseline, within each workload on its own.

A workload's rows are compared at one load of that workload. Across workloads only ratios are
averaged, as a geometric mean (Fleming & Wallace, CACM 1986: no other mean of ratios is the same
for every baseline), and only over the workloads that every row has.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

from backend.analysis import figures
from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.ratio_texts import ratio_text
from backend.analysis.compare.ratios import BASELINE_ITSELF, Yardstick, no_ratio
from backend.analysis.grouping.sweep import join_series
from backend.analysis.query.field import natural
from backend.analysis.query.records import LoadedCell
from backend.analysis.record import record_of
from backend.stats import Ratio
from backend.stats.replicates import Sample

Load = float | str
# A row and a column.
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Figure:
    """The trials at one load, and why they may not be compared, if so."""

    sample: Sample | None
    unranked: str | None = None

    @property
    def why_not(self) -> str | None:
        """Why there is no ratio, or None."""
        return self.unranked or (None if self.sample else "A figure is unknown or zero.")


@dataclass(frozen=True, slots=True)
class Entry:
    """A series: its row (what names all of its identity but the workload), and its figures."""

    row: str
    server: str
    workload: str
    figures: Mapping[Load, Figure]

    def withheld(self, why: str) -> Entry:
        """The entry without figures, where its workload may not be compared."""
        return replace(self, figures={load: Figure(None, why) for load in self.figures})


@dataclass(frozen=True, slots=True)
class RatioTable:
    baseline: str
    # The name of the baseline's server.
    server: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    # The load that each column is compared at.
    loads: tuple[Load, ...]
    cells: tuple[tuple[Ratio | None, ...], ...]
    # Over `common`, the columns that every row has; None for a row when there are none.
    means: tuple[Ratio | None, ...]
    common: tuple[str, ...]

    def to_record(self, comparability: Comparability) -> figures.Ratios:
        """`comparability`: of the series of each workload."""
        return figures.Ratios(
            baseline=figures.Baseline(server=self.server, label=self.baseline),
            rows=self.rows,
            columns=self.columns,
            loads=self.loads,
            cells=[[_ratio_record(cell) for cell in row] for row in self.cells],
            means=[_ratio_record(mean) for mean in self.means],
            means_over=self.common,
            means_text=self.means_text(),
            outcome=comparability.to_record(),
        )

    def headline(self, metric: str) -> str | None:
        """`Throughput over 2 workloads, relative to caddy: nginx 1.52× [1.50, 1.54]`.

        The farthest three by their geometric mean; the rest is counted. None without a mean.
        """
        means = [
            (row, mean)
            for row, mean in zip(self.rows, self.means, strict=True)
            if mean is not None and mean.value is not None and row != self.baseline
        ]
        if not means:
            return None
        means.sort(key=lambda pair: -abs(log(pair[1].value or 1)))
        listed = join_series([f"{row} {ratio_text(mean)}" for row, mean in means])
        over = f"over {len(self.common)} workloads{_common_scope(mean for _, mean in means)}"
        return f"{metric} {over}, relative to {self.baseline}: {listed}"

    def means_text(self) -> str:
        """Over which workloads the means are, or why there are none."""
        if not self.common:
            return "No geometric mean: no two workloads have a ratio for every row"
        text = f"Geometric mean over {len(self.common)} workloads; other workloads may differ"
        missing = len(self.columns) - len(self.common)
        if not missing:
            return text
        return (
            f"{text}; {missing} of {len(self.columns)} left out because a row has no ratio for them"
        )


def _common_scope(ratios: Iterable[Ratio]) -> str:
    """Which runs all the ratios cover, after a comma; empty if they differ."""
    scopes = {ratio.scope for ratio in ratios}
    return f", {scopes.pop()}" if len(scopes) == 1 and None not in scopes else ""


def _ratio_record(cell: Ratio | None) -> figures.Ratio | None:
    return None if cell is None else record_of(figures.Ratio, cell)


def entry_of(first: LoadedCell, entrants: Iterable[Entrant], *, row: str, metric: str) -> Entry:
    """The entry of a series, of which `first` is a cell and `entrants` are the points."""
    by_load: dict[Load, Figure] = {
        each.point.x: Figure(each.sample(metric), each.unranked(metric))
        for each in entrants
        if each.point.x is not None
    }
    return Entry(row, first.server.name, first.workload.name, by_load)


def make_ratio_table(
    entries: Sequence[Entry],
    yardstick: Yardstick,
    *,
    baseline: str | None = None,
    at: Load | None = None,
) -> RatioTable | None:
    """The table of `entries`, or None if there is one workload or one row.

    `baseline`: a row; else the one with the most workloads, the first of equals by name.
    `at`: the load of a column where it was measured there; else the largest of those that most
    of the column's entries share.
    """
    measured = [entry for entry in entries if entry.figures]
    columns = sorted({entry.workload for entry in measured}, key=natural)
    rows = sorted({entry.row for entry in measured}, key=natural)
    if len(columns) < 2 or len(rows) < 2:
        return None
    servers = {entry.row: entry.server for entry in reversed(measured)}
    loads = {column: _load_of_column(measured, column, at) for column in columns}
    by_cell = _figures_by_cell(measured, loads)
    base = baseline if baseline in rows else _fullest_row(rows, by_cell)
    return _fill_table((base, servers[base]), (rows, loads), by_cell, yardstick)


def _fill_table(
    baseline: tuple[str, str],
    shape: tuple[Sequence[str], Mapping[str, Load]],
    by_cell: Mapping[_Key, Figure],
    yardstick: Yardstick,
) -> RatioTable:
    """`baseline`: its row and its server. `shape`: the rows, and the load of each column."""
    (base, server), (rows, loads) = baseline, shape
    columns = tuple(loads)
    cells = _cells(by_cell, (rows, columns), base, yardstick)
    common = _common_columns(rows, columns, cells)
    means = _means(by_cell, (rows, common), base, yardstick)
    return RatioTable(
        baseline=base,
        server=server,
        rows=tuple(rows),
        columns=columns,
        loads=tuple(loads.values()),
        cells=tuple(tuple(cells.get((row, column)) for column in columns) for row in rows),
        means=tuple(means.get(row) for row in rows),
        common=common,
    )


def _load_of_column(entries: Sequence[Entry], column: str, at: Load | None) -> Load:
    counts = Counter(
        load for entry in entries if entry.workload == column for load in entry.figures
    )
    if at is not None and at in counts:
        return at
    return max(counts, key=lambda load: (counts[load], isinstance(load, float | int), load))


def _figures_by_cell(entries: Sequence[Entry], loads: Mapping[str, Load]) -> dict[_Key, Figure]:
    """The figure of each cell at the load of its column; of several series none is picked."""
    by_cell: dict[_Key, list[Figure]] = defaultdict(list)
    for entry in entries:
        if (figure := entry.figures.get(loads[entry.workload])) is not None:
            by_cell[entry.row, entry.workload].append(figure)
    return {key: _only_figure(candidates) for key, candidates in by_cell.items()}


def _only_figure(candidates: Sequence[Figure]) -> Figure:
    if len(candidates) == 1:
        return candidates[0]
    return Figure(None, f"{len(candidates)} series match here; add a filter")


def _fullest_row(rows: Sequence[str], by_cell: Mapping[_Key, Figure]) -> str:
    counts = Counter(row for (row, _), figure in by_cell.items() if figure.unranked is None)
    return max(rows, key=lambda row: counts[row])


def _cells(
    by_cell: Mapping[_Key, Figure],
    shape: tuple[Sequence[str], Sequence[str]],
    base: str,
    yardstick: Yardstick,
) -> dict[_Key, Ratio]:
    """The ratio of each measured cell, or why there is none. Each column is a family."""
    rows, columns = shape
    in_columns = replace(yardstick, families=len(columns))
    cells: dict[_Key, Ratio] = {}
    for column in columns:
        in_column = {row: by_cell[row, column] for row in rows if (row, column) in by_cell}
        ratios = _column_ratios(in_column, base, in_columns)
        cells |= {(row, column): ratio for row, ratio in ratios.items()}
    return cells


def _column_ratios(
    in_column: Mapping[str, Figure], base: str, yardstick: Yardstick
) -> dict[str, Ratio]:
    """The ratio of each row to the row `base`, or why there is none."""
    ratios = {row: no_ratio(why) for row, figure in in_column.items() if (why := figure.why_not)}
    compared = {row: figure.sample for row, figure in in_column.items() if figure.sample}
    compared = {row: sample for row, sample in compared.items() if row not in ratios}
    base_sample = compared.pop(base, None)
    if base_sample is None:
        why = _why_no_baseline(in_column.get(base))
        return ratios | {row: no_ratio(why) for row in compared}
    ratios[base] = BASELINE_ITSELF
    of_others = yardstick.to_baseline(base_sample, list(compared.values())) if compared else []
    return ratios | dict(zip(compared, of_others, strict=True))


def _why_no_baseline(base: Figure | None) -> str:
    if base is None:
        return "The baseline was not measured here."
    return f"The baseline cannot be used: {base.why_not}"


def _common_columns(
    rows: Sequence[str], columns: Sequence[str], cells: Mapping[_Key, Ratio]
) -> tuple[str, ...]:
    """The columns where every row has a ratio; none where it is only one: no mean of that."""
    full = tuple(column for column in columns if all(_has(cells, row, column) for row in rows))
    return full if len(full) > 1 else ()


def _has(cells: Mapping[_Key, Ratio], row: str, column: str) -> bool:
    cell = cells.get((row, column))
    return cell is not None and cell.value is not None


def _means(
    by_cell: Mapping[_Key, Figure],
    shape: tuple[Sequence[str], Sequence[str]],
    base: str,
    yardstick: Yardstick,
) -> dict[str, Ratio]:
    """The geometric mean of each row's ratios over the columns that every row has."""
    rows, common = shape
    if not common:
        return {}
    samples = {
        row: [sample for column in common if (sample := by_cell[row, column].sample)]
        for row in rows
    }
    others = [row for row in rows if row != base]
    means = yardstick.mean_to_baseline(samples[base], [samples[row] for row in others])
    return {base: BASELINE_ITSELF, **dict(zip(others, means, strict=True))}
