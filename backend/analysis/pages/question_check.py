"""Whether the comparison of a question can be answered, before anybody opens it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode
from uuid import UUID

from backend.analysis.compare.gathering import gather
from backend.analysis.compare.panels import Judgement, judge_series
from backend.analysis.pages.workspace_cells import Query
from backend.analysis.query.compare_query import CompareQuery

# Panels that are named as not comparable.
MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class Offer:
    """Whether a question can be offered. `why_not`: why its comparison has no answer; empty where
    it has one. `because`: its gravest reason alone. `limits`: what it cannot show, in a few words.
    """

    why_not: str = ""
    because: str = ""
    limits: str = ""


@dataclass(frozen=True, slots=True)
class QuestionCheck:
    """Judges the comparisons of one workspace; questions about the same series are judged once."""

    workspace_id: UUID
    slug: str
    _judged: dict[CompareQuery, list[Judgement]] = field(default_factory=dict)

    def parse(self, fields: Query) -> CompareQuery:
        """The comparison of a question."""
        return CompareQuery.parse(urlencode({**fields, "workspace": self.slug}, doseq=True))

    def offer(self, fields: Query) -> Offer:
        """Whether the comparison with these fields can be answered, and how far."""
        query = self.parse(fields)
        judgements = self._judge(query)
        refused = [judged for judged in judgements if not judged.comparability.allows_ranking]
        if not refused:
            return Offer()
        if query.view == "tradeoff" and all(
            judged.comparability.allows_sweeps for judged in judgements
        ):
            return Offer(limits="each by itself, because they were not measured alike")
        if len(refused) == len(judgements):
            reason = refused[0].comparability.because[0]
            why_not = f"Not comparable: {reason.text}. {reason.remedy}"
            return Offer(why_not=why_not, because=reason.text)
        return Offer(limits=f"without {_names(refused)}, which was not measured alike")

    def _judge(self, query: CompareQuery) -> list[Judgement]:
        # How series are judged does not depend on the metric, the view or the place.
        series = replace(query, metric="throughput", view="sweep", at=None, baseline=None)
        if series not in self._judged:
            self._judged[series] = judge_series(gather(series, [self.workspace_id]))
        return self._judged[series]


def _names(refused: Sequence[Judgement]) -> str:
    names = [judgement.name or "" for judgement in refused[:MAX_NAMED]]
    more = len(refused) - len(names)
    return ", ".join([*names, *([f"{more} more"] if more else [])])
