"""The order of series at one load point, in tiers, with ratios to a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.analysis import figures
from backend.analysis.compare.ratios import BASELINE_ITSELF, Yardstick, no_ratio
from backend.analysis.figures import record_of
from backend.analysis.grouping.points import Measure, Point, place_of, trial_values
from backend.analysis.query.field import Value
from backend.analysis.query.metrics import METRICS
from backend.stats import Estimate, Ratio, tiers


@dataclass(frozen=True, slots=True)
class Entrant:
    """One series at the load point of the ranking."""

    series: str
    label: str
    point: Point

    def measure(self, metric: str) -> Measure:
        return self.point.metrics[metric]

    def unranked(self, metric: str) -> str | None:
        """Why this series gets no tier, or None."""
        rate = self.point.metrics["error_rate"].value
        if METRICS[metric].group != "errors" and self.point.failing and rate is not None:
            return f"{rate * 100:.3g} % of its requests failed, so it is not ranked."
        if METRICS[metric].group == "latency" and self.point.overload:
            return "It did not reach the offered rate, so its latency is not ranked."
        if self.measure(metric).value is None:
            return "This figure is unknown."
        return None


@dataclass(frozen=True, slots=True)
class Row:
    entrant: Entrant
    measure: Measure
    tier: str | None
    ratio: Ratio | None
    # Why there is no ratio.
    why: str | None
    # Why it has no place.
    unranked: str | None

    def to_record(self) -> figures.RankRow:
        return figures.RankRow(
            series=self.entrant.series,
            label=self.entrant.label,
            value=self.measure.value,
            low=self.measure.low,
            high=self.measure.high,
            tier=self.tier,
            ratio=self._ratio(),
            significant=None if self.ratio is None else self.ratio.significant,
            relevant=None if self.ratio is None else self.ratio.relevant,
            why=self.unranked,
        )

    def _ratio(self) -> figures.Ratio | None:
        if self.ratio is not None:
            return record_of(figures.Ratio, self.ratio)
        return None if self.why is None else record_of(figures.Ratio, no_ratio(self.why))


@dataclass(frozen=True, slots=True)
class Ranking:
    x: Value
    metric: str
    baseline: Row | None
    rows: tuple[Row, ...]

    def to_record(self) -> figures.Ranking:
        return figures.Ranking(
            x=place_of(self.x),
            metric=self.metric,
            baseline=self.baseline.entrant.series if self.baseline else None,
            rows=[row.to_record() for row in self.rows],
        )


def rank(
    x: Value,
    metric: str,
    entrants: Sequence[Entrant],
    *,
    baseline: str | None,
    relevant: float,
) -> Ranking:
    """Best first; series that are not ranked come last. The baseline defaults to the runner-up."""
    in_order = sorted(entrants, key=lambda entrant: _order(entrant, metric))
    base = _baseline(in_order, metric, baseline)
    places = _tiers(in_order, metric)
    rows = [
        Row(
            entrant=entrant,
            measure=entrant.measure(metric),
            tier=places.get(entrant.series),
            ratio=ratio_of(entrant, base, metric, relevant),
            why=_why_no_ratio(entrant, base, metric),
            unranked=entrant.unranked(metric),
        )
        for entrant in in_order
    ]
    base_row = next((row for row in rows if base and row.entrant.series == base.series), None)
    return Ranking(x, metric, base_row, tuple(rows))


def _order(entrant: Entrant, metric: str) -> tuple[bool, float, str]:
    value = entrant.measure(metric).value
    sign = -1 if METRICS[metric].better == "higher" else 1
    rank_key = float("inf") if value is None else sign * value
    return entrant.unranked(metric) is not None, rank_key, entrant.label


def _baseline(in_order: Sequence[Entrant], metric: str, asked: str | None) -> Entrant | None:
    if asked is not None:
        return next((entrant for entrant in in_order if entrant.series == asked), None)
    ranked = [entrant for entrant in in_order if entrant.unranked(metric) is None]
    return ranked[min(1, len(ranked) - 1)] if ranked else None


def _tiers(in_order: Sequence[Entrant], metric: str) -> dict[str, str]:
    """Places that the intervals bear out; none where a figure is no median of trials."""
    ranked: list[tuple[str, Estimate]] = []
    for entrant in in_order:
        estimate = entrant.measure(metric).estimate
        if estimate is not None and entrant.unranked(metric) is None:
            ranked.append((entrant.series, estimate))
    places = tiers([estimate for _, estimate in ranked], better=METRICS[metric].better)
    return {series: place for (series, _), place in zip(ranked, places, strict=True)}


def ratio_of(entrant: Entrant, base: Entrant | None, metric: str, relevant: float) -> Ratio | None:
    """`entrant` ÷ `base` from the trial values of both; None where one of them is not ranked."""
    if base is None or METRICS[metric].group == "errors":
        return None
    if entrant.unranked(metric) is not None or base.unranked(metric) is not None:
        return None
    if entrant.series == base.series:
        return BASELINE_ITSELF
    return ratio_of_measures(base.measure(metric), entrant.measure(metric), metric, relevant)


def ratio_of_measures(base: Measure, other: Measure, metric: str, relevant: float) -> Ratio:
    """`other` ÷ `base` from their trials; of latencies it holds the ratio of the figures shown."""
    of_figures = None
    if METRICS[metric].group == "latency" and base.value and other.value:
        of_figures = other.value / base.value
    yardstick = Yardstick(METRICS[metric].better, relevant)
    return yardstick.ratio(trial_values(base), trial_values(other), of_figures=of_figures)


def _why_no_ratio(entrant: Entrant, base: Entrant | None, metric: str) -> str | None:
    if base is None or METRICS[metric].group == "errors":
        return None
    if (why := entrant.unranked(metric)) is not None:
        return why
    why_base = base.unranked(metric)
    return None if why_base is None else f"The baseline cannot be used: {why_base}"
