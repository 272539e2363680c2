"""How far an answer holds: one of four levels, with the three most harmful reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backend.analysis.answer import Trust, TrustLevel, TrustReason
from backend.analysis.compare.capacity import LIMITED, limited_text
from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.ranking import Contest, Ranking, Row
from backend.analysis.compare.reasons import Harm, Reason
from backend.analysis.query.units import time_text

MOST_REASONS = 3


def judge_trust(comparability: Comparability, rankings: Sequence[Ranking] = ()) -> Trust:
    """Whether a reader may build on the answer.

    * not_comparable: the series were not measured alike, also where they are ranked by request.
    * noisy: no ranking can tell its leader from the series it is held against.
    * care: a caveat, one ranking of several that is too noisy, a lead over some series that is too
      noisy or may be too small to matter, or a leader that may be over the limit.
    * solid: everything else.

    `rankings`: those that the answer is about, one for each panel.
    """
    contests = [contest for ranking in rankings if (contest := ranking.contest) is not None]
    leaders = [ranking.ranked[0] for ranking in rankings if ranking.ranked]
    reasons = [*_doubts(rankings), *_limit_doubts(leaders), *_confounded(comparability)]
    reasons += comparability.because
    worst = sorted(reasons, key=lambda reason: (-reason.harm, -reason.share))
    return Trust(
        level=_level(comparability, contests, reasons),
        reasons=[_to_record(reason) for reason in worst[:MOST_REASONS]],
        more=max(len(worst) - MOST_REASONS, 0),
    )


def _level(
    comparability: Comparability, contests: Sequence[Contest], reasons: Sequence[Reason]
) -> TrustLevel:
    if comparability.status == "not_comparable":
        return "not_comparable"
    if contests and all(contest.ratio.verdict == "inconclusive" for contest in contests):
        return "noisy"
    return "care" if reasons else "solid"


def _doubts(rankings: Iterable[Ranking]) -> list[Reason]:
    """Of each ranking, why the least decided of its contests cannot be built on."""
    doubts = ([*filter(None, map(_doubt, ranking.contests))] for ranking in rankings)
    return [max(reasons, key=lambda reason: reason.harm) for reasons in doubts if reasons]


def _doubt(contest: Contest) -> Reason | None:
    """Why a contest is open, and what would decide it; None where it is decided."""
    ratio = contest.ratio
    a, b = contest.leader.entrant.label, contest.other.entrant.label
    if ratio.verdict == "size_uncertain":
        text = f"the lead of {a} over {b} may be too small to matter"
        return Reason(text, "Measure more trials to learn its size.", Harm.WARNS)
    if ratio.verdict != "inconclusive":
        return None
    text = f"the noise is larger than the difference between {a} and {b}"
    if ratio.low is None:
        text = f"there are too few trials to tell {a} from {b}"
    return Reason(text, _as_sentence(ratio.why or ""), Harm.HIDES)


def _limit_doubts(leaders: Iterable[Row]) -> list[Reason]:
    """Where the interval of a leader's p99 reaches over the limit, or there is none."""
    reasons = []
    for leader in leaders:
        limit, p99 = leader.entrant.limit_us, leader.entrant.measure(LIMITED)
        if limit is not None and (p99.high is None or p99.high > limit):
            shown = limited_text(p99)
            text = f"p99 of {leader.entrant.label} may be over {time_text(limit)}: {shown}"
            reasons.append(Reason(text, "Measure more trials at this load.", Harm.HIDES))
    return reasons


def _confounded(comparability: Comparability) -> list[Reason]:
    if not comparability.confounded:
        return []
    text = f"these differ together: {', '.join(comparability.confounded)}"
    return [Reason(text, "Measure again and change one of them at a time.", Harm.DIFFERS)]


def _to_record(reason: Reason) -> TrustReason:
    panel = "" if reason.panel is None else f"{reason.panel}: "
    text = f"{panel}{_as_sentence(reason.text)}"
    return TrustReason(text=text, remedy=reason.remedy, check=reason.check)


def _as_sentence(text: str) -> str:
    """With a capital, unless it begins with the name of a percentile, and a full stop."""
    first = text[:1] if text.startswith(LIMITED) else text[:1].upper()
    return f"{first}{text[1:].rstrip('.')}." if text else ""
