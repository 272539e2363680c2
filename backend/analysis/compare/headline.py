"""The sentence above the chart: which server is ahead and by how much, or why none is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend.analysis.compare.advice import as_sentence, found_text
from backend.analysis.compare.beside import Beside
from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.design import NamedRatio
from backend.analysis.compare.failures import failures_text, unknown_lead_text
from backend.analysis.compare.ranking import Contest, Ranking, Row, is_tie
from backend.analysis.compare.ratio_texts import factor_text, ratio_text
from backend.analysis.grouping.measure_texts import measure_with_interval
from backend.analysis.grouping.sweep import join_series
from backend.analysis.query.field import Value, text_of
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.units import (
    at_place,
    place_text,
    time_text,
)
from backend.stats import Ratio
from backend.stats.histogram import STORED_PERCENTILES
from backend.stats.ratio import IF_BASELINE_IS_STEADY
from backend.stats.thresholds import percent

UNRANKED = "These series cannot be ranked"
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

    def below(self, scope: str | None) -> str:
        """The text below a sentence that names these runs already."""
        return self.text if scope is None else self.text.replace(f", {scope}", "")

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
    place = place_text(ranking.x, axis)
    if METRICS[ranking.metric].group == "errors":
        return Headline(failures_text(ranking, place))
    if not ranking.ranked:
        return Headline(_explain_no_places(ranking, place))
    contest = ranking.contest
    if contest is None:
        headline = Headline(_alone(ranking.ranked[0], ranking, place))
        rivals = [row.entrant.named_limit_doubt for row in ranking.limit_rivals]
        doubt = ". ".join(filter(None, [unknown_limits_text(ranking), *rivals]))
        return headline.followed(doubt) if doubt else headline
    pair = _pair_of(ranking, contest, beside, is_advised=is_advised)
    headline = _pair_headline(pair, ranking.metric, place, percent(relevant))
    if beside is not None and beside.is_opposed:
        return _told_opposed(ranking, beside, place, headline)
    for note in filter(None, (_behind_text(ranking), unknown_lead_text(ranking))):
        headline = headline.followed(note)
    return headline


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
    doubt = ", but not for certain" if any(row.limit_doubt for row in ranking.rows) else ""
    return f"Only {entrant.label} keeps p99 under {limit} {place_text(ranking.x, axis)}{doubt}"


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two series by their names, and the ratio `a` ÷ `b`: in the direction of the ranking's rows,
    where one of them is the baseline, so that a screen shows no ratio and its inverse.

    `is_ahead`: whether `a` leads. `is_all`: whether no other series is ranked. `is_ranked`: whether
    the two are ranked, rather than two versions or runs.
    """

    a: str
    b: str
    ratio: Ratio
    is_ahead: bool
    is_all: bool = True
    beside: Beside | None = None
    is_ranked: bool = True


def _pair_of(
    ranking: Ranking, contest: Contest, beside: Beside | None, *, is_advised: bool
) -> _Pair:
    leader, other = contest.leader.entrant.label, contest.other.entrant.label
    is_ahead = ranking.baseline is not contest.leader
    ratio = contest.ratio if is_ahead else contest.ratio.inverse()
    # What would decide a tie stands with its trust: the sentence is about what is decided.
    if not is_advised or beside is not None:
        ratio = replace(ratio, advice=None)
    a, b = (leader, other) if is_ahead else (other, leader)
    return _Pair(a, b, ratio, is_ahead, len(ranking.ranked) == 2, beside)


def open_text(ratio: Ratio) -> str:
    """Of an open ratio, which difference would have been found, and what would decide it."""
    found = None if ratio.finds_from is None else found_text(ratio.finds_from)
    return "; ".join(filter(None, (found, ratio.advice)))


def write_difference(claim: NamedRatio, metric: str, place: str, relevant: float) -> Headline:
    """The sentence of two versions or runs, as that of a ranking of two series."""
    ratio, a, b = claim
    is_ahead = ((ratio.value or 1.0) > 1) == (METRICS[metric].better == "higher")
    return _pair_headline(
        _Pair(a, b, ratio, is_ahead, is_ranked=False), metric, place, percent(relevant)
    )


def _pair_headline(pair: _Pair, metric: str, place: str, threshold: str) -> Headline:
    """Who leads, in few words, and for which runs that holds."""
    a, b, ratio = pair.a, pair.b, pair.ratio
    text = ratio_text(ratio)
    where = _where(place, ratio)
    if ratio.verdict in ("improved", "regressed"):
        return Headline(ahead_text(metric, a, b, ratio, where))
    if ratio.verdict == "unchanged":
        within = f"{text}, within the threshold of {threshold}"
        level = Headline(f"{a} and {b} are level {where}".rstrip(), within)
        return _told_beside(pair, level, f"{_noun(metric)} is level", (metric, place))
    if ratio.verdict == "size_uncertain":
        side = "ahead of" if pair.is_ahead else "behind"
        but = f"perhaps by less than {threshold}"
        if ratio.why.startswith(IF_BASELINE_IS_STEADY):
            but = f"if {b} is as steady as the others"
        at = f" {where}" if where else ""
        headline = Headline(f"{a} is {side} {b}{at}, {but}", text)
        return headline.followed(as_sentence(ratio.lack)[:-1]) if ratio.lack else headline
    lack = "Too few trials" if ratio.low is None else "Too noisy"
    margin = "; ".join(filter(None, (text, open_text(ratio))))
    verb = "rank" if pair.is_ranked else "compare"
    hidden = Headline(f"{lack} to {verb} {a} and {b} {place}".rstrip(), margin, is_open=True)
    tie = f"{lack[:1].lower()}{lack[1:]} to rank by {_noun(metric)}"
    return _told_beside(pair, hidden, tie, (metric, place))


