"""The order of series at one load point, with the places that each may have, and ratios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import UNSET

from backend.analysis import figures
from backend.analysis.compare.design import NamedRatio
from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.ratios import BASELINE_ITSELF, Places, Yardstick, no_ratio
from backend.analysis.grouping.measures import Measure
from backend.analysis.grouping.points import place_of
from backend.analysis.query.field import Value
from backend.analysis.query.metrics import METRICS
from backend.analysis.record import record_of
from backend.stats import Ratio
from backend.stats.replicates import Sample

NO_RATIO_OF_STEP = "A figure is below the smallest step of the load tool, so there is no ratio."
NO_RATIO_OF_ZERO = "A figure is zero in some trial, so there is no ratio."


@dataclass(frozen=True, slots=True)
class Row:
    entrant: Entrant
    measure: Measure
    places: Places | None
    ratio: Ratio | None
    # Why there is no ratio.
    why: str | None
    # Why its figure may not be compared, and why it does not keep the limit.
    unranked: str | None
    over_limit: str | None = None

    @property
    def limit_doubt(self) -> str | None:
        """`p99 may be over 20 ms: 19.3 ms [17.9, 20.8]`; None if its p99 is certain."""
        return None if self.unranked else self.entrant.limit_doubt

    @property
    def why_unranked(self) -> str | None:
        """Why it has no place."""
        return self.unranked or self.over_limit

    def to_record(self) -> figures.RankRow:
        return figures.RankRow(
            series=self.entrant.series,
            label=self.entrant.label,
            value=self.measure.value,
            low=self.measure.low,
            high=self.measure.high,
            tier=None if self.places is None else self.places.text,
            ratio=self._ratio(),
            significant=None if self.ratio is None else self.ratio.significant,
            relevant=None if self.ratio is None else self.ratio.relevant,
            why=self.unranked,
            over_limit=self.over_limit or UNSET,
            limit_doubt=self.limit_doubt or UNSET,
        )

    def _ratio(self) -> figures.Ratio | None:
        if self.ratio is not None:
            return record_of(figures.Ratio, self.ratio)
        return None if self.why is None else record_of(figures.Ratio, no_ratio(self.why))


@dataclass(frozen=True, slots=True)
class Lead:
    """The ratio of the leader to a row behind it.

    `is_sure`: whether that row is certainly worse within all pairs, by any amount.
    """

    ratio: Ratio
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Contest:
    """The leader, the series that a headline compares it with, and the ratio of the two."""

    leader: Row
    other: Row
    ratio: Ratio
    is_sure: bool = False

    @property
    def claim(self) -> NamedRatio:
        return NamedRatio(self.ratio, self.leader.entrant.label, self.other.entrant.label)

    @property
    def is_size_open(self) -> bool:
        """Whether the leader is certainly ahead, and noise hides by how much."""
        return self.is_sure and self.ratio.verdict in ("inconclusive", "size_uncertain")


@dataclass(frozen=True, slots=True)
class Ranking:
    x: Value
    metric: str
    baseline: Row | None
    rows: tuple[Row, ...]
    # Whether the reader chose the baseline.
    is_baseline_asked: bool = False
    # Of the leader to each ranked row behind it; None if the ratio is unknown. To the baseline,
    # or of it, the ratio is that of the row; else within all pairs.
    leads: tuple[Lead | None, ...] = ()
    # Whether the leader is ahead of the runner-up and of an asked baseline beyond noise and
    # threshold, and certainly ahead of every other ranked row. How far the other rows are behind
    # may be open: the winner is certain all the same.
    is_led_beyond_doubt: bool = False
    # The series that are too many to be compared.
    beyond: tuple[Row, ...] = ()

    @property
    def ranked(self) -> tuple[Row, ...]:
        """The rows that have a place."""
        return tuple(row for row in self.rows if row.why_unranked is None)

    @property
    def contest(self) -> Contest | None:
        """The leader against the asked baseline, else the runner-up; None without a ratio."""
        if len(self.ranked) < 2:
            return None
        leader, runner_up, *_ = self.ranked
        base = self.baseline
        if self.is_baseline_asked and base is not None and base in self.ranked[1:]:
            lead = None if leader.ratio is None else Lead(leader.ratio, is_sure=False)
            return _contest(leader, base, lead)
        return _contest(leader, runner_up, self.leads[0])

    @property
    def contests(self) -> tuple[Contest, ...]:
        """The contests that a headline must win: against each row behind the leader; of an asked
        baseline, only where it is beaten. That of the headline is the first.
        """
        first = self.contest
        if first is None:
            return ()
        if first.other is not self.ranked[1] and not self.is_led_beyond_doubt:
            return (first,)
        behind = (
            _contest(first.leader, row, lead)
            for row, lead in zip(self.ranked[1:], self.leads, strict=True)
            if row is not first.other
        )
        return (first, *filter(None, behind))

    @property
    def told(self) -> tuple[Contest, ...]:
        """The contests that a headline tells. Beside a tie, it names the series that are behind."""
        first, *others = self.contests or (None,)
        if first is None:
            return ()
        are_all = not is_tie(first.ratio)
        return (first, *(each for each in others if are_all or each.ratio.verdict == "improved"))

    @property
    def unknown_limits(self) -> tuple[Entrant, ...]:
        """The series that may keep the limit or not, because their p99 is unknown."""
        return tuple(row.entrant for row in self.rows if row.entrant.is_limit_unknown)

    @property
    def limit_rivals(self) -> tuple[Row, ...]:
        """The series over the limit that may be under it, and have a better figure than the best
        that keeps it."""
        best = self.ranked[0].measure.value if self.ranked else None
        sign = 1 if METRICS[self.metric].better == "higher" else -1
        return tuple(
            row
            for row in self.rows
            if row.over_limit is not None
            and row.limit_doubt is not None
            and best is not None
            and row.measure.value is not None
            and sign * row.measure.value > sign * best
        )

    def held_to(self, yardstick: Yardstick) -> Ranking:
        """The same, where the leader must also lead by the wider intervals of `yardstick`: a
        sentence that says more than who leads is true as a whole. The rows keep their intervals."""
        if not self.is_led_beyond_doubt:
            return self
        base = None if self.baseline is None else self.baseline.entrant
        held = _Held([row.entrant for row in self.rows], base, self.metric, yardstick)
        return replace(self, is_led_beyond_doubt=held.is_led(is_asked=self.is_baseline_asked))

    def to_record(self) -> figures.Ranking:
        return figures.Ranking(
            x=place_of(self.x),
            metric=self.metric,
            baseline=self.baseline.entrant.series if self.baseline else None,
            rows=[row.to_record() for row in self.rows],
            beyond=[row.to_record() for row in self.beyond] or UNSET,
        )


def is_tie(ratio: Ratio) -> bool:
    """Whether two series are level, or too noisy to tell apart."""
    return ratio.verdict in ("unchanged", "inconclusive")


def _contest(leader: Row, other: Row, lead: Lead | None) -> Contest | None:
    if lead is None or lead.ratio.value is None:
        return None
    return Contest(leader, other, lead.ratio, lead.is_sure)


def rank(
    x: Value,
    metric: str,
    entrants: Sequence[Entrant],
    *,
    baseline: str | None,
    yardstick: Yardstick,
) -> Ranking:
    """Best first; series that are not ranked, or do not keep the limit, come last.

    `entrants` in the order of the page. Without `baseline`, the first of them that is ranked is
    the baseline: it must not be chosen by its result.
    """
    in_order = in_rank_order(entrants, metric)
    base = _baseline(entrants, metric, baseline)
    held = _Held(in_order, base, metric, yardstick)
    is_led, places, ratios = held.is_led(is_asked=baseline is not None), held.places(), held.ratios
    if is_led:
        places = _with_first_place(places, in_order[0].series)
    rows = [
        Row(
            entrant=entrant,
            measure=entrant.measure(metric),
            places=places.get(entrant.series),
            ratio=ratios.get(entrant.series),
            why=_why_no_ratio(entrant, base, metric),
            unranked=entrant.unranked(metric),
            over_limit=entrant.over_limit,
        )
        for entrant in in_order
    ]
    base_row = next((row for row in rows if base and row.entrant.series == base.series), None)
    return Ranking(x, metric, base_row, tuple(rows), baseline is not None, held.leads, is_led)


def in_rank_order(entrants: Iterable[Entrant], metric: str) -> list[Entrant]:
    """The best first; those without a place last."""
    return sorted(entrants, key=lambda entrant: _order(entrant, metric))


def _order(entrant: Entrant, metric: str) -> tuple[bool, float, str]:
    value = entrant.measure(metric).value
    sign = -1 if METRICS[metric].better == "higher" else 1
    rank_key = float("inf") if value is None else sign * value
    return not entrant.has_place(metric), rank_key, entrant.label


def _baseline(entrants: Sequence[Entrant], metric: str, asked: str | None) -> Entrant | None:
    if asked is not None:
        return next((entrant for entrant in entrants if entrant.series == asked), None)
    ranked = [entrant for entrant in entrants if entrant.unranked(metric) is None]
    compared = dict(_compared(ranked, metric))
    # A figure that the load tool rounded to zero is no baseline: nothing is a multiple of it.
    usable = [entrant for entrant in ranked if entrant.series in compared]
    return next(iter(usable or ranked), None)


def _compared(entrants: Sequence[Entrant], metric: str) -> list[tuple[str, Sample]]:
    """The series whose figures can be compared, with their trials."""
    return [
        (entrant.series, sample)
        for entrant in entrants
        if (sample := entrant.sample(metric)) is not None
    ]


class _Held:
    """The series of one place held against each other by a yardstick.

    `in_order`: the best first, those without a place last. `base`: the baseline.
    """

    def __init__(
        self, in_order: Sequence[Entrant], base: Entrant | None, metric: str, yardstick: Yardstick
    ) -> None:
        self._base, self._yardstick = base, yardstick
        self._ranked = [entrant for entrant in in_order if entrant.has_place(metric)]
        self._samples = dict(_compared(in_order, metric))
        # Of the ranked series, those whose figure has a logarithm; any may stand beside the others.
        series = [each.series for each in self._ranked if each.series in self._samples]
        self._indices = {id_: index for index, id_ in enumerate(series)}
        self._pairs = yardstick.pairs([self._samples[id_] for id_ in series])
        self.ratios = self._to_baseline()
        self.leads = self._leads()

    def _to_baseline(self) -> dict[str, Ratio]:
        """The ratio of each series to the baseline, by its id."""
        if self._base is None or self._base.series not in self._samples:
            return {}
        samples = dict(self._samples)
        base_sample = samples.pop(self._base.series)
        ratios = self._yardstick.to_baseline(base_sample, list(samples.values())) if samples else []
        return {self._base.series: BASELINE_ITSELF, **dict(zip(samples, ratios, strict=True))}

    def _leads(self) -> tuple[Lead | None, ...]:
        """Of the first to each ranked series behind it: within all pairs; where one of the two is
        the baseline, the ratio of the row, because a page shows one interval for two series."""
        if not self._ranked:
            return ()
        first, *behind = self._ranked
        if first.series not in self._indices:
            return (None,) * len(behind)
        return tuple(self._lead(first, each) for each in behind)

    def _lead(self, first: Entrant, other: Entrant) -> Lead | None:
        if other.series not in self._indices:
            return None
        at, behind = self._indices[first.series], self._indices[other.series]
        rivals = self._pairs.count - 1
        is_sure = self._yardstick.is_behind(self._pairs.comparison(at, behind), rivals=rivals)
        ratio = self._row_ratio(first, other)
        if ratio is None:
            ratio = self._yardstick.ratio(self._pairs.comparison(behind, at))
        return Lead(ratio, is_sure)

    def _row_ratio(self, first: Entrant, other: Entrant) -> Ratio | None:
        """`first` ÷ `other` as the rows show it; None if neither is the baseline."""
        if self._base is None or not self.ratios:
            return None
        if other.series == self._base.series:
            return self.ratios.get(first.series)
        ratio = self.ratios.get(other.series) if first.series == self._base.series else None
        return None if ratio is None else ratio.inverse()

    def is_led(self, *, is_asked: bool) -> bool:
        """See `Ranking`. `is_asked`: whether the reader chose the baseline."""
        sure = [lead for lead in self.leads if lead is not None and lead.is_sure]
        if not sure or len(sure) < len(self.leads) or sure[0].ratio.verdict != "improved":
            return False
        if not is_asked or self._base not in self._ranked[1:]:
            return True
        to_asked = self.ratios.get(self._ranked[0].series)
        return to_asked is None or to_asked.verdict == "improved"

    def places(self) -> dict[str, Places]:
        """The places that each series may have. One whose figure has no logarithm may have any."""
        unplaced = len(self._ranked) - len(self._indices)
        ranges = self._yardstick.places(self._pairs, unplaced=unplaced)
        return dict(zip(self._indices, ranges, strict=True))


def _with_first_place(places: Mapping[str, Places], leader: str) -> dict[str, Places]:
    """The places where the first is the leader's beyond doubt, as the answer says.

    Those of all pairs may leave it open: their intervals are wider than those against the best.
    """
    behind = {series: replace(own, first=max(own.first, 2)) for series, own in places.items()}
    return {**behind, leader: Places(1, 1)}


def _why_no_ratio(entrant: Entrant, base: Entrant | None, metric: str) -> str | None:
    if base is None or METRICS[metric].group == "errors":
        return None
    if (why := entrant.unranked(metric)) is not None:
        return why
    if (why_base := base.unranked(metric)) is not None:
        return f"The baseline cannot be used: {why_base}"
    if None in (entrant.sample(metric), base.sample(metric)):
        return NO_RATIO_OF_STEP if METRICS[metric].group == "latency" else NO_RATIO_OF_ZERO
    return None
