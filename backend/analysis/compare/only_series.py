"""What is said of one series: its figure, and what to add so that it can be compared."""

from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.headline import Headline, place_text
from backend.analysis.compare.ranking import Ranking


def is_only_series(gathered: Gathered, ranking: Ranking) -> bool:
    """Whether one series with a figure, and nothing else, is shown over its loads."""
    return gathered.grouping.x_is_load and len(gathered.sweeps) == len(ranking.ranked) == 1


def describe_only_series(gathered: Gathered, ranking: Ranking, headline: Headline) -> Headline:
    """The figure, with what to measure next to it as the margin."""
    series = ranking.rows[0].entrant.point.cells[0].series
    workload = f"the workload {series.workload.name}" if series.workload.name else ""
    alike = " and ".join(filter(None, (workload, series.tool)))
    where = place_text(ranking, gathered.grouping.x)
    also = f"with {alike} {where}" if alike else where
    advice = f"To compare, measure another server or version in the same run, {also}"
    margin = advice if headline.margin is None else f"{headline.margin}. {advice}"
    return Headline(headline.sentence, margin)
