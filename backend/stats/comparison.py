"""Series compared: intervals of ratios that hold for a whole page at once, and verdicts.

Against a baseline that is fixed beforehand the intervals are Dunnett's, for all pairs Games &
Howell's, both on moderated variances (see `noise`). Runs that the two sides do not share add the
variation from run to run.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import inf, log1p, sqrt
from statistics import fmean

from backend.stats.intervals import Better, Verdict
from backend.stats.noise import Noise, PageNoise, measure_noise
from backend.stats.replicates import (
    CONFIDENCE,
    Sample,
    Scope,
    Units,
    rounding_error,
    split_units,
)
from backend.stats.simultaneous import quantile_against_baseline, quantile_of_all_pairs
from backend.stats.thresholds import LEAST_TRIALS, RELEVANT_SHARE, RUN_VARIATION

_INVERSE: dict[Verdict, Verdict] = {"improved": "regressed", "regressed": "improved"}


@dataclass(frozen=True, slots=True)
class Floor:
    """What earlier measurements of a host say.

    `half_width`: differences of servers in one run below it cannot be told (log scale). `run_sd`:
    standard deviation from run to run (log scale), estimated with `run_freedom` degrees (0: given).
    """

    half_width: float | None = None
    run_sd: float | None = None
    run_freedom: int = 0


@dataclass(frozen=True, slots=True)
class Precision:
    """What the half width of an interval is made of: max(`quantile` × `error`, floor) + rounding.

    All on the log scale, but the degrees of `freedom`. `units`: how many trials, or runs where
    `of_runs`, the side with fewer has.
    """

    error: float
    freedom: float
    quantile: float
    floor: float
    rounding: float
    units: int
    of_runs: bool

    @property
    def half_width(self) -> float:
        return max(self.quantile * self.error, self.floor) + self.rounding


@dataclass(frozen=True, slots=True)
class Comparison:
    """`other` − `base` on the log scale, with the interval of the whole family.

    `run_sd`: the standard deviation between runs that was added, because the sides do not share
    their runs and have fewer than three; None where nothing was added. `is_assumed`: no history
    gave it.
    """

    value: float
    low: float | None
    high: float | None
    verdict: Verdict
    why: str
    scope: Scope
    run_sd: float | None = None
    is_assumed: bool = False
    precision: Precision | None = None

    def inverse(self) -> Comparison:
        """The same two series, the other way round."""
        low = None if self.high is None else -self.high
        high = None if self.low is None else -self.low
        verdict = _INVERSE.get(self.verdict, self.verdict)
        return replace(self, value=-self.value, low=low, high=high, verdict=verdict)

    @property
    def significant(self) -> bool:
        """Whether the interval excludes ×1."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class _Contrast:
    """A difference of two centres and its noise, before the family's quantile."""

    value: float
    error: float
    freedom: float
    # The share of the variance that comes from the first series.
    base_share: float
    # What rounding adds to the half width.
    rounding: float
    run_sd: float | None
    is_assumed: bool


class Page:
    """The series of one page, prepared once for every comparison among them."""

    def __init__(self, samples: Sequence[Sample], floor: Floor | None) -> None:
        self.series = [split_units(sample) for sample in samples]
        self.noise: PageNoise = measure_noise(self.series)
        self.floor = floor or Floor()

    def contrast(self, base: int, other: int) -> _Contrast | None:
        """The difference of two series; None where a side has too few trials for its noise."""
        first, second = self.series[base], self.series[other]
        noises = self.noise.between(base, other)
        if noises is None or min(first.n, second.n) < LEAST_TRIALS:
            return None
        exposure = _run_exposure(first, second)
        parts = [*noises]
        run_sd = None
        if exposure:
            run_sd = RUN_VARIATION if self.floor.run_sd is None else self.floor.run_sd
            freedom = self.floor.run_freedom or inf
            parts.append(Noise(run_sd * run_sd * exposure, freedom, inf))
        variance = sum(part.variance for part in parts)
        return _Contrast(
            value=second.centre - first.centre,
            error=sqrt(variance),
            freedom=_satterthwaite(parts, variance),
            base_share=parts[0].variance / variance if variance else 0.5,
            rounding=sum(rounding_error(each.step, each.variance) for each in (first, second)),
            run_sd=run_sd,
            is_assumed=bool(exposure) and self.floor.run_sd is None,
        )

    def missing(self, base: int, other: int) -> Comparison:
        """The comparison of two series of which one has too few trials."""
        first, second = self.series[base], self.series[other]
        missing = max(1, LEAST_TRIALS - min(first.n, second.n))
        trials = "trial" if missing == 1 else "trials"
        return Comparison(
            second.centre - first.centre, None, None, "inconclusive",
            f"an interval needs {missing} more {trials} at least", _scope(first, second),
        )  # fmt: skip

    def judge(
        self, pair: tuple[int, int], contrast: _Contrast, quantile: float, rule: _Rule
    ) -> Comparison:
        """The comparison of a pair whose interval is `quantile` standard errors wide."""
        first, second = self.series[pair[0]], self.series[pair[1]]
        of_runs = first.of_runs or second.of_runs or contrast.run_sd is not None
        precision = Precision(
            error=contrast.error,
            freedom=contrast.freedom,
            quantile=quantile,
            floor=self.floor.half_width or 0.0,
            rounding=contrast.rounding,
            units=min(len(side.runs) if of_runs else side.n for side in (first, second)),
            of_runs=of_runs,
        )
        low, high = contrast.value - precision.half_width, contrast.value + precision.half_width
        verdict, why = rule.verdict(low, high)
        return Comparison(
            value=contrast.value,
            low=low,
            high=high,
            verdict=verdict,
            why=why,
            scope=_scope(first, second),
            run_sd=contrast.run_sd,
            is_assumed=contrast.is_assumed,
            precision=precision,
        )


