"""How far an answer holds: one of five levels, with the reasons, the most harmful first."""

from collections.abc import Sequence

from backend.analysis.answer import Trust, TrustLevel, TrustReason
from backend.analysis.compare.capacity import LIMITED
from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.decision import Decision
from backend.analysis.compare.reasons import Harm, Reason

MOST_REASONS = 100


def judge_trust(comparability: Comparability, decision: Decision | None = None) -> Trust:
    """Whether a reader may rely on the answer.

    * not_comparable: the series were not measured alike, even if they are ranked on request.
    * noisy: noise hides all differences that the answer is about.
    * few_trials: none of them has an interval.
    * care: a caveat, or a doubt of the decision; see `Decision`.
    * solid: everything else.
    """
    decision = decision or Decision()
    reasons = [*decision.reasons, *_confounded(comparability), *comparability.because]
    worst = sorted(reasons, key=lambda reason: (-reason.harm, -reason.share))
    return Trust(
        level=_level(comparability, decision, reasons),
        reasons=[_to_record(reason) for reason in worst[:MOST_REASONS]],
        more=max(len(worst) - MOST_REASONS, 0),
    )


def _level(
    comparability: Comparability, decision: Decision, reasons: Sequence[Reason]
) -> TrustLevel:
    if comparability.status == "not_comparable":
        return "not_comparable"
    return decision.open_level or ("care" if reasons else "solid")


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
