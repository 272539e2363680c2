"""Servers × workloads: how far each is from the baseline, within each workload on its own.

A workload's rows are compared at one load of that workload. Across workloads only ratios are
averaged, as a geometric mean (Fleming & Wallace, CACM 1986: no other mean of ratios is the same
for every baseline), and only over the workloads that every row has.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

from backend.analysis import figures
from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.headline import ratio_text
from backend.analysis.compare.ratios import BASELINE_ITSELF, Yardstick, no_ratio
from backend.analysis.grouping.points import Point, trial_values
from backend.analysis.grouping.sweep import MAX_SERIES_NAMED, Sweep, more_series
from backend.analysis.query.metrics import METRICS
from backend.stats import Better, Ratio
from backend.stats.intervals import mean_ratio

Load = float | str
# A row and a column.
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Sample:
    """The figure of each trial at one load, and why it may not be compared, if so."""

    values: tuple[float, ...]
    unranked: str | None = None
    # The figure of all requests together, where it is not one of the trials (latencies).
    shown: float | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A series: its row (what names all of its identity but the workload), and its samples."""

    row: str
    server: str
    workload: str
    samples: Mapping[Load, Sample]

    def withheld(self, why: str) -> Entry:
        """The entry without figures, where its workload may not be compared."""
        return replace(self, samples={load: Sample((), why) for load in self.samples})


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
        texts = [f"{row} {ratio_text(mean)}" for row, mean in means[:MAX_SERIES_NAMED]]
        listed = "; ".join([*texts, *more_series(len(means) - MAX_SERIES_NAMED)])
        return f"{metric} over {len(self.common)} workloads, relative to {self.baseline}: {listed}"

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


def _ratio_record(cell: Ratio | None) -> figures.Ratio | None:
    return None if cell is None else figures.record_of(figures.Ratio, cell)


def entry_of(
    sweep: Sweep, *, row: str, metric: str, unranked: Callable[[Point], str | None]
) -> Entry:
    """The entry of a series; `unranked` says why a point may not be compared, or None."""
    pooled = METRICS[metric].group == "latency"
    samples: dict[Load, Sample] = {
        point.x: Sample(
            tuple(trial_values(point.metrics[metric])),
            unranked(point),
            point.metrics[metric].value if pooled else None,
        )
        for point in sweep.points
        if point.x is not None
    }
    first = sweep.group.first
    return Entry(row, first.server.name, first.workload.name, samples)


def make_ratio_table(
    entries: Sequence[Entry],
    *,
    better: Better,
    relevant: float,
    baseline: str | None = None,
    at: Load | None = None,
) -> RatioTable | None:
    """The table of `entries`, or None where there is one workload or one row.

    `baseline`: a row; else the one with the most workloads, the first of equals by name.
    `at`: the load of a column where it was measured there; else the largest of those that most
    of the column's entries share.
    """
    measured = [entry for entry in entries if entry.samples]
    columns = sorted({entry.workload for entry in measured})
    rows = sorted({entry.row for entry in measured})
    if len(columns) < 2 or len(rows) < 2:
        return None
    loads = {column: _load_of_column(measured, column, at) for column in columns}
    samples = _samples(measured, loads)
    base = baseline if baseline in rows else _fullest_row(rows, samples)
    servers = {entry.row: entry.server for entry in reversed(measured)}
    return _fill_table((base, servers[base]), (rows, loads), samples, Yardstick(better, relevant))


def _fill_table(
    baseline: tuple[str, str],
    shape: tuple[Sequence[str], Mapping[str, Load]],
    samples: Mapping[_Key, Sample],
    yardstick: Yardstick,
) -> RatioTable:
    """`baseline`: its row and its server. `shape`: the rows, and the load of each column."""
    (base, server), (rows, loads) = baseline, shape
    columns = tuple(loads)
    cells = _cells(samples, base, yardstick)
    common = _common_columns(rows, columns, cells)
    return RatioTable(
        baseline=base,
        server=server,
        rows=tuple(rows),
        columns=columns,
        loads=tuple(loads.values()),
        cells=tuple(tuple(cells.get((row, column)) for column in columns) for row in rows),
        means=tuple(_mean(samples, (base, row), common, yardstick) for row in rows),
        common=common,
    )


def _load_of_column(entries: Sequence[Entry], column: str, at: Load | None) -> Load:
    counts = Counter(
        load for entry in entries if entry.workload == column for load in entry.samples
    )
    if at is not None and at in counts:
        return at
    return max(counts, key=lambda load: (counts[load], isinstance(load, float | int), load))


def _samples(entries: Sequence[Entry], loads: Mapping[str, Load]) -> dict[_Key, Sample]:
    """The sample of each cell at the load of its column; of several series none is picked."""
    by_cell: dict[_Key, list[Sample]] = defaultdict(list)
    for entry in entries:
        if (sample := entry.samples.get(loads[entry.workload])) is not None:
            by_cell[entry.row, entry.workload].append(sample)
    return {key: _only_sample(samples) for key, samples in by_cell.items()}


def _only_sample(samples: Sequence[Sample]) -> Sample:
    if len(samples) == 1:
        return samples[0]
    return Sample((), f"{len(samples)} series match here; add a filter")


def _fullest_row(rows: Sequence[str], samples: Mapping[_Key, Sample]) -> str:
    counts = Counter(row for (row, _), sample in samples.items() if sample.unranked is None)
    return max(rows, key=lambda row: counts[row])


def _cells(samples: Mapping[_Key, Sample], base: str, yardstick: Yardstick) -> dict[_Key, Ratio]:
    return {
        (row, column): _ratio(samples.get((base, column)), sample, row == base, yardstick)
        for (row, column), sample in samples.items()
    }


def _ratio(base: Sample | None, sample: Sample, is_base: bool, yardstick: Yardstick) -> Ratio:
    """`sample` ÷ `base`, or why there is no ratio."""
    if sample.unranked is not None:
        return no_ratio(sample.unranked)
    if is_base:
        return BASELINE_ITSELF
    if base is None:
        return no_ratio("The baseline was not measured here.")
    if base.unranked is not None:
        return no_ratio(f"The baseline cannot be used: {base.unranked}")
    has_figures = bool(base.shown and sample.shown)
    of_figures = (sample.shown or 0) / (base.shown or 1) if has_figures else None
    return yardstick.ratio(base.values, sample.values, of_figures=of_figures)


def _common_columns(
    rows: Sequence[str], columns: Sequence[str], cells: Mapping[_Key, Ratio]
) -> tuple[str, ...]:
    """The columns where every row has a ratio; none where it is only one: no mean of that."""
    full = tuple(column for column in columns if all(_has(cells, row, column) for row in rows))
    return full if len(full) > 1 else ()


def _has(cells: Mapping[_Key, Ratio], row: str, column: str) -> bool:
    cell = cells.get((row, column))
    return cell is not None and cell.value is not None


def _mean(
    samples: Mapping[_Key, Sample],
    rows: tuple[str, str],
    columns: Sequence[str],
    yardstick: Yardstick,
) -> Ratio | None:
    """The geometric mean over `columns` of the second of `rows` relative to the first."""
    base, row = rows
    if not columns:
        return None
    if row == base:
        return BASELINE_ITSELF
    pairs = [(samples[base, column].values, samples[row, column].values) for column in columns]
    return mean_ratio(pairs, better=yardstick.better, relevant=yardstick.relevant)