@dataclass(frozen=True, slots=True)
class _Rule:
    """What counts as better, and from which share on a difference matters."""

    better: Better
    relevant: float

    def verdict(self, low: float, high: float) -> tuple[Verdict, str]:
        threshold = log1p(self.relevant)
        if low > threshold or high < -threshold:
            is_gain = (low > 0) == (self.better == "higher")
            return "improved" if is_gain else "regressed", "beyond noise and threshold"
        if -threshold <= low and high <= threshold:
            return "unchanged", "within the threshold"
        if low > 0 or high < 0:
            return "size_uncertain", "beyond noise, size uncertain"
        return "inconclusive", "the interval includes ×1"


def against_baseline(
    base: Sample,
    others: Sequence[Sample],
    *,
    better: Better = "higher",
    relevant: float = RELEVANT_SHARE,
    floor: Floor | None = None,
    families: int = 1,
) -> list[Comparison]:
    """Each of `others` ÷ `base`: all intervals hold at once in 95 % of pages (Dunnett).

    `families`: how many such families the page shows; they share the 5 % (Šidák). The baseline
    must be chosen before its result is known.
    """
    page = Page([base, *others], floor)
    contrasts = [page.contrast(0, index) for index in range(1, len(others) + 1)]
    correlation = _correlation([each for each in contrasts if each is not None])
    confidence = _confidence(families)
    rule = _Rule(better, relevant)
    comparisons = []
    for index, contrast in enumerate(contrasts, start=1):
        if contrast is None:
            comparisons.append(page.missing(0, index))
            continue
        quantile = quantile_against_baseline(len(others), contrast.freedom, correlation, confidence)
        comparisons.append(page.judge((0, index), contrast, quantile, rule))
    return comparisons


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
    columns = [Page([base, *samples], floor) for base, *samples in zip(bases, *rows, strict=True)]
    rule = _Rule(better, relevant)
    comparisons = []
    for index in range(1, len(rows) + 1):
        contrasts = [page.contrast(0, index) for page in columns]
        known = [contrast for contrast in contrasts if contrast is not None]
        if len(known) < len(contrasts):
            short = contrasts.index(None)
            value = fmean(page.series[index].centre - page.series[0].centre for page in columns)
            comparisons.append(replace(columns[short].missing(0, index), value=value))
            continue
        mean = _mean_contrast(known, _scope(columns[0].series[0], columns[0].series[index]))
        quantile = quantile_against_baseline(len(rows), mean.freedom, 0.0, CONFIDENCE)
        comparisons.append(columns[0].judge((0, index), mean, quantile, rule))
    return comparisons


