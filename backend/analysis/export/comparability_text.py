"""Whether the series of some figures may be compared, as text, where no script draws it.

Figures may be those of a snapshot that an older version froze.
"""

from urllib.parse import parse_qs

from msgspec import UNSET

from backend.analysis.figures import Figures

_WORDS = {
    "comparable": "comparable",
    "caveats": "Use with care",
    "not_comparable": "not comparable",
}
OVERRIDDEN = "ranked although not comparable"
# How many reasons fit where there is room for one sentence.
MAX_REASONS = 3


def is_overridden(figures: Figures) -> bool:
    """Whether series are ranked that may not be compared, at a reader's request."""
    if figures.outcome.overridden is not UNSET:
        return figures.outcome.overridden
    # Snapshots made before schema version 2 have the override in their query alone.
    asked = parse_qs(figures.query).get("override") == ["1"]
    return asked and figures.outcome.status == "not_comparable"


def comparability_text(figures: Figures) -> str:
    """`Use with care: 2 warnings – client and server on one host; kernel differs: 6.1, 6.8`"""
    outcome = figures.outcome
    together = ", ".join(outcome.confounded)
    details = [
        *outcome.reasons,
        *([f"these differ together: {together}"] if together else []),
        *([outcome.intent] if outcome.intent else []),
    ]
    more = len(details) - MAX_REASONS
    sentences = [*details[:MAX_REASONS], *([f"and {more} more"] if more > 0 else [])]
    lead, separator = _lead(figures)
    return f"{lead}{separator}{'; '.join(sentences)}" if sentences else lead


def _lead(figures: Figures) -> tuple[str, str]:
    """The status with the number of its warnings, and what stands between it and the details."""
    if is_overridden(figures):
        return OVERRIDDEN, ": "
    outcome = figures.outcome
    if outcome.status != "caveats" or not outcome.reasons:
        return _WORDS[outcome.status], ": "
    plural = "" if len(outcome.reasons) == 1 else "s"
    return f"{_WORDS['caveats']}: {len(outcome.reasons)} warning{plural}", " – "
