"""The sentence above the chart: who is ahead and by how much, or why nothing can be said."""

from __future__ import annotations

from collections.abc import Sequence

from backend.analysis.outcome import Outcome
from backend.analysis.query import number_text
from backend.analysis.ranking import Entrant, Ranking, Row, ratio_of
from backend.stats import Ratio

_AHEAD = {
    "throughput": "{a} serves {ratio} the requests of {b} {at}",
    "p50": "{a} answers half of its requests in {ratio} the time of {b} {at}",
    "p99": "{a} answers 99 % of its requests in {ratio} the time of {b} {at}",
}
_ALONE = {
    "throughput": "{a} serves {value} {at}",
    "p50": "{a} answers half of its requests within {value} {at}",
    "p99": "{a} answers 99 % of its requests within {value} {at}",
}


def no_finding(outcome: Outcome) -> str:
    """Why there is no ranking."""
    if not outcome.differing:
        return f"No comparison: {outcome.reasons[0]}"
    return f"These series cannot be ranked: {outcome.reasons[0]}"


def nothing_at(asked: float, axis: str, values: Sequence[float]) -> str:
    measured = ", ".join(number_text(float(value)) for value in values)
    return f"Nothing was measured {at_load(asked, axis)}; measured are {measured}"


def finding_of(ranking: Ranking, *, axis: str, relevant: float) -> str:
    """The sentence of a ranking."""
    place = at_load(ranking.x, axis)
    if ranking.metric == "error_rate":
        return _errors(ranking, place)
    ranked = [row for row in ranking.rows if row.entrant.unranked(ranking.metric) is None]
    if not ranked:
        first = ranking.rows[0].entrant
        return f"Nothing can be ranked {place}. {first.label}: {first.unranked(ranking.metric)}"
    if len(ranked) == 1:
        return _alone(ranked[0], ranking, place)
    other = _opponent(ranked, ranking)
    found = ratio_of(ranked[0].entrant, other, ranking.metric, relevant)
    if found is None or found.value is None:
        return _alone(ranked[0], ranking, place)
    return _pair(ranked[0].entrant, other, found, (ranking.metric, place, relevant))


def _opponent(ranked: Sequence[Row], ranking: Ranking) -> Entrant:
    """The baseline, or the runner-up where the leader is the baseline or there is none."""
    base, leader = ranking.baseline, ranked[0].entrant
    asked = base is not None and base.entrant.unranked(ranking.metric) is None
    if base is not None and asked and base.entrant.series != leader.series:
        return base.entrant
    return ranked[1].entrant


def _pair(a: Entrant, b: Entrant, found: Ratio, where: tuple[str, str, float]) -> str:
    metric, place, relevant = where
    ratio = times(found)
    if found.verdict in ("improved", "regressed"):
        return _AHEAD[metric].format(a=a.label, b=b.label, ratio=ratio, at=place)
    if found.verdict == "unchanged":
        limit = f"{relevant * 100:g} %"
        return f"{a.label} and {b.label} are level {place}: {ratio}, {found.why} of {limit}"
    return f"{a.label} and {b.label} cannot be told apart {place} ({ratio}): {found.why}"


def _alone(row: Row, ranking: Ranking, place: str) -> str:
    value = _value(row, ranking.metric)
    return _ALONE[ranking.metric].format(a=row.entrant.label, value=value, at=place)


def _value(row: Row, metric: str) -> str:
    show = rate_text if metric == "throughput" else time_text
    measure = row.measure
    if measure.value is None:
        return "an unknown time"
    if measure.low is None or measure.high is None:
        return f"{show(measure.value)} (no interval)"
    return f"{show(measure.value)} [{show(measure.low)}, {show(measure.high)}]"


def _errors(ranking: Ranking, place: str) -> str:
    known = [row for row in ranking.rows if row.measure.value is not None]
    if not known:
        return f"No load tool here tells which requests failed {place}"
    worst = known[-1]
    if not worst.measure.value:
        rest = "" if len(known) == len(ranking.rows) else ", as far as it is known"
        return f"No request failed {place}{rest}"
    share = f"{worst.measure.value * 100:.3g} %"
    return f"{worst.entrant.label} failed most {place}: {share} of its requests"


def at_load(x: float, axis: str) -> str:
    load = number_text(float(x))
    if axis == "rate":
        return f"at {load} offered requests/s"
    return f"at {load} connection{'' if x == 1 else 's'}"


def times(found: Ratio) -> str:
    """`1.62× [1.55, 1.70]`, or without the interval where there is none."""
    if found.value is None:
        return "unknown"
    if found.low is None or found.high is None:
        return f"{_factor(found.value)}×"
    return f"{_factor(found.value)}× [{_factor(found.low)}, {_factor(found.high)}]"


def _factor(value: float) -> str:
    return f"{value:.2f}" if 0.1 <= value < 100 else f"{value:.3g}"


def rate_text(value: float) -> str:
    return f"{_three_digits(value)} requests/s"


def time_text(us: float) -> str:
    if us >= 1e6:
        return f"{_three_digits(us / 1e6)} s"
    return f"{_three_digits(us / 1e3)} ms" if us >= 1e3 else f"{_three_digits(us)} µs"


def _three_digits(value: float) -> str:
    if value == 0:
        return "0"
    return f"{float(f'{value:.3g}'):,g}" if value < 1e5 else f"{float(f'{value:.3g}'):,.0f}"
