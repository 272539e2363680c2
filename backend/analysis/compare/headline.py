"""The sentence above the chart: which server is ahead and by how much, or why none is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, log10

from backend.analysis.compare.advice import as_sentence
from backend.analysis.compare.beside import Beside
from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.ranking import Contest, Ranking, Row
from backend.analysis.grouping.measures import Measure
from backend.analysis.grouping.sweep import join_series
from backend.analysis.query.field import Value, text_of
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.units import at_place, figure_text, interval_text, time_text
from backend.stats import Ratio
from backend.stats.histogram import STORED_PERCENTILES
from backend.stats.ratio import IF_BASELINE_IS_STEADY
from backend.stats.thresholds import percent

_BETTER = {"p99": "lower p99", "p50": "lower p50", "throughput": "higher throughput"}
UNRANKED = "These series cannot be ranked"
# Of a bound that lies close to 1×.
MOST_DIGITS = 5
# The sentence of a clear difference, and of a figure alone, by metric.
_AHEAD = {
    "throughput": "{a} serves {ratio} the requests of {b} {at}",
    "goodput": "{a} serves {ratio} the successful requests of {b} {at}",
    "achieved": "{a} reaches {ratio} the share of the offered rate that {b} reaches {at}",
    "transfer": "{a} sends {ratio} the bytes of {b} {at}",
    "mean": "{a} answers on average in {ratio} the time of {b} {at}",
    **{
        f"p{key}": f"{{a}} answers {key} % of its requests in {{ratio}} the time of {{b}} {{at}}"
        for key in STORED_PERCENTILES
    },
    "p50": "{a} answers half of its requests in {ratio} the time of {b} {at}",
    "max": "The slowest answer of {a} took {ratio} the time of the slowest of {b} {at}",
    "cpu": "{a} uses {ratio} the processors of {b} {at}",
    "memory": "{a} uses {ratio} the memory of {b} {at}",
    "cpu_per_1k": "{a} uses {ratio} the CPU time of {b} for a request {at}",
}
_ALONE = {
    "throughput": "{a} serves {value} {at}",
    "goodput": "{a} serves {value} successfully {at}",
    "achieved": "{a} reaches {value} of the offered rate {at}",
    "transfer": "{a} sends {value} {at}",
    "mean": "{a} answers on average in {value} {at}",
    **{
        f"p{key}": f"{{a}} answers {key} % of its requests within {{value}} {{at}}"
        for key in STORED_PERCENTILES
    },
    "p50": "{a} answers half of its requests within {value} {at}",
    "max": "The slowest answer of {a} took {value} {at}",
    "cpu": "{a} uses {value} {at}",
    "memory": "{a} uses {value} of memory {at}",
    "cpu_per_1k": "{a} uses {value} of CPU time for 1,000 requests {at}",
}


@dataclass(frozen=True, slots=True)
class Headline:
    """`sentence`: the answer, without a full stop. `margin`: by how much, or why; None if the
    sentence says it. `is_open`: whether the sentence says what hides the answer."""

    sentence: str
    margin: str | None = None
    is_open: bool = False

    @property
    def text(self) -> str:
        return self.sentence if self.margin is None else f"{self.sentence}: {self.margin}"

    def prefixed(self, prefix: str) -> Headline:
        return replace(self, sentence=f"{prefix}: {self.sentence}")

    def followed(self, sentence: str) -> Headline:
        """With another sentence at the end."""
        if self.margin is None:
            return replace(self, sentence=f"{self.sentence}. {sentence}")
        return replace(self, margin=f"{self.margin}. {sentence}")


def explain_no_ranking(outcome: Comparability) -> Headline:
    """Why there is no ranking."""
    if not outcome.differing:
        return Headline(f"No comparison: {outcome.reasons[0]}")
    return Headline(UNRANKED, outcome.reasons[0])


def explain_no_points(asked: str, axis: str, values: Sequence[Value]) -> Headline:
    measured = ", ".join(text_of(value) for value in values if value is not None)
    return Headline(
        f"Nothing was measured {at_place(asked, axis)}; there are measurements at {measured}"
    )


def write_headline(
    ranking: Ranking,
    *,
    axis: str,
    relevant: float,
    beside: Beside | None = None,
    is_advised: bool = True,
) -> Headline:
    """The sentence of a ranking. `beside`: what tells the two series of the sentence apart where
    the metric does not. `is_advised`: whether an open ratio says what would decide it."""
    place = place_text(ranking, axis)
    if METRICS[ranking.metric].group == "errors":
        return Headline(_errors(ranking, place))
    if not ranking.ranked:
        return Headline(_explain_no_places(ranking, place))
    contest = ranking.contest
    if contest is None:
        headline = Headline(_alone(ranking.ranked[0], ranking, place))
        unknown = unknown_limits_text(ranking)
        return headline if unknown is None else headline.followed(unknown)
    pair = _pair_of(ranking, contest, beside, is_advised=is_advised)
    return _pair_headline(pair, ranking.metric, place, percent(relevant))


def _explain_no_places(ranking: Ranking, place: str) -> str:
    limit = ranking.rows[0].entrant.limit_us
    if limit is not None and all(row.over_limit for row in ranking.rows):
        unknown = unknown_limits_text(ranking)
        if unknown is None:
            return f"No series keeps p99 under {time_text(limit)} {place}"
        return f"No series is known to keep p99 under {time_text(limit)} {place}. {unknown}"
    first, *others = ranking.rows
    is_shared = all(row.why_unranked == first.why_unranked for row in others)
    whose = "" if is_shared else f"{first.entrant.label}: "
    return f"Nothing can be ranked {place}. {whose}{(first.why_unranked or '').removesuffix('.')}"


def unknown_limits_text(ranking: Ranking) -> str | None:
    """`p99 of nginx 1.27 is unknown`: what hides whether the limit is kept; None if nothing."""
    labels = [entrant.label for entrant in ranking.unknown_limits]
    return f"p99 of {join_series(labels, ', ')} is unknown" if labels else None


def explain_only(ranking: Ranking, axis: str) -> str | None:
    """That one series keeps the limit; None if several do, or there is no limit."""
    if len(ranking.ranked) != 1 or not any(row.over_limit for row in ranking.rows):
        return None
    entrant = ranking.ranked[0].entrant
    limit = time_text(entrant.limit_us or 0.0)
    return f"Only {entrant.label} keeps p99 under {limit} {place_text(ranking, axis)}"


def place_text(ranking: Ranking, axis: str) -> str:
    """`at 64 connections`: where the series are ranked."""
    return at_place("" if ranking.x is None else text_of(ranking.x), axis)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two series by their names, and the ratio `a` ÷ `b`: in the direction of the ranking's rows,
    where one of them is the baseline, so that a screen shows no ratio and its inverse.

    `is_ahead`: whether `a` leads. `why`: what would decide an open ratio, or why it is open.
    `is_all`: whether no other series is ranked.
    """

    a: str
    b: str
    ratio: Ratio
    is_ahead: bool
    why: str
    is_all: bool
    beside: Beside | None = None


