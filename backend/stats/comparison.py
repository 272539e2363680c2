"""Series compared: intervals of ratios that hold for a whole page at once, and verdicts.

Against a baseline that is fixed beforehand the intervals are Dunnett's, for all pairs Games &
Howell's, both on moderated variances (see `noise`). Runs that the two sides do not share add the
variation from run to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, log1p

from msgspec import Struct
from msgspec.structs import replace

from backend.stats.contrast import (
    Contrast,
    Quantile,
    RunVariation,
    Sides,
    are_apart,
    correlation_of,
    new_runs,
    only_runs,
    run_exposure,
    run_variation,
    sharpen,
)
from backend.stats.design import Design, design_of
from backend.stats.noise import Noise, PageNoise, measure_noise
from backend.stats.ratio import IF_BASELINE_IS_STEADY, Better, Verdict, inverse_verdict
from backend.stats.replicates import (
    UNITS,
    Centre,
    Sample,
    Scope,
    Unit,
    Units,
    centre_of,
    shared_confidence,
)
from backend.stats.sequential import intervals_shared
from backend.stats.simultaneous import quantile_against_baseline, quantile_of_all_pairs
from backend.stats.thresholds import LEAST_TRIALS, RELEVANT_SHARE, missing_text


@dataclass(frozen=True, slots=True)
class Floor:
    """What earlier measurements of a host say.

    `half_width`: differences of servers in one run below it cannot be told (log scale). `run_sd`:
    standard deviation from run to run (log scale), estimated with `run_freedom` degrees.
    `is_one_history`: the runs of all series are of one history, so where a side has three runs,
    they show how far a run of the other side may lie from them.
    """

    half_width: float | None = None
    run_sd: float | None = None
    run_freedom: int = 0
    is_one_history: bool = False

    @property
    def between_runs(self) -> RunVariation | None:
        if self.run_sd is None:
            return None
        return sharpen(self.run_sd**2, self.run_freedom, "host")


class Precision(Struct, frozen=True, gc=False):
    """The parts of the half width of an interval: max(`quantile` × `error`, floor) + rounding.

    All on the log scale, but the degrees of `freedom`. `units`: how many trials, starts or runs, as
    `unit` says, the side with fewer has. `steady`: if only the second side gets more runs, the
    squared error that stays; `units` then counts that side.
    """

    error: float
    freedom: float
    quantile: float
    floor: float
    rounding: float
    units: int
    unit: Unit
    steady: float | None = None

    @property
    def half_width(self) -> float:
        return max(self.quantile * self.error, self.floor) + self.rounding


class Comparison(Struct, frozen=True, gc=False):
    """`other` − `base` on the log scale, with the interval of the whole family.

    `between`: the variation between runs that the interval allows for, because the sides do not
    share their runs and one has fewer than three, or because new runs are held against a history
    (`Floor.is_one_history`); None where neither holds. `has_two_modes`: the trials of a
    side fall into two groups; its centre is between them. `trials`: how many each side has, where
    trials show the noise. `sides`: the two series, for each workload that it is of.
    """

    value: float
    low: float | None
    high: float | None
    verdict: Verdict
    why: str
    scope: Scope
    between: RunVariation | None = None
    precision: Precision | None = None
    has_two_modes: bool = False
    trials: tuple[int, int] | None = None
    sides: tuple[Sides, ...] = ()

    @property
    def design(self) -> Design:
        """What the interval does not allow for."""
        return design_of(self.sides)

    @property
    def is_restarted(self) -> bool:
        """Whether trials of a side have several starts, too few to show how starts differ."""
        sides = [side for pair in self.sides for side in (pair.first, pair.second)]
        return any(
            side.starts is not None and side.starts > len(side.runs) and not side.covers_starts
            for side in sides
        )

    def inverse(self) -> Comparison:
        """The same two series, the other way round."""
        low = None if self.high is None else -self.high
        high = None if self.low is None else -self.low
        verdict = inverse_verdict(self.verdict)
        return replace(self, value=-self.value, low=low, high=high, verdict=verdict)

    @property
    def is_sized(self) -> bool:
        """Whether it says that the difference is beyond the threshold."""
        return self.verdict in ("improved", "regressed")

    @property
    def significant(self) -> bool:
        """Whether the interval excludes 1×."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class Rule:
    """What counts as better, and from which share on a difference matters."""

    better: Better = "higher"
    relevant: float = RELEVANT_SHARE

    def verdict(self, low: float, high: float) -> tuple[Verdict, str]:
        """The verdict on an interval on the log scale, and why."""
        threshold = log1p(self.relevant)
        if low > threshold or high < -threshold:
            is_gain = (low > 0) == (self.better == "higher")
            return "improved" if is_gain else "regressed", "beyond noise and threshold"
        if -threshold <= low and high <= threshold:
            return "unchanged", "within the threshold"
        if low > 0 or high < 0:
            return "size_uncertain", "beyond noise, size uncertain"
        return "inconclusive", "the interval includes 1×"


