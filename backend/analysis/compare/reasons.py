"""Why series may not be compared, or with which caveats, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from backend.analysis.compare.differences import Differences
from backend.analysis.grouping.fired_checks import Fired
from backend.analysis.query.factors import REMEDIES, Factor
from backend.analysis.query.field import number_text
from backend.analysis.query.natural_order import ordered

# Characters of a value, and how many values, in a sentence.
MAX_TEXT = 60
MAX_VALUES = 3


def mixed_reasons(differences: Differences) -> list[str]:
    """One sentence where points mix results of several kinds; none otherwise."""
    if not differences.mixed:
        return []
    kinds = ", ".join(differences.mixed)
    return [f"points mix different {kinds}; split them into series, or choose one"]


def refusal(factor: Factor, differences: Differences) -> str:
    """Why a factor forbids the comparison, and what to choose."""
    where = ""
    if factor in differences.along_axis:
        where = f" along the axis ({differences.axis.label.lower()})"
    remedy = REMEDIES.get(factor.id)
    hint = f"; choose one {remedy}" if remedy else ""
    return f"{factor.word} differs{where}: {_values_text(factor, differences)}{hint}"


def caveat(factor: Factor, differences: Differences) -> str:
    return f"{factor.word} differs: {_values_text(factor, differences)}"


def unknown_caveat(factor: Factor) -> str:
    return f"{factor.word} is unknown for some series"


def check_caveats(fired: Sequence[Fired], *, trials: int, points: int) -> list[str]:
    """Checks of weight as caveats. `trials`, `points`: how many there are to fire on."""
    return [
        _check_caveat(check, trials=trials, points=points)
        for check in fired
        if check.check.severity != "info" and check.count
    ]


def _check_caveat(fired: Fired, *, trials: int, points: int) -> str:
    title = fired.check.title[0].lower() + fired.check.title[1:]
    if fired.trials and len(fired.trials) < trials:
        return f"{title} ({len(fired.trials)} of {trials} trials)"
    if fired.cells and not fired.trials and len(fired.cells) < points:
        return f"{title} ({len(fired.cells)} of {points} load points)"
    return title


def _values_text(factor: Factor, differences: Differences) -> str:
    """The values of a factor, at most three; unknown is a value of what is under test alone."""
    values = {factor.read(cell) for cell in differences.cells}
    if factor.rule != "test":
        values.discard(None)
    texts = [str(text) for text in ordered({value_text(value) for value in values})]
    more = f" and {len(texts) - MAX_VALUES} more" if len(texts) > MAX_VALUES else ""
    return ", ".join(texts[:MAX_VALUES]) + more


def value_text(value: object) -> str:
    """A value of a factor as it stands in a sentence."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "; ".join(f"{name}: {text}" for name, text in value)[:MAX_TEXT] or "none"
    if isinstance(value, float):
        return number_text(value)
    return str(value)[:MAX_TEXT]