def _pair_of(
    ranking: Ranking, contest: Contest, beside: Beside | None, *, is_advised: bool
) -> _Pair:
    leader, other = contest.leader.entrant.label, contest.other.entrant.label
    is_ahead = ranking.baseline is not contest.leader
    ratio = contest.ratio if is_ahead else contest.ratio.inverse()
    # What would decide a tie stands with its trust: the sentence is about what is decided.
    advice = ratio.advice if is_advised and beside is None else None
    a, b = (leader, other) if is_ahead else (other, leader)
    is_all = len(ranking.ranked) == 2
    return _Pair(a, b, ratio, is_ahead, advice or why_open(ratio), is_all, beside)


def why_open(ratio: Ratio) -> str:
    """Why an open ratio is; empty without an interval, where the sentence says it."""
    return "" if ratio.low is None else ratio.why


def _pair_headline(pair: _Pair, metric: str, place: str, threshold: str) -> Headline:
    """Who leads, in few words, and for which runs that holds."""
    a, b, ratio = pair.a, pair.b, pair.ratio
    text = ratio_text(ratio)
    where = f"{place}, {ratio.scope}" if ratio.scope else place
    if ratio.verdict in ("improved", "regressed"):
        return Headline(_AHEAD[metric].format(a=a, b=b, ratio=text, at=where))
    if ratio.verdict == "unchanged":
        within = f"{text}, within the threshold of {threshold}"
        level = Headline(f"{a} and {b} are level {where}", within)
        return _told_beside(pair, level, f"{_noun(metric)} is level", (metric, place))
    if ratio.verdict == "size_uncertain":
        side = "ahead of" if pair.is_ahead else "behind"
        but = f"perhaps by less than {threshold}"
        if ratio.why.startswith(IF_BASELINE_IS_STEADY):
            but = f"if {b} is as steady as the others"
        headline = Headline(f"{a} is {side} {b} {where}, {but}", text)
        return headline.followed(as_sentence(ratio.lack)[:-1]) if ratio.lack else headline
    lack = "Too few trials" if ratio.low is None else "Too noisy"
    margin = "; ".join(filter(None, (text, pair.why)))
    hidden = Headline(f"{lack} to rank {a} and {b} {place}", margin, is_open=True)
    open_text = f"{lack[:1].lower()}{lack[1:]} to rank by {_noun(metric)}"
    return _told_beside(pair, hidden, open_text, (metric, place))