USUAL = Rule()


class Page:
    """The series of one page, prepared once for every comparison among them."""

    def __init__(self, samples: Sequence[Sample], floor: Floor | None = None) -> None:
        self.samples = samples
        self.series = [sample.units for sample in samples]
        self.noise: PageNoise = measure_noise(self.series)
        self.floor = floor or Floor()

    def against(
        self, base: int, others: Sequence[int], rule: Rule = USUAL, *, families: float = 1
    ) -> list[Comparison]:
        """Each of `others` ÷ `base` (indices): all intervals hold at once in 95 % of pages.

        `families`: how many such families the page shows; they share the 5 % (Šidák).
        """
        rows = list(self.each_against(base, others, rule, families=families))
        if len(rows) > 1 and any(row.is_sized for row in rows):
            return self._unless_base_is_noisier(base, others, rows, families)
        return rows

    def each_against(
        self, base: int, others: Sequence[int], rule: Rule, *, families: float = 1
    ) -> Iterator[Comparison]:
        """As `against`, each computed when it is asked for: the first may be enough.

        Verdicts may rest on the base being as steady as the others.
        """
        pairs = [self._sides(base, other) for other in others]
        contrasts = [self._contrast(sides) for sides in pairs]
        quantile = _quantile_against(contrasts, families)
        for sides, contrast in zip(pairs, contrasts, strict=True):
            yield self._judge(sides, contrast, quantile, rule)

    def _unless_base_is_noisier(
        self, base: int, others: Sequence[int], rows: Sequence[Comparison], families: float
    ) -> list[Comparison]:
        """The rows, with no verdict that needs the base to be as steady as the others.

        The error of the base is in every row, and few trials do not show that it is larger. So a
        verdict also needs an interval by the base's own noise that excludes 1× (Hasler & Hothorn,
        Biometrical Journal 2008).
        """
        contrasts = [self._contrast(self._sides(base, other)) for other in others]
        owns = [contrast and contrast.by_own_noise_of_first() for contrast in contrasts]
        quantile = _quantile_against(owns, families)
        return [
            replace(row, verdict="size_uncertain", why=IF_BASELINE_IS_STEADY)
            if own and row.is_sized and not own.exceeds(quantile, self.floor.half_width or 0.0)
            else row
            for row, own in zip(rows, owns, strict=True)
        ]

    def all_pairs(self, rule: Rule = USUAL, *, families: int = 1) -> AllPairs:
        """Every pair (Games & Howell): all intervals hold at once in 95 % of pages."""
        confidence, count = shared_confidence(families), len(self.series)

        # Pooled noise has the same degrees of freedom in every pair.
        @cache
        def quantile(freedom: float) -> float:
            return quantile_of_all_pairs(count, freedom, confidence)

        def compare(base: int, other: int) -> Comparison:
            sides = self._sides(base, other)
            return self._judge(sides, self._contrast(sides), quantile, rule)

        return AllPairs(compare, count)

    def centre(self, index: int) -> Centre:
        """The centre of one of the series."""
        return centre_of(self.series[index])

    def _sides(self, base: int, other: int) -> Sides:
        """Two series as they are compared: inside the runs that hold both, where they need that."""
        first, second = self.series[base], self.series[other]
        if run_exposure(first, second) and (shared := first.runs & second.runs):
            one, two = (only_runs(self.samples[index], shared).units for index in (base, other))
            if min(one.n, two.n) >= LEAST_TRIALS:
                noises = measure_noise([one, two]).between(0, 1)
                return Sides(one, two, noises, are_parts=True)
        return Sides(first, second, self.noise.between(base, other))

    def _contrast(self, sides: Sides) -> Contrast | None:
        """The difference of two series; None if a side has too few trials for its noise."""
        first, second, noises = sides.first, sides.second, sides.noises
        if noises is None or first.n < LEAST_TRIALS or second.n < LEAST_TRIALS:
            return None
        if self.floor.is_one_history and are_apart(first, second):
            return new_runs(first, second, noises)
        parts: Sequence[Noise] = noises
        variance = noises[0].variance + noises[1].variance
        between = None
        if exposure := run_exposure(first, second):
            between = self.floor.between_runs or run_variation(first, second)
            of_runs = Noise(between.variance * exposure, between.freedom, inf)
            parts, variance = (*noises, of_runs), variance + of_runs.variance
        return Contrast(
            value=second.centre - first.centre,
            parts=parts,
            variance=variance,
            rounding=first.rounding + second.rounding,
            between=between,
        )

    def _judge(
        self, sides: Sides, contrast: Contrast | None, quantile: Quantile, rule: Rule
    ) -> Comparison:
        """The comparison of a pair: its interval is a quantile of standard errors wide.

        Undecided without a contrast.
        """
        first, second = sides.first, sides.second
        if contrast is None:
            return _undecided(sides)
        freedom = contrast.freedom
        unit = _unit(first, second, between=contrast.between)
        counts = [len(side.runs if unit == "run" else side.distances) for side in (first, second)]
        precision = Precision(
            error=contrast.error,
            freedom=freedom,
            quantile=quantile(freedom),
            floor=self.floor.half_width or 0.0,
            rounding=contrast.rounding,
            units=min(counts) if contrast.steady is None else counts[1],
            unit=unit,
            steady=contrast.steady,
        )
        half_width = precision.half_width
        low, high = contrast.value - half_width, contrast.value + half_width
        verdict, why = rule.verdict(low, high)
        return Comparison(
            value=contrast.value,
            low=low,
            high=high,
            verdict=verdict,
            why=why,
            scope=sides.scope,
            between=contrast.between,
            precision=precision,
            has_two_modes=first.has_two_modes or second.has_two_modes,
            trials=(first.n, second.n) if unit == "trial" else None,
            sides=(sides,),
        )


