"""What a result set can say where its series cannot be ranked: its best figures, as measured."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from backend.analysis.compare.headline import UNRANKED
from backend.analysis.figures import Figures, Measure, Metric, Point, Series
from backend.analysis.grouping.measure_texts import measure_text
from backend.analysis.query.field import text_of
from backend.analysis.query.fields import FIELDS
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.units import at_place
from backend.formats.published import NAME as PUBLISHED
from backend.runs.checks.table import withheld_metrics
from backend.stats.thresholds import HIGH_ERROR_RATE

MOST_WORKLOADS = 3
# A reason for which nothing is ranked ends with what to choose, which only its page offers.
CHOICE = "; choose "


@dataclass(frozen=True, slots=True)
class BestFigures:
    """`sentence`: the figures. `margin`: their trials, and why there is no rank."""

    sentence: str
    margin: str

    @property
    def text(self) -> str:
        """Both, as sentences, without the last full stop, as findings are."""
        return f"{self.sentence}. {self.margin}"


@dataclass(frozen=True, slots=True)
class _Figure:
    """The figure of a series at one place on the axis."""

    series: Series
    point: Point
    measure: Measure
    value: float


def find_best(figures: Figures) -> BestFigures | None:
    """The best figure of each workload; then how many trials it stands on, and why no rank.

    None if the series can be ranked, or if no figure of the asked metric is known.
    """
    metric = next((each for each in figures.metrics if each.id == figures.metric), None)
    if metric is None or figures.outcome.status != "not_comparable":
        return None
    groups = sorted(_by_workload(figures, metric.id).items(), key=_most_servers_first)
    if not groups:
        return None
    best = {workload: _best(group, metric) for workload, group in groups}
    trials = _trials_text(list(best.values()))
    return BestFigures(
        _best_text(figures, metric, groups, best), f"{trials}. {_unranked_text(figures)}"
    )


def best_as_answer(figures: Figures) -> dict[str, Any]:
    """What pages show in place of `finding` and `answer` of the figures; empty for nothing.

    A finding that says more than why nothing is ranked, such as that of a trend, stays.
    """
    best = find_best(figures)
    if best is None or not _is_unranked(figures):
        return {}
    if not figures.answer:
        return {"finding": best.text}
    answer = replace(figures.answer, sentence=best.sentence, margin=best.margin)
    return {"finding": best.text, "answer": to_builtins(answer)}


def _is_unranked(figures: Figures) -> bool:
    """Whether the finding says only why nothing is ranked, in none of the panels."""
    if figures.panels:
        return all(panel.ranking is None for panel in figures.panels)
    reason = next(iter(figures.outcome.reasons), "")
    return figures.finding == f"{UNRANKED}: {reason}"


def _by_workload(figures: Figures, metric: str) -> dict[str, list[_Figure]]:
    """The figures that could be ranked within each workload."""
    groups: dict[str, list[_Figure]] = defaultdict(list)
    for series in figures.series:
        for point in series.points:
            measure = point.metrics.get(metric)
            if measure is None or measure.value is None or _is_withheld(point, metric):
                continue
            figure = _Figure(series, point, measure, measure.value)
            groups[series.workload or "unknown workload"].append(figure)
    return groups


def _is_withheld(point: Point, metric: str) -> bool:
    """Whether no ranking would have the figure (`Entrant.unranked`)."""
    rate = point.metrics.get("error_rate")
    is_failing = rate is not None and (rate.value or 0.0) > HIGH_ERROR_RATE
    group = METRICS[metric].group
    is_late = group == "latency" and bool(point.overload)
    return is_failing or is_late or metric == "max" or group in withheld_metrics(point.checks)


def _most_servers_first(group: tuple[str, Sequence[_Figure]]) -> tuple[int, str]:
    workload, figures = group
    return -_count_servers(figures), workload


def _count_servers(figures: Sequence[_Figure]) -> int:
    return len({figure.series.server for figure in figures})


def _best(figures: Sequence[_Figure], metric: Metric) -> _Figure:
    choose = max if metric.better == "higher" else min
    return choose(figures, key=lambda figure: figure.value)


def _best_text(
    figures: Figures,
    metric: Metric,
    groups: Sequence[tuple[str, Sequence[_Figure]]],
    best: dict[str, _Figure],
) -> str:
    """`Highest throughput of 11 servers: fapws3 0.3, 7,170 requests/s at 100 connections`"""
    lead = f"{'Highest' if metric.better == 'higher' else 'Lowest'} {metric.label.lower()}"
    if len(groups) == 1:
        servers = _count_servers(groups[0][1])
        of_servers = f" of {servers} servers" if servers > 1 else ""
        return f"{lead}{of_servers}: {_figure_text(figures, metric, next(iter(best.values())))}"
    texts = [
        f"for {workload}: {_figure_text(figures, metric, figure)}"
        for workload, figure in best.items()
    ]
    more = len(texts) - MOST_WORKLOADS
    tail = f"; and {more} more" if more > 0 else ""
    return f"{lead} {'; '.join(texts[:MOST_WORKLOADS])}{tail}"


def _figure_text(figures: Figures, metric: Metric, figure: _Figure) -> str:
    server = " ".join(filter(None, (figure.series.server, figure.series.version)))
    place = ""
    if figures.x.field in FIELDS:
        place = f" {at_place(text_of(figure.point.x), figures.x.field)}"
    return f"{server}, {measure_text(figure.measure, metric.unit)}{place}"


def _trials_text(best: Sequence[_Figure]) -> str:
    counts = sorted({figure.point.trials for figure in best})
    if counts == [1]:
        is_published = {figure.series.tool for figure in best} == {PUBLISHED}
        return "As published, one figure each" if is_published else "One trial each"
    return f"{' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} trials each"


def _unranked_text(figures: Figures) -> str:
    """`Not ranked: workload differs: a, b`; the panel stands in the list of reasons."""
    reason = next(iter(figures.outcome.reasons), "")
    for panel in figures.panels or ():
        reason = reason.removeprefix(f"{panel.value}: ")
    reason = reason.partition(CHOICE)[0]
    return f"Not ranked: {reason}" if reason else "Not ranked"
