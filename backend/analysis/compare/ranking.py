"""Who is ahead at one load point, in tiers, with ratios to a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.analysis.grouping.points import Measure, Point, plain
from backend.analysis.query.fields import Value
from backend.analysis.query.metrics import METRICS
from backend.stats import Estimate, Ratio, holding, ratio, tiers

# The baseline against itself: ×1 without noise, whatever its trials say.
_SELF = Ratio(1.0, 1.0, 1.0, "unchanged", "the baseline", significant=False, relevant=False)


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

    def as_dict(self) -> dict[str, object]:
        return {
            "series": self.entrant.series,
            "label": self.entrant.label,
            "value": self.measure.value,
            "low": self.measure.low,
            "high": self.measure.high,
            "tier": self.tier,
            "ratio": self._ratio(),
            "significant": None if self.ratio is None else self.ratio.significant,
            "relevant": None if self.ratio is None else self.ratio.relevant,
            "why": self.unranked,
        }

    def _ratio(self) -> dict[str, object] | None:
        if self.ratio is not None:
            return ratio_dict(self.ratio)
        if self.why is None:
            return None
        none = {"value": None, "low": None, "high": None}
        return {**none, "verdict": "inconclusive", "why": self.why}


def ratio_dict(one: Ratio) -> dict[str, object]:
    return {
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "verdict": one.verdict,
        "why": one.why,
    }


@dataclass(frozen=True, slots=True)
class Ranking:
    x: Value
    metric: str
    baseline: Row | None
    rows: tuple[Row, ...]

    def as_dict(self) -> dict[str, object]:
        return {
            "x": plain(self.x),
            "metric": self.metric,
            "baseline": self.baseline.entrant.series if self.baseline else None,
            "rows": [row.as_dict() for row in self.rows],
        }


def rank(
    x: Value,
    metric: str,
    entrants: Sequence[Entrant],
    *,
    baseline: str | None,
    relevant: float,
) -> Ranking:
    """Best first; series that are not ranked come last. The baseline defaults to the runner-up."""
    ordered = sorted(entrants, key=lambda one: _order(one, metric))
    base = _baseline(ordered, metric, baseline)
    places = _tiers(ordered, metric)
    rows = [
        Row(
            entrant=one,
            measure=one.measure(metric),
            tier=places.get(one.series),
            ratio=ratio_of(one, base, metric, relevant),
            why=_why_none(one, base, metric),
            unranked=one.unranked(metric),
        )
        for one in ordered
    ]
    found = next((row for row in rows if base and row.entrant.series == base.series), None)
    return Ranking(x, metric, found, tuple(rows))


def _order(one: Entrant, metric: str) -> tuple[bool, float, str]:
    value = one.measure(metric).value
    sign = -1 if METRICS[metric].better == "higher" else 1
    known = float("inf") if value is None else sign * value
    return one.unranked(metric) is not None, known, one.label


def _baseline(ordered: Sequence[Entrant], metric: str, asked: str | None) -> Entrant | None:
    if asked is not None:
        return next((one for one in ordered if one.series == asked), None)
    ranked = [one for one in ordered if one.unranked(metric) is None]
    return ranked[min(1, len(ranked) - 1)] if ranked else None


def _tiers(ordered: Sequence[Entrant], metric: str) -> dict[str, str]:
    """Places that the intervals bear out; none where a figure is no median of trials."""
    ranked: list[tuple[str, Estimate]] = []
    for one in ordered:
        estimate = one.measure(metric).estimate
        if estimate is not None and one.unranked(metric) is None:
            ranked.append((one.series, estimate))
    places = tiers([estimate for _, estimate in ranked], better=METRICS[metric].better)
    return {series: place for (series, _), place in zip(ranked, places, strict=True)}


def ratio_of(one: Entrant, base: Entrant | None, metric: str, relevant: float) -> Ratio | None:
    """`one` ÷ `base` from the trial values of both; None where one of them is not ranked."""
    if base is None or METRICS[metric].group == "errors":
        return None
    if one.unranked(metric) is not None or base.unranked(metric) is not None:
        return None
    if one.series == base.series:
        return _SELF
    return ratio_of_measures(base.measure(metric), one.measure(metric), metric, relevant)


def ratio_of_measures(base: Measure, other: Measure, metric: str, relevant: float) -> Ratio:
    """`other` ÷ `base` from their trials; of latencies it holds the ratio of the figures shown."""
    better = METRICS[metric].better
    found = ratio(_values(base), _values(other), better=better, relevant=relevant)
    if METRICS[metric].group != "latency" or not base.value or not other.value:
        return found
    return holding(found, other.value / base.value, better=better, relevant=relevant)


def _why_none(one: Entrant, base: Entrant | None, metric: str) -> str | None:
    if base is None or METRICS[metric].group == "errors":
        return None
    if (own := one.unranked(metric)) is not None:
        return own
    theirs = base.unranked(metric)
    return None if theirs is None else f"The baseline cannot serve as one: {theirs}"


def _values(measure: Measure) -> list[float]:
    return [value for value in measure.each if value is not None]
