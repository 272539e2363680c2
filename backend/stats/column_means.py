"""The mean of ratios over several columns (workloads), with intervals that hold for all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, sqrt
from statistics import fmean

from backend.stats.comparison import Comparison, Floor, Page, Precision, Rule
from backend.stats.intervals import Better
from backend.stats.replicates import CONFIDENCE, Sample
from backend.stats.simultaneous import quantile_against_baseline
from backend.stats.thresholds import RELEVANT_SHARE


def mean_against_baseline(
    bases: Sequence[Sample],
    rows: Sequence[Sequence[Sample]],
    *,
    better: Better = "higher",
    relevant: float = RELEVANT_SHARE,
    floor: Floor | None = None,
) -> list[Comparison]:
    """Each row ÷ the baseline on average over the columns: all intervals hold at once.

    `bases` has a sample for each column, and so has each of `rows`. The intervals say nothing
    about columns that were not measured.
    """
    columns = [
        Page([base, *samples], floor).against(0, range(1, len(rows) + 1))
        for base, *samples in zip(bases, *rows, strict=True)
    ]
    rule = Rule(better, relevant)
    return [_mean(in_columns, len(rows), rule) for in_columns in zip(*columns, strict=True)]


def _mean(in_columns: Sequence[Comparison], rows: int, rule: Rule) -> Comparison:
    value = fmean(comparison.value for comparison in in_columns)
    precisions = [
        comparison.precision for comparison in in_columns if comparison.precision is not None
    ]
    if len(precisions) < len(in_columns):
        undecided = next(each for each in in_columns if each.precision is None)
        return replace(undecided, value=value)
    precision = _mean_precision(precisions, rows)
    low, high = value - precision.half_width, value + precision.half_width
    verdict, why = rule.verdict(low, high)
    return replace(
        in_columns[0],
        value=value,
        low=low,
        high=high,
        verdict=verdict,
        why=why,
        precision=precision,
    )


def _mean_precision(precisions: Sequence[Precision], rows: int) -> Precision:
    """The precision of the mean.

    Trials of one run are independent between columns. What differs from run to run is not: there
    the error of the mean is taken as the mean of the errors, which is the most that it can be.
    """
    if any(precision.of_runs for precision in precisions):
        error = fmean(precision.error for precision in precisions)
        freedom = min(precision.freedom for precision in precisions)
    else:
        variances = [precision.error**2 for precision in precisions]
        error = sqrt(sum(variances)) / len(variances)
        squares = sum(
            variance**2 / precision.freedom
            for variance, precision in zip(variances, precisions, strict=True)
        )
        freedom = max(1.0, sum(variances) ** 2 / squares) if squares else inf
    return replace(
        precisions[0],
        error=error,
        freedom=freedom,
        quantile=quantile_against_baseline(rows, freedom, 0.0, CONFIDENCE),
        floor=fmean(precision.floor for precision in precisions),
        rounding=fmean(precision.rounding for precision in precisions),
        units=min(precision.units for precision in precisions),
    )