def _noun(metric: str) -> str:
    """`throughput`, `p99`: a metric within a sentence."""
    return METRICS[metric].label.lower().removeprefix("latency ")


def better_text(beside: Beside, name: str, than: str = "") -> str:
    """`nginx 1.27 has the lower p99`, `nginx 1.27 has a lower p99 than caddy`"""
    return f"{name} has {'a' if than else 'the'} {_BETTER[beside.metric]}{than}"


def _told_beside(pair: _Pair, headline: Headline, tie: str, where: tuple[str, str]) -> Headline:
    """The difference by another metric that is real, then the tie; the tie alone without one.

    `Tomcat 6 has the lower p99 at 100 connections; too noisy to rank by throughput`. `where`: the
    metric of the tie, and the place.
    """
    beside, (metric, place) = pair.beside, where
    if beside is None:
        return headline
    ratio = beside.ratio if pair.is_ahead else beside.ratio.inverse()
    is_a_better = ratio.verdict == "improved"
    better, worse = (pair.a, pair.b) if is_a_better else (pair.b, pair.a)
    than = "" if pair.is_all else f" than {worse}"
    sentence = f"{better_text(beside, better, than)} {place}; {tie}"
    at = f"{place}, {ratio.scope}" if ratio.scope else place
    clear = ahead_text(beside.metric, pair.a, pair.b, ratio, at)
    margin = f"{clear}. {METRICS[metric].label} {headline.margin}"
    return Headline(sentence, margin, headline.is_open)


def _alone(row: Row, ranking: Ranking, place: str) -> str:
    value = _value(row, ranking.metric)
    return _ALONE[ranking.metric].format(a=row.entrant.label, value=value, at=place)


def measure_text(measure: Measure, unit: str) -> str | None:
    """`4.2 ms`, or `< 1 ms` below the smallest step of the load tool; None if it is unknown."""
    if measure.value is None:
        return None
    step = measure.step or 0.0
    if measure.value < step:
        return f"< {figure_text(step, unit)}"
    return figure_text(measure.value, unit)


def _value(row: Row, metric: str) -> str:
    unit, measure = METRICS[metric].unit, row.measure
    text = measure_text(measure, unit)
    if text is None or measure.value is None:
        return "an unknown time" if unit == "us" else "an unknown amount"
    step = measure.step or 0.0
    is_below = measure.value < step
    if measure.low is None or measure.high is None:
        return f"{text} (no interval)"
    if is_below and measure.high <= step:
        return text
    return interval_text(text, measure.low, measure.high, unit)


def _errors(ranking: Ranking, place: str) -> str:
    told_rows = [row for row in ranking.rows if row.measure.value is not None]
    if not told_rows:
        return f"No load tool here reports failed requests {place}"
    worst = told_rows[-1]
    class_ = ranking.metric.removeprefix("error_")
    kind = "" if class_ == "rate" else f" by {class_} errors"
    if not worst.measure.value:
        rest = "" if len(told_rows) == len(ranking.rows) else ", as far as the load tools report"
        return f"No request failed{kind} {place}{rest}"
    share = f"{worst.measure.value * 100:.3g} %"
    return f"{worst.entrant.label} failed most{kind} {place}: {share} of its requests"


def ahead_text(metric: str, a: str, b: str, ratio: Ratio, at: str) -> str:
    """`a serves 1.62× [1.55, 1.70] the requests of b at 64 connections`: a clear difference."""
    return _AHEAD[metric].format(a=a, b=b, ratio=ratio_text(ratio), at=at)


def ratio_text(ratio: Ratio) -> str:
    """`1.62× [1.55, 1.70]`, no finer than its interval; without an interval, the ratio alone."""
    if ratio.value is None:
        return "unknown"
    if ratio.low is None or ratio.high is None:
        return f"{factor_text(ratio.value)}×"
    half = (ratio.high - ratio.low) / 2
    low, high = _bound(ratio.low, half), _bound(ratio.high, half)
    return f"{factor_text(ratio.value, half)}× [{low}, {high}]"


def _bound(value: float, half: float) -> str:
    """A bound beside 1× is not rounded onto it: it says whether the difference is significant."""
    texts = [
        factor_text(value, half),
        *(_digits(value, count) for count in range(3, MOST_DIGITS + 1)),
    ]
    return next((text for text in texts if float(text) != 1), texts[0])


def factor_text(value: float, half: float = 0.0) -> str:
    """Three digits; two where the third is finer than a hundredth of half the interval."""
    step = 10.0 ** (floor(log10(value)) - 2) if value > 0 else 0.0
    return _digits(value, 2 if step < half / 100 else 3)


def _digits(value: float, count: int) -> str:
    """So many significant digits, without an exponent."""
    if value == 0:
        return "0"
    decimals = count - 1 - floor(log10(value))
    return f"{round(value, decimals):.{max(decimals, 0)}f}"