def _unit(first: Units, second: Units, *, between: RunVariation | None) -> Unit:
    """What shows the noise of a difference: the highest level of a side."""
    if between is not None:
        return "run"
    return min(first.unit, second.unit, key=UNITS.index)


def _undecided(sides: Sides) -> Comparison:
    """The comparison of two series of which one has too few trials."""
    return Comparison(
        value=sides.second.centre - sides.first.centre,
        low=None,
        high=None,
        verdict="inconclusive",
        why=missing_text(sides.first.n, sides.second.n),
        scope=sides.scope,
    )


class AllPairs:
    """Every pair of a page's series, each compared when it is first asked for."""

    def __init__(self, compare: Callable[[int, int], Comparison], count: int) -> None:
        self._compare = cache(compare)
        self.count = count

    def comparison(self, base: int, other: int) -> Comparison:
        """Series `other` ÷ series `base`."""
        if base < other:
            return self._compare(base, other)
        return self._compare(other, base).inverse()

    def told_apart(self, first: int, second: int) -> bool:
        """Whether the interval of the two excludes 1×."""
        return self._compare(min(first, second), max(first, second)).significant


def against_baseline(
    base: Sample,
    others: Sequence[Sample],
    rule: Rule = USUAL,
    *,
    floor: Floor | None = None,
    families: int = 1,
) -> list[Comparison]:
    """Each of `others` ÷ `base` (Dunnett); the baseline must be chosen before its result is known.

    See `Page.against`.
    """
    page = Page([base, *others], floor)
    return page.against(0, range(1, len(others) + 1), rule, families=families)


def matched_pairs(
    pairs: Sequence[tuple[Sample, Sample]],
    rule: Rule,
    *,
    floor: Floor | None,
    families: float,
    most_runs: int = 1,
) -> list[Comparison]:
    """The second ÷ the first of each pair; the noise of each is judged beside that of the others.

    `families`: how many pairs the whole page shows. `most_runs`: how many runs the second may get
    at the most, with a page after each.
    """
    page = Page([sample for pair in pairs for sample in pair], floor)
    shared = [families * intervals_shared(len(each.units.runs), most_runs) for _, each in pairs]
    return [
        page.against(2 * at, [2 * at + 1], rule, families=each)[0] for at, each in enumerate(shared)
    ]


def _quantile_against(contrasts: Sequence[Contrast | None], families: float) -> Quantile:
    """Dunnett's quantile of a family with one baseline."""
    count, confidence = len(contrasts), shared_confidence(families)
    correlation = correlation_of([each for each in contrasts if each is not None])

    def quantile(freedom: float) -> float:
        return quantile_against_baseline(count, freedom, correlation, confidence)

    return quantile
