"""What stands above the chart: the headline, the answer, and whether to trust it.

Of one series it is its figure, and what to add so that it can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import UNSET

from backend.analysis.answer import Answer, TrustLevel
from backend.analysis.compare.aside import aside_of
from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.decision import Decision, decide_panels, decide_ratios
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.headline import Headline
from backend.analysis.compare.no_basis import find_no_basis, warned
from backend.analysis.compare.panel_headlines import join_headlines, summarise_leaders
from backend.analysis.compare.panels import (
    RANKED_ANYWAY,
    Panel,
    combine,
)
from backend.analysis.compare.ranking import Ranking
from backend.analysis.compare.recommendation import recommend
from backend.analysis.compare.trust import judge_trust
from backend.analysis.compare.views import (
    RatioView,
    Views,
    decide_view,
    is_of_capacity,
    view_headline,
)
from backend.analysis.query.units import place_text

# By the level of trust: said before a sentence that does not itself say why nothing is decided.
_HIDDEN: dict[TrustLevel, str] = {
    "noisy": "Too noisy to call",
    "few_trials": "Too few trials to call",
}


@dataclass(frozen=True, slots=True)
class Overall:
    """`ranking`: None if several panels have one each. `decision`: the verdicts that the
    headline rests on. `recommendation`: which server to take, or who leads in each panel, or why
    nothing can be recommended. `aside`: which series headline and recommendation leave aside."""

    comparability: Comparability
    ranking: Ranking | None
    headline: Headline
    decision: Decision
    recommendation: Headline | None = None
    aside: str | None = None

    def answer(self) -> Answer:
        trust = judge_trust(self.comparability, self.decision)
        shown = self.recommendation or self.headline
        if trust.level in _HIDDEN and not shown.is_open:
            shown = replace(shown, sentence=f"{_HIDDEN[trust.level]}. {shown.sentence}")
        aside = UNSET if self.aside is None else self.aside
        return Answer(sentence=shown.sentence, margin=self._margin(shown), aside=aside, trust=trust)

    def _margin(self, headline: Headline) -> str | None:
        """The margin, which stands on a line of its own: a reason there begins as sentences do."""
        reasons = self.comparability.because
        margin = headline.margin
        if margin and reasons and reasons[0].panel is None and margin.startswith(reasons[0].text):
            return margin[:1].upper() + margin[1:]
        return margin

    def with_view(self, headline: Headline, decision: Decision) -> Overall:
        """The same where a view has a headline of its own, which is about no ranking."""
        return replace(self, headline=headline, decision=decision, recommendation=None, aside=None)


def answer_of_panels(gathered: Gathered, panels: Sequence[Panel]) -> Answer:
    """The answer of a page that has the panels without other views of them."""
    shown = _overall_of_panels(gathered, panels)
    return replace(shown, comparability=shown.comparability.without(gathered.missing)).answer()


def judge_overall(gathered: Gathered, panels: Sequence[Panel], views: Views) -> Overall:
    """What is shown, judged; series that could not be shown at all are a caveat of it."""
    shown = _judge_shown(gathered, panels, views)
    return replace(shown, comparability=shown.comparability.without(gathered.missing))


def _judge_shown(gathered: Gathered, panels: Sequence[Panel], views: Views) -> Overall:
    """Where ratios are asked for, they are judged, and nothing is ranked across the workloads."""
    overall, ratios = _overall_of_panels(gathered, panels), views.ratios
    if gathered.query.view == "ratios" and ratios is not None:
        overall = replace(overall, comparability=ratios.comparability, ranking=None)
        text = _ratio_headline(gathered, ratios)
        if text is not None:
            decision = decide_ratios(ratios.table)
            return overall.with_view(Headline(text), decision)
    of_view = view_headline(gathered, views)
    if of_view is None:
        return overall
    headline = _view_headline(overall, of_view)
    decision = decide_view(gathered, views, overall.decision)
    if is_of_capacity(gathered, views):
        return replace(overall, headline=headline, decision=decision)
    return overall.with_view(headline, decision)


def _overall_of_panels(gathered: Gathered, panels: Sequence[Panel]) -> Overall:
    decision = decide_panels(panels)
    if gathered.grouping.facet is None:
        (panel,) = panels
        advice = _advice(gathered, panel)
        aside = None if panel.ranking is None else aside_of(gathered, panel.ranking)
        return Overall(panel.comparability, panel.ranking, panel.headline, decision, advice, aside)
    comparability = combine([panel.judgement for panel in panels])
    headline = join_headlines(gathered, panels)
    leaders = summarise_leaders(gathered, panels)
    advice = replace(leaders, is_open=decision.open_level is not None)
    check = find_no_basis(panels)
    advice = advice if check is None else warned(Headline(leaders.sentence), check)
    return Overall(comparability, None, headline, decision, advice)


def _advice(gathered: Gathered, panel: Panel) -> Headline | None:
    """Which server to take, with the headline of the ranking as its margin; or that the figures
    are no basis for taking any."""
    if panel.ranking is None or panel.comparability.overridden:
        return None
    if is_only_series(gathered, panel.ranking):
        return describe_only_series(gathered, panel.ranking, panel.headline)
    check = find_no_basis([panel])
    if check is not None and not panel.headline.is_open:
        return warned(panel.headline, check)
    return recommend(gathered, panel)


def _ratio_headline(gathered: Gathered, ratios: RatioView) -> str | None:
    """The geometric means, or why there are none; None where workloads may not be compared."""
    if not ratios.comparability.allows_ranking:
        return None
    label, table = gathered.metric.label, ratios.table
    text = table.headline(label)
    if text is None and gathered.grouping.facet is None:
        text = f"{label} relative to {table.baseline}. {table.means_text()}"
    if text is not None and ratios.comparability.overridden:
        return f"{RANKED_ANYWAY}: {text}"
    return text


def _view_headline(overall: Overall, headline: Headline) -> Headline:
    """The view's sentence in place of the ranking's, but never without why there is no ranking."""
    if overall.comparability.overridden:
        return headline.prefixed("Not comparable, but shown anyway")
    if overall.comparability.allows_ranking:
        return headline
    return overall.headline.followed(f"Each series by itself: {headline.text}")


def is_only_series(gathered: Gathered, ranking: Ranking) -> bool:
    """Whether one series with a figure, and nothing else, is shown over its loads."""
    return gathered.grouping.x_is_load and len(gathered.sweeps) == len(ranking.ranked) == 1


def describe_only_series(gathered: Gathered, ranking: Ranking, headline: Headline) -> Headline:
    """The figure, with what to measure next to it as the margin."""
    series = ranking.rows[0].entrant.point.cells[0].series
    workload = f"the workload {series.workload.name}" if series.workload.name else ""
    alike = " and ".join(filter(None, (workload, series.tool)))
    where = place_text(ranking.x, gathered.grouping.x)
    also = f"with {alike} {where}" if alike else where
    advice = f"To compare, measure another server or version in the same run, {also}"
    margin = advice if headline.margin is None else f"{headline.margin}. {advice}"
    return Headline(headline.sentence, margin)