def _mean_contrast(contrasts: Sequence[_Contrast], scope: Scope) -> _Contrast:
    """The mean of differences in several columns.

    Trials of one run are independent between columns. What differs from run to run is not: there
    the error of the mean is taken as the mean of the errors, which is the most that it can be.
    """
    count = len(contrasts)
    variances = [contrast.error**2 for contrast in contrasts]
    if scope == "runs":
        error = fmean(contrast.error for contrast in contrasts)
        freedom = min(contrast.freedom for contrast in contrasts)
    else:
        error = sqrt(sum(variances)) / count
        squares = sum(
            variance**2 / contrast.freedom
            for variance, contrast in zip(variances, contrasts, strict=True)
        )
        freedom = max(1.0, sum(variances) ** 2 / squares) if squares else inf
    return _Contrast(
        value=fmean(contrast.value for contrast in contrasts),
        error=error,
        freedom=freedom,
        base_share=fmean(contrast.base_share for contrast in contrasts),
        rounding=fmean(contrast.rounding for contrast in contrasts),
        run_sd=contrasts[0].run_sd,
        is_assumed=contrasts[0].is_assumed,
    )


class AllPairs:
    """Every pair of the samples compared: all intervals hold at once in 95 % of pages."""

    def __init__(self, comparisons: dict[tuple[int, int], Comparison], count: int) -> None:
        self._comparisons = comparisons
        self.count = count

    def comparison(self, base: int, other: int) -> Comparison:
        """Sample `other` ÷ sample `base`."""
        if base < other:
            return self._comparisons[base, other]
        return self._comparisons[other, base].inverse()

    def told_apart(self, first: int, second: int) -> bool:
        """Whether the interval of the two excludes ×1."""
        return self._comparisons[min(first, second), max(first, second)].significant


def all_pairs(
    samples: Sequence[Sample],
    *,
    better: Better = "higher",
    relevant: float = RELEVANT_SHARE,
    floor: Floor | None = None,
    families: int = 1,
) -> AllPairs:
    """Every pair compared by Games & Howell's intervals on moderated variances."""
    page = Page(samples, floor)
    confidence = _confidence(families)
    rule = _Rule(better, relevant)
    comparisons = {}
    count = len(samples)
    for base in range(count):
        for other in range(base + 1, count):
            contrast = page.contrast(base, other)
            if contrast is None:
                comparisons[base, other] = page.missing(base, other)
                continue
            quantile = quantile_of_all_pairs(count, contrast.freedom, confidence)
            comparisons[base, other] = page.judge((base, other), contrast, quantile, rule)
    return AllPairs(comparisons, count)


def rank_sets(pairs: AllPairs, *, better: Better = "higher") -> list[tuple[int, int]]:
    """The places (first, last) that each sample may have, all true at once in 95 % of pages.

    Confidence sets for ranks: Mogstad, Romano, Shaikh & Wilhelm (Review of Economic Studies 2024).
    """
    ahead, behind = [0] * pairs.count, [0] * pairs.count
    for base in range(pairs.count):
        for other in range(base + 1, pairs.count):
            comparison = pairs.comparison(base, other)
            if not comparison.significant:
                continue
            is_base_first = (comparison.value < 0) == (better == "higher")
            first, second = (base, other) if is_base_first else (other, base)
            behind[first] += 1
            ahead[second] += 1
    return [(ahead[index] + 1, pairs.count - behind[index]) for index in range(pairs.count)]


def _confidence(families: int) -> float:
    return float(CONFIDENCE ** (1 / families))


def _scope(first: Units, second: Units) -> Scope:
    if first.of_runs and second.of_runs:
        return "runs"
    if first.runs != second.runs:
        return "runs"
    return first.scope if not first.of_runs else second.scope


def _run_exposure(first: Units, second: Units) -> float:
    """How many times the variance between runs is in the difference of two centres.

    Sides of three runs or more show that variance themselves. Runs that both sides have cancel.
    """
    shares: dict[Hashable, float] = {}
    for side, sign in ((first, -1.0), (second, 1.0)):
        if not side.of_runs:
            for run in side.runs:
                shares[run] = shares.get(run, 0.0) + sign / len(side.runs)
    return sum(share * share for share in shares.values())


def _satterthwaite(parts: Sequence[Noise], variance: float) -> float:
    squares = sum(part.variance**2 / part.freedom for part in parts)
    freedom = variance**2 / squares if squares else inf
    return max(1.0, min(freedom, max(part.pooled for part in parts)))


def _correlation(contrasts: Sequence[_Contrast]) -> float:
    """The mean correlation of two comparisons with the baseline."""
    if len(contrasts) < 2:
        return 0.0
    roots = [sqrt(each.base_share) for each in contrasts]
    count = len(roots)
    squares = sum(root * root for root in roots)
    return (sum(roots) ** 2 - squares) / (count * (count - 1))
