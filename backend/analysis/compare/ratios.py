"""Ratios of series to a baseline and to each other, with intervals that hold for the whole page."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log1p

from backend.analysis.compare.advice import Remedy, advise, lack_of_trials
from backend.analysis.compare.replication import scope_text
from backend.noise.models import HostNoise
from backend.stats import Better, Ratio
from backend.stats.best import is_surely_behind, rank_sets
from backend.stats.comparison import (
    AllPairs,
    Comparison,
    Floor,
    Page,
    Rule,
    against_baseline,
    matched_pairs,
)
from backend.stats.replicates import Sample
from backend.stats.sample_size import least_difference
from backend.stats.workloads import mean_comparison

TOO_FEW_TRIALS = "too few trials for an interval"
# The baseline against itself: 1× without noise.
BASELINE_ITSELF = Ratio(
    1.0, 1.0, 1.0, "unchanged", "the baseline", significant=False, relevant=False
)


@dataclass(frozen=True, slots=True)
class Places:
    """The places in a ranking that a series may have, from `first` to `last`."""

    first: int
    last: int

    @property
    def text(self) -> str:
        """`2`, or `2–4`."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The rules by which every ratio of a page is judged.

    `relevant`: a smaller share of difference does not matter. `floor`: what earlier measurements
    of the host say. `families`: how many families of intervals share the error rate of the page.
    """

    better: Better
    relevant: float
    floor: Floor | None = None
    families: int = 1

    @property
    def rule(self) -> Rule:
        return Rule(self.better, self.relevant)

    def to_baseline(self, base: Sample, others: Sequence[Sample]) -> list[Ratio]:
        """As `compare`, with what would decide each that is open."""
        return [self.ratio(comparison) for comparison in self.compare(base, others)]

    def compare(self, base: Sample, others: Sequence[Sample]) -> list[Comparison]:
        """Each of `others` ÷ `base`: all intervals hold at once in 95 % of pages."""
        return against_baseline(base, others, self.rule, floor=self.floor, families=self.families)

    def mean_to_baseline(
        self, bases: Sequence[Sample], rows: Sequence[Sequence[Sample]]
    ) -> list[Ratio]:
        """The geometric mean of each row's ratios; a sample for each column, in one order."""
        columns = [
            against_baseline(base, samples, floor=self.floor)
            for base, *samples in zip(bases, *rows, strict=True)
        ]
        means = (
            mean_comparison(row, self.rule, rows=len(rows)) for row in zip(*columns, strict=True)
        )
        return [self.ratio(mean) for mean in means]

    def matched(self, pairs: Sequence[tuple[Sample, Sample]]) -> list[Ratio]:
        """The second ÷ the first of each pair: all intervals hold at once in 95 % of pages."""
        # Each pair is a family.
        families = max(len(pairs), self.families)
        comparisons = matched_pairs(pairs, self.rule, floor=self.floor, families=families)
        return [self.ratio(comparison) for comparison in comparisons]

    def pairs(self, samples: Sequence[Sample]) -> AllPairs:
        """Every pair compared: all intervals hold at once in 95 % of pages."""
        return Page(samples, self.floor).all_pairs(self.rule, families=self.families)

    def places(self, pairs: AllPairs, *, unplaced: int = 0) -> list[Places]:
        """The places that each sample of `pairs` may have; see `rank_sets`."""
        return [Places(*ends) for ends in rank_sets(pairs, better=self.better, unplaced=unplaced)]

    def is_behind(self, comparison: Comparison, *, rivals: int) -> bool:
        """Whether a rival is behind the base, which is the best of all; see `is_surely_behind`."""
        return is_surely_behind(
            comparison, rivals=rivals, better=self.better, families=self.families
        )

    def ratio(self, comparison: Comparison) -> Ratio:
        """A comparison of logarithms as a ratio, with what would decide it where it is open.

        The advice is apart from the reason: a page of many open ratios gives one advice.
        """
        value = exp(comparison.value)
        lack = lack_of_trials(comparison)
        remedy, why = None, ": ".join(filter(None, (comparison.why, lack)))
        if comparison.low is None:
            remedy, why = Remedy(comparison.why), TOO_FEW_TRIALS
        elif comparison.verdict in ("inconclusive", "size_uncertain"):
            remedy = advise(comparison, relevant=self.relevant)
        return Ratio(
            value=value,
            low=None if comparison.low is None else exp(comparison.low),
            high=None if comparison.high is None else exp(comparison.high),
            verdict=comparison.verdict,
            why=why,
            significant=comparison.significant,
            relevant=abs(comparison.value) > log1p(self.relevant),
            scope=scope_text(comparison),
            advice=None if remedy is None else remedy.text,
            more=0 if remedy is None else remedy.more,
            lack=lack,
            is_within_runs=comparison.between is None and comparison.scope != "runs",
            design=comparison.design,
            finds_from=_finds_from(comparison),
        )


def _finds_from(comparison: Comparison) -> float | None:
    """From which share on a difference would have been found; None where one was, or where the
    noise is unknown."""
    if comparison.verdict != "inconclusive" or comparison.precision is None:
        return None
    return least_difference(comparison.precision)


def floor_of(noises: Sequence[HostNoise]) -> Floor:
    """What the history of the hosts says: of several hosts, the largest noise counts."""
    shares = [noise.floor_share for noise in noises if noise.floor_share is not None]
    varying = [noise for noise in noises if noise.run_sd is not None]
    most = max(varying, key=lambda noise: noise.run_sd or 0.0, default=None)
    return Floor(
        half_width=log1p(max(shares)) if shares else None,
        run_sd=None if most is None else most.run_sd,
        run_freedom=0 if most is None else most.run_freedom,
    )


def no_ratio(why: str) -> Ratio:
    """A ratio that is unknown, and why."""
    return Ratio(None, None, None, "inconclusive", why, significant=False, relevant=False)
