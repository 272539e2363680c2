"""The geometric mean of a server's ratios over several workloads."""

from collections.abc import Hashable, Sequence
from itertools import chain
from math import fsum, inf, sqrt
from statistics import fmean

from backend.stats.comparison import USUAL, Comparison, Precision, Rule
from backend.stats.replicates import CONFIDENCE, UNITS, Scope
from backend.stats.simultaneous import quantile_against_baseline

# A mean covers no more than the narrowest of its comparisons.
_NARROWNESS: tuple[Scope, ...] = ("runs", "these runs", "shared run", "run")


def mean_comparison(
    comparisons: Sequence[Comparison], rule: Rule = USUAL, *, rows: int = 1
) -> Comparison:
    """The mean of one server's comparisons, one for each workload, as a comparison.

    Its interval covers the noise of these workloads and says nothing about others. `rows`: how many
    servers are compared with the same baseline, so that all rows hold at once. Without an interval
    where one of the comparisons has none. Raises ValueError without comparisons.
    """
    if not comparisons:
        raise ValueError("no workload has a comparison")
    value = fmean(each.value for each in comparisons)
    precisions = [each.precision for each in comparisons if each.precision is not None]
    betweens = [each.between for each in comparisons if each.between is not None]
    scope = max((each.scope for each in comparisons), key=_NARROWNESS.index)
    if len(precisions) < len(comparisons):
        return Comparison(value, None, None, "inconclusive", _missing_text(comparisons), scope)
    is_shared = _is_noise_shared(comparisons, precisions)
    precision = _mean_precision(precisions, rows=rows, is_shared=is_shared)
    low, high = value - precision.half_width, value + precision.half_width
    verdict, why = rule.verdict(low, high)
    return Comparison(
        value=value,
        low=low,
        high=high,
        verdict=verdict,
        why=why,
        scope=scope,
        between=max(betweens, key=lambda each: each.sd, default=None),
        precision=precision,
        has_two_modes=_has_two_modes(comparisons),
        sides=tuple(chain.from_iterable([each.sides for each in comparisons])),
    )


def _missing_text(comparisons: Sequence[Comparison]) -> str:
    """What the first comparison without an interval needs."""
    return next(each.why for each in comparisons if each.precision is None)


def _has_two_modes(comparisons: Sequence[Comparison]) -> bool:
    return any(each.has_two_modes for each in comparisons)


def _is_noise_shared(comparisons: Sequence[Comparison], precisions: Sequence[Precision]) -> bool:
    """Whether several workloads have noise of the same runs, or of the same starts."""
    starts = [_starts(each) for each in comparisons]
    share_starts = len(set(chain.from_iterable(starts))) < sum(map(len, starts))
    return share_starts or any(each.unit == "run" for each in precisions)


def _starts(comparison: Comparison) -> set[tuple[Hashable, Hashable]]:
    """The starts, with their runs, that differ in the noise of a comparison."""
    series = [side for sides in comparison.sides for side in (sides.first, sides.second)]
    return {
        (trial.run, trial.start)
        for side in series
        if side.covers_starts
        for trial in chain.from_iterable(side.trials.values())
        if trial.start is not None
    }


def _mean_precision(precisions: Sequence[Precision], *, rows: int, is_shared: bool) -> Precision:
    """The precision of the mean.

    Workloads have trials of their own, but may share the variation between runs or starts
    (`is_shared`): then the standard errors are averaged, as if all noise were common.
    """
    count = len(precisions)
    freedom = _freedom_of_mean(precisions)
    total = fsum(each.error**2 for each in precisions)
    error = fmean(each.error for each in precisions) if is_shared else sqrt(total) / count
    return Precision(
        error=error,
        freedom=freedom,
        quantile=quantile_against_baseline(rows, freedom, 0.0, CONFIDENCE),
        floor=max(each.floor for each in precisions),
        rounding=fmean(each.rounding for each in precisions),
        units=min(each.units for each in precisions),
        unit=min((each.unit for each in precisions), key=UNITS.index),
    )


def _freedom_of_mean(precisions: Sequence[Precision]) -> float:
    """The degrees of freedom of the mean, by Welch and Satterthwaite."""
    variances = [each.error**2 for each in precisions]
    total = fsum(variances)
    squares = fsum(
        variance**2 / each.freedom for variance, each in zip(variances, precisions, strict=True)
    )
    return max(total**2 / squares if squares else inf, 1.0)
