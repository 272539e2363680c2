"""The verdicts that an answer rests on, and what the answer leaves open."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from backend.analysis.compare.advice import PART_THE_MODES, as_sentence, found_text
from backend.analysis.compare.capacity import LIMITED
from backend.analysis.compare.design import NamedRatio, design_doubts
from backend.analysis.compare.headline import unknown_limits_text
from backend.analysis.compare.panels import Panel
from backend.analysis.compare.ranking import Contest, Ranking, Row
from backend.analysis.compare.ratio_table import RatioTable
from backend.analysis.compare.reasons import Harm, Reason
from backend.analysis.query.metrics import METRICS
from backend.stats import Ratio
from backend.stats.ratio import IF_BASELINE_IS_STEADY
from backend.stats.replicates import Units

_SEVERAL_ALONE = Reason(
    "each panel has one series, so no series are compared",
    "Choose another field for the panels.",
    Harm.HIDES,
)


@dataclass(frozen=True, slots=True)
class Decision:
    """`claims`: the ratios that the answer tells; empty if it tells none.

    `doubts`: why the answer may not hold, and what would decide it. `alone`: the series that it
    tells something of without another. `has_more`: whether it tells more than these.
    """

    claims: tuple[NamedRatio, ...] = ()
    doubts: tuple[Reason, ...] = ()
    alone: tuple[Units, ...] = ()
    has_more: bool = False

    @property
    def reasons(self) -> list[Reason]:
        """The doubts, and what the intervals of the answer do not allow for."""
        return [*self.doubts, *design_doubts(self._decided, self.alone)]

    @property
    def open_level(self) -> Literal["noisy", "few_trials"] | None:
        """What hides all that the answer is about: noise or too few trials. None if nothing."""
        if self.has_more or not self.claims or self._decided:
            return None
        has_interval = any(ratio.low is not None for ratio, _, _ in self.claims)
        return "noisy" if has_interval else "few_trials"

    @property
    def _decided(self) -> list[NamedRatio]:
        """Noise that hides a difference hides too how the two series were measured."""
        return [claim for claim in self.claims if claim.ratio.verdict != "inconclusive"]


def decide_panels(panels: Sequence[Panel]) -> Decision:
    """What the rankings of the panels decide."""
    rankings = [panel.ranking for panel in panels if panel.ranking is not None]
    doubts = [*_contest_doubts(rankings), *_limit_doubts(rankings)]
    doubts += doubts_of(panel.changes.claim for panel in panels if panel.changes is not None)
    doubts += filter(None, map(_why_undecided, panels))
    if len(panels) > 1 and all(len(panel.judgement.sweeps) == 1 for panel in panels):
        doubts.append(_SEVERAL_ALONE)
    claims = [claim for panel in panels for claim in panel.claims]
    return Decision(tuple(claims), tuple(doubts), tuple(_alone(rankings)))


def _alone(rankings: Iterable[Ranking]) -> list[Units]:
    """The series of which a limit chooses one."""
    rows = [
        row
        for ranking in rankings
        if len(ranking.ranked) == 1
        for row in ranking.rows
        if row.over_limit is not None or row.unranked is None
    ]
    samples = [row.entrant.sample(LIMITED) for row in rows if row.entrant.limit_us]
    return [sample.units for sample in samples if sample is not None]


def decide_ratios(table: RatioTable) -> Decision:
    """What the geometric means decide; without them, the ratios within the workloads."""
    cells = [
        (row, cell) for row, cells in zip(table.rows, table.cells, strict=True) for cell in cells
    ]
    means = list(zip(table.rows, table.means, strict=True))
    claims = _known_ratios(table, means) or _known_ratios(table, cells)
    if not claims:
        remedies = [cell.why for _, cell in cells if cell is not None and cell.value is None]
        return Decision(doubts=(Reason("no ratio is known", "".join(remedies[:1]), Harm.HIDES),))
    return Decision(tuple(claims), tuple(_ratio_doubts(claims)))


def _ratio_doubts(claims: Iterable[NamedRatio]) -> list[Reason]:
    """Of a row that is too noisy for several workloads, the noisiest is the reason."""
    noisiest_last = sorted(claims, key=lambda claim: claim.ratio.finds_from or 0.0)
    by_kind = {
        (claim.a, claim.ratio.verdict, claim.ratio.low is None): claim for claim in noisiest_last
    }
    return doubts_of(by_kind.values())


def doubts_of(claims: Iterable[NamedRatio]) -> list[Reason]:
    """Why ratios are open, each by itself, with one advice for all."""
    return _with_one_advice((claim.ratio, doubt_of(claim)) for claim in claims)


def _with_one_advice(doubts: Iterable[tuple[Ratio, Reason | None]]) -> list[Reason]:
    """The doubts. All that ask for more trials get the same advice: the largest number of trials,
    which settles every one of them.

    If a page named several numbers of trials, the reader would not know which to measure.
    """
    reasons = [(ratio, doubt) for ratio, doubt in doubts if doubt is not None]
    remedy = _joint_remedy([ratio for ratio, _ in reasons if _asks_for_trials(ratio)])
    if remedy is None:
        return [doubt for _, doubt in reasons]
    return [
        replace(doubt, remedy=remedy) if _asks_for_trials(ratio) else doubt
        for ratio, doubt in reasons
    ]


def _asks_for_trials(ratio: Ratio) -> bool:
    """Whether its advice is to measure more of the same; an interval that is missing needs that."""
    return ratio.advice is not None and (ratio.more > 0 or ratio.low is None)


def _joint_remedy(ratios: Sequence[Ratio]) -> str | None:
    """The advice of the most trials; None if all ratios have the same, or none."""
    if len({ratio.advice for ratio in ratios}) < 2:
        return None
    return as_sentence(max(ratios, key=lambda ratio: ratio.more).advice or "")


def _known_ratios(
    table: RatioTable, ratios: Iterable[tuple[str, Ratio | None]]
) -> list[NamedRatio]:
    """Those of rows to the baseline."""
    return [
        NamedRatio(ratio, row, table.baseline)
        for row, ratio in ratios
        if row != table.baseline and ratio is not None and ratio.value is not None
    ]


def _contest_doubts(rankings: Iterable[Ranking]) -> list[Reason]:
    """For each ranking, why its least decided contest is not reliable."""
    doubts = []
    for ranking in rankings:
        own = [
            (contest.ratio, doubt)
            for contest in _open(ranking)
            if (doubt := _contest_doubt(contest)) is not None
        ]
        doubts += [max(own, key=lambda pair: pair[1].harm)] if own else []
    return _with_one_advice(doubts)


def _open(ranking: Ranking) -> list[Contest]:
    """The contest of the headline, and those that may still change who leads."""
    first, *others = ranking.contests or (None,)
    return [*filter(None, [first]), *(contest for contest in others if not contest.is_sure)]


def _contest_doubt(contest: Contest) -> Reason | None:
    _, a, b = contest.claim
    return doubt_of(contest.claim, difference=f"lead of {a} over {b}")


def doubt_of(claim: NamedRatio, difference: str | None = None) -> Reason | None:
    """Why the ratio of two series is open, and what would decide it; None if it is decided."""
    ratio, a, b = claim
    between = f"difference between {a} and {b}"
    if ratio.verdict == "size_uncertain":
        text, remedy = "may be too small to matter", "Measure more trials to learn its size."
        if ratio.why.startswith(IF_BASELINE_IS_STEADY):
            text = "is certain only if the baseline is as steady as the others"
            remedy = "Measure more trials to learn how steady it is."
        remedy = as_sentence(ratio.advice or remedy)
        return Reason(f"the {difference or between} {text}", remedy, Harm.WARNS)
    if ratio.verdict != "inconclusive":
        return None
    text = f"the noise is larger than the {between}"
    if ratio.finds_from is not None:
        text = f"{text}: {found_text(ratio.finds_from)}"
    if ratio.low is None:
        text = f"there are too few trials to tell {a} from {b}"
    return Reason(text, as_sentence(ratio.advice or ratio.why), Harm.HIDES)


def _limit_doubts(rankings: Iterable[Ranking]) -> list[Reason]:
    """Of which series it is not certain whether they keep the limit: their p99 is unknown, or its
    interval has the limit in it."""
    doubts = []
    for ranking in rankings:
        if (text := unknown_limits_text(ranking)) is not None:
            remedy = f"Let the load tool print {LIMITED}, and measure again."
            doubts.append(Reason(text, remedy, Harm.HIDES))
        doubts += [_limit_doubt(ranking, row) for row in ranking.rows if row.limit_doubt]
    return doubts


def _limit_doubt(ranking: Ranking, row: Row) -> Reason:
    """That the interval of a p99 reaches across the limit, or there is none. Of a series behind the
    leader that keeps the limit, it changes no answer."""
    p99 = row.entrant.measure(LIMITED)
    text = row.entrant.named_limit_doubt or ""
    remedy = PART_THE_MODES if p99.has_two_modes else "measure more trials at this load"
    hides = row.over_limit is not None or row is ranking.ranked[0]
    return Reason(text, as_sentence(remedy), Harm.HIDES if hides else Harm.WARNS)


def _why_undecided(panel: Panel) -> Reason | None:
    """Why no two series of a panel are compared; None if two are."""
    if len(panel.judgement.sweeps) < 2 or not panel.comparability.allows_ranking:
        return None
    if panel.ranking is None:
        reason: Reason | None = Reason(panel.headline.sentence, "Choose another load.", Harm.HIDES)
    else:
        reason = None if panel.ranking.contest is not None else _why_no_contest(panel.ranking)
    return None if reason is None else replace(reason, panel=panel.name)


def _why_no_contest(ranking: Ranking) -> Reason | None:
    """None if a limit decides, or no request of any series failed."""
    rows, first = ranking.rows, ranking.rows[0].entrant.label
    if len(rows) == 1:
        remedy = "Measure the other series there too, or choose another load."
        return Reason(f"only {first} was measured at this load", remedy, Harm.HIDES)
    for row in rows:
        if row.unranked is not None:
            return Reason(
                f"the figure of {row.entrant.label} cannot be compared", row.unranked, Harm.HIDES
            )
    if len(ranking.ranked) < 2:
        return None
    if METRICS[ranking.metric].group == "errors":
        return _error_doubt(rows)
    remedy = next((row.why for row in ranking.ranked if row.why), "")
    second = ranking.ranked[1].entrant.label
    return Reason(f"there is no ratio of {first} to {second}", remedy, Harm.HIDES)


def _error_doubt(rows: Sequence[Row]) -> Reason | None:
    if not any(row.measure.value for row in rows):
        return None
    text = "error rates are compared without allowing for noise"
    return Reason(text, "Compare the error rates of the trials.", Harm.HIDES)