def _where(place: str, ratio: Ratio) -> str:
    """`at 64 connections, in this run`"""
    return ", ".join(filter(None, (place, ratio.scope)))


def _noun(metric: str) -> str:
    """`throughput`, `p99`: a metric within a sentence."""
    return METRICS[metric].label.lower().removeprefix("latency ")


def _better(metric: str, grade: str = "er") -> str:
    """`higher throughput`, `lowest p99`"""
    stem = "high" if METRICS[metric].better == "higher" else "low"
    return f"{stem}{grade} {_noun(metric)}"


def better_text(beside: Beside, *, is_all: bool = True) -> str:
    """`nginx 1.27 has the lower p99`; if the two are not all, `… has a lower p99 than caddy`."""
    better, worse = beside.by_figure
    if is_all:
        return f"{better} has the {_better(beside.metric)}"
    return f"{better} has a {_better(beside.metric)} than {worse}"


def _told_opposed(ranking: Ranking, beside: Beside, place: str, headline: Headline) -> Headline:
    """Both leaders, where another metric is clearly for another series than the leader.

    `nginx has the higher throughput at 64 connections, caddy the lower p99 (16.7×)`
    """
    leader, *others = (row.entrant.label for row in ranking.ranked)
    value = beside.ratio.value or 1.0
    times = f"({factor_text(max(value, 1 / value))}×)"
    is_inverse = ranking.baseline is not None and ranking.baseline is ranking.ranked[0]
    a, b, ratio = leader, beside.other, beside.ratio
    if is_inverse:
        a, b, ratio = b, a, ratio.inverse()
    contest = ranking.contest
    has_one_scope = contest is not None and contest.ratio.scope == ratio.scope
    where = place if has_one_scope else _where(place, ratio)
    clear = ahead_text(beside.metric, a, b, ratio, where)
    margin = f"{headline.text}. {clear}"
    if not ranking.is_led_beyond_doubt:
        better = better_text(beside, is_all=len(others) == 1)
        margin = ". ".join(filter(None, (headline.margin, clear)))
        return Headline(f"{headline.sentence}; {better} {times}", margin)
    grade, article = ("er", "the") if len(others) == 1 else ("est", "a")
    both = f"{leader} has the {_better(ranking.metric, grade)} {place}, {beside.other} {article}"
    return Headline(f"{both} {_better(beside.metric)} {times}", margin)


def _behind_text(ranking: Ranking) -> str | None:
    """Of a tie of the first two, which series are certainly behind: `c, d are behind a`."""
    first, *behind = ranking.told
    if not is_tie(first.ratio) or not behind:
        return None
    labels = [each.other.entrant.label for each in behind]
    verb = "is" if len(labels) == 1 else "are"
    return f"{join_series(labels, ', ')} {verb} behind {first.leader.entrant.label}"


def _told_beside(pair: _Pair, headline: Headline, tie: str, where: tuple[str, str]) -> Headline:
    """The difference by another metric that is real, then the tie; the tie alone without one.

    `Tomcat 6 has the lower p99 at 100 connections; too noisy to rank by throughput`. `where`: the
    metric of the tie, and the place.
    """
    beside, (metric, place) = pair.beside, where
    if beside is None:
        return headline
    ratio = beside.ratio if pair.is_ahead else beside.ratio.inverse()
    at = f" {place}" if place else ""
    sentence = f"{better_text(beside, is_all=pair.is_all)}{at}; {tie}"
    clear = ahead_text(beside.metric, pair.a, pair.b, ratio, _where(place, ratio))
    margin = f"{clear}. {METRICS[metric].label} {headline.margin}"
    return Headline(sentence, margin, headline.is_open)


def _alone(row: Row, ranking: Ranking, place: str) -> str:
    value = _value(row, ranking.metric)
    return _ALONE[ranking.metric].format(a=row.entrant.label, value=value, at=place)


def _value(row: Row, metric: str) -> str:
    unit, measure = METRICS[metric].unit, row.measure
    text = measure_with_interval(measure, unit)
    if text is None:
        return "an unknown time" if unit == "us" else "an unknown amount"
    return f"{text} (no interval)" if measure.low is None else text


def ahead_text(metric: str, a: str, b: str, ratio: Ratio, at: str) -> str:
    """`a serves 1.62× [1.55, 1.70] the requests of b at 64 connections`: a clear difference."""
    return _AHEAD[metric].format(a=a, b=b, ratio=ratio_text(ratio), at=at).rstrip()
