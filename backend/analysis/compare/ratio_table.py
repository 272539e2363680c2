"""Servers × workloads: how far each is from the baseline, within each workload on its own.

A workload's rows are compared at one load of that workload. Across workloads only ratios are
averaged, as a geometric mean (Fleming & Wallace, CACM 1986: no other mean of ratios is the same
for every baseline), and only over the workloads that every row has.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from backend.analysis.compare.headline import ratio_text
from backend.analysis.compare.ranking import ratio_dict
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import NAMED, Sweep, known, more_series
from backend.analysis.query.metrics import METRICS
from backend.stats import Better, Ratio, holding, ratio
from backend.stats.intervals import mean_ratio

_SELF = Ratio(1.0, 1.0, 1.0, "unchanged", "the baseline", significant=False, relevant=False)
Load = float | str


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

    def as_dict(self) -> dict[str, object]:
        """`ratios` of the figures."""
        return {
            "baseline": {"server": self.server, "label": self.baseline},
            "rows": list(self.rows),
            "columns": list(self.columns),
            "loads": list(self.loads),
            "cells": [[_plain(cell) for cell in row] for row in self.cells],
            "means": [_plain(mean) for mean in self.means],
            "means_over": list(self.common),
            "means_text": self.means_text(),
        }

    def finding(self, metric: str) -> str | None:
        """`Throughput over 2 workloads, relative to caddy: nginx 1.52× [1.50, 1.54]`.

        The farthest three by their geometric mean; the rest is counted. None without a mean.
        """
        found = [
            (row, mean)
            for row, mean in zip(self.rows, self.means, strict=True)
            if mean is not None and mean.value is not None and row != self.baseline
        ]
        if not found:
            return None
        found.sort(key=lambda pair: -abs(log(pair[1].value or 1)))
        said = [f"{row} {ratio_text(mean)}" for row, mean in found[:NAMED]]
        texts = "; ".join([*said, *more_series(len(found) - NAMED)])
        return f"{metric} over {len(self.common)} workloads, relative to {self.baseline}: {texts}"

    def means_text(self) -> str:
        """Over which workloads the means are, or why there are none."""
        if not self.common:
            return "No geometric mean: no two workloads have a ratio for every row"
        missing = len(self.columns) - len(self.common)
        left_out = f"; {missing} of {len(self.columns)} left out, not every row has them"
        return (
            f"Geometric mean over {len(self.common)} workloads, with the noise of their trials: it "
            f"says nothing of other workloads{left_out if missing else ''}"
        )


def _plain(cell: Ratio | None) -> dict[str, object] | None:
    return None if cell is None else ratio_dict(cell)


def entry_of(
    sweep: Sweep, *, row: str, metric: str, unranked: Callable[[Point], str | None]
) -> Entry:
    """The entry of a series; `unranked` says why a point may not be compared, or None."""
    pooled = METRICS[metric].group == "latency"
    samples: dict[Load, Sample] = {
        point.x: Sample(
            tuple(known(point, metric)),
            unranked(point),
            point.metrics[metric].value if pooled else None,
        )
        for point in sweep.points
        if point.x is not None
    }
    first = sweep.group.first
    return Entry(row, first.server.name, first.workload.name, samples)


def ratio_table(
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
    entries = [entry for entry in entries if entry.samples]
    columns = sorted({entry.workload for entry in entries})
    rows = sorted({entry.row for entry in entries})
    if len(columns) < 2 or len(rows) < 2:
        return None
    loads = {
        column: _load([entry for entry in entries if entry.workload == column], at)
        for column in columns
    }
    samples = {
        (row, column): sample
        for (row, column), found in _by_cell(entries).items()
        if (sample := _sample(found, loads[column])) is not None
    }
    base = baseline if baseline in rows else _fullest(rows, samples)
    cells = {
        key: _cell(sample, samples.get((base, key[1])), key[0] == base, (better, relevant))
        for key, sample in samples.items()
    }
    common = _common(rows, columns, cells)
    return RatioTable(
        baseline=base,
        server=next(entry.server for entry in entries if entry.row == base),
        rows=tuple(rows),
        columns=tuple(columns),
        loads=tuple(loads[column] for column in columns),
        cells=tuple(tuple(cells.get((row, column)) for column in columns) for row in rows),
        means=tuple(
            _mean(
                [(samples[base, column], samples[row, column]) for column in common],
                row == base,
                (better, relevant),
            )
            for row in rows
        ),
        common=common,
    )


def _load(entries: Sequence[Entry], at: Load | None) -> Load:
    shared = Counter(load for entry in entries for load in entry.samples)
    if at is not None and at in shared:
        return at
    return max(shared, key=lambda load: (shared[load], isinstance(load, float | int), load))


def _by_cell(entries: Sequence[Entry]) -> dict[tuple[str, str], list[Entry]]:
    found: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        found[entry.row, entry.workload].append(entry)
    return found


def _sample(found: Sequence[Entry], load: Load) -> Sample | None:
    """The sample of a cell at its load; of several series none is picked."""
    measured = [entry.samples[load] for entry in found if load in entry.samples]
    if len(measured) <= 1:
        return measured[0] if measured else None
    return Sample((), f"{len(measured)} series stand here; add a filter")


def _fullest(rows: Sequence[str], samples: Mapping[tuple[str, str], Sample]) -> str:
    counts = Counter(row for (row, _), sample in samples.items() if sample.unranked is None)
    return max(rows, key=lambda row: counts[row])


def _cell(sample: Sample, base: Sample | None, is_base: bool, how: tuple[Better, float]) -> Ratio:
    if sample.unranked is not None:
        return _none(sample.unranked)
    if is_base:
        return _SELF
    if base is None:
        return _none("The baseline was not measured here.")
    if base.unranked is not None:
        return _none(f"The baseline cannot serve as one: {base.unranked}")
    better, relevant = how
    found = ratio(base.values, sample.values, better=better, relevant=relevant)
    if not base.shown or not sample.shown:
        return found
    return holding(found, sample.shown / base.shown, better=better, relevant=relevant)


def _none(why: str) -> Ratio:
    return Ratio(None, None, None, "inconclusive", why, significant=False, relevant=False)


def _common(
    rows: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[str, str], Ratio]
) -> tuple[str, ...]:
    """The columns where every row has a ratio; none where it is only one: no mean of that."""
    full = tuple(column for column in columns if all(_has(cells, row, column) for row in rows))
    return full if len(full) > 1 else ()


def _has(cells: Mapping[tuple[str, str], Ratio], row: str, column: str) -> bool:
    cell = cells.get((row, column))
    return cell is not None and cell.value is not None


def _mean(
    pairs: Sequence[tuple[Sample, Sample]], is_base: bool, how: tuple[Better, float]
) -> Ratio | None:
    if not pairs:
        return None
    if is_base:
        return _SELF
    values = [(base.values, other.values) for base, other in pairs]
    return mean_ratio(values, better=how[0], relevant=how[1])
