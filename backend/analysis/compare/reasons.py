"""Why series may not be compared, or with which caveats, in sentences."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from backend.analysis.compare.differences import Differences
from backend.analysis.grouping.fired_checks import Fired
from backend.analysis.grouping.unread import UnreadSeries
from backend.analysis.query.factors import REMEDIES, TESTED, Factor
from backend.analysis.query.field import number_text, ordered
from backend.analysis.query.records import LoadedCell
from backend.analysis.query.units import bytes_text, load_number

# Characters of a value, and how many values, in a sentence.
MAX_TEXT = 60
MAX_VALUES = 3


# How numbers are written that have a unit, by factor or host fact.
_IN_UNITS: dict[str, Callable[[Any], str]] = {
    "payload": lambda size: f"{load_number(size)} B",
    "memory": bytes_text,
    "memory_bytes": bytes_text,
    "rate": lambda rate: f"{load_number(rate)} req/s",
}


class Harm(IntEnum):
    """How much a reason takes from what a comparison can tell."""

    UNKNOWN = 0
    WARNS = 1
    DIFFERS = 2
    WITHHOLDS = 3
    HIDES = 4
    FORBIDS = 5


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a comparison is to be used with care, or not at all, and what a reader can do.

    `text`: a sentence without its capital and full stop. `remedy`: whole sentences. `choice`: what
    a reader can choose on the page. `share`: of the trials or load points that are shown. `panel`:
    the name of the panel that it is about, if not of all.
    """

    text: str
    remedy: str
    harm: Harm
    share: float = 1.0
    # The check that says so.
    check: str | None = None
    choice: str = ""
    panel: str | None = None

    @property
    def sentence(self) -> str:
        """`json: version differs: 1, 2; choose one version`, in a line of several reasons."""
        text = f"{self.text}; {self.choice}" if self.choice else self.text
        return text if self.panel is None else f"{self.panel}: {text}"


def _choose(text: str, choice: str) -> Reason:
    return Reason(text, f"{choice[0].upper()}{choice[1:]}.", Harm.FORBIDS, choice=choice)


def mixed_reasons(differences: Differences) -> list[Reason]:
    """One reason where points mix results of several kinds; none otherwise."""
    if not differences.mixed:
        return []
    kinds = ", ".join(differences.mixed)
    return [_choose(f"points mix different {kinds}", "split them into series, or choose one")]


def refusal(factor: Factor, differences: Differences) -> Reason:
    """Why a factor forbids the comparison, and what to choose."""
    where = ""
    if factor in differences.along_axis:
        where = f" along the axis ({differences.axis.label.lower()})"
    text = f"{factor.word} differs{where}: {_values_text(factor, differences)}"
    remedy = REMEDIES.get(factor.id)
    if remedy:
        return _choose(text, f"choose one {remedy}")
    return Reason(text, _measure_alike(factor), Harm.FORBIDS)


def caveat(factor: Factor, differences: Differences) -> Reason:
    text = f"{factor.word} differs: {_values_text(factor, differences)}"
    if factor in TESTED:
        return Reason(
            text, f"Unless you want to compare it, choose one {factor.short}.", Harm.DIFFERS
        )
    return Reason(text, _measure_alike(factor), Harm.DIFFERS)


def _measure_alike(factor: Factor) -> str:
    return f"Measure all series with the same {factor.word}."


# What to do where the agent measured, and could not tell.
_OF_PLAN = {
    "keepalive": "The plan asks for keep-alive, but the server closed its connections. Set "
    "keepalive = false in the plan for all servers, or leave this server out.",
}
_OF_HOST = "The agent could not read it. Run `loadsheet doctor` on that host to see why."
_OF_OUTPUT = "The load tool does not print it. Measure all series with one load tool."


def unknown_caveat(factor: Factor, cells: Iterable[LoadedCell]) -> Reason:
    """That a factor is unknown for some of `cells`. What to do follows from who measured them."""
    unknown = [cell for cell in cells if factor.read(cell) is None]
    remedies = dict.fromkeys(_unknown_remedy(factor, cell) for cell in unknown)
    return Reason(f"{factor.word} is unknown for some series", " ".join(remedies), Harm.UNKNOWN)


def _unknown_remedy(factor: Factor, cell: LoadedCell) -> str:
    if not cell.run.has_plan:
        return "Add it to the upload, or measure with the agent."
    of_part = _OF_HOST if factor.part in ("client_host", "server_host") else _OF_OUTPUT
    return _OF_PLAN.get(factor.id, of_part)


def missing_caveat(missing: Sequence[UnreadSeries]) -> Reason:
    """That series are not shown at all, because none of their outputs could be read."""
    labels = list(dict.fromkeys(row.label for row in missing))
    text = f"not shown, because no output could be read: {_listed(labels)}"
    return Reason(text, "Upload the outputs again, or measure again.", Harm.HIDES)


def check_caveats(fired: Sequence[Fired], *, trials: int, points: int) -> list[Reason]:
    """Checks of weight as caveats. `trials`, `points`: how many there are to fire on."""
    return [
        _check_caveat(check, trials=trials, points=points)
        for check in fired
        if check.check.severity != "info" and check.count
    ]


def _check_caveat(fired: Fired, *, trials: int, points: int) -> Reason:
    check = fired.check
    text = check.title[0].lower() + check.title[1:]
    count, total, noun = len(fired.trials), trials, "trials"
    if not fired.trials:
        count, total, noun = len(fired.cells), points, "load points"
    if count < total:
        text += f" ({count} of {total} {noun})"
    harm = Harm.WITHHOLDS if check.severity == "error" else Harm.WARNS
    return Reason(text, check.remedy, harm, count / max(total, 1), check.id)


def _values_text(factor: Factor, differences: Differences) -> str:
    """The values of a factor, at most three; unknown is a value of what is under test alone."""
    values = {factor.read(cell) for cell in differences.cells}
    if factor.rule != "test":
        values.discard(None)
    texts = {factor_text(factor.id, value) for value in values}
    return _listed([str(text) for text in ordered(texts)])


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - MAX_VALUES} more" if len(texts) > MAX_VALUES else ""
    return ", ".join(texts[:MAX_VALUES]) + more


def factor_text(factor: str, value: object) -> str:
    """A value of the factor with this id, or of the host fact of this name, with its unit."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _IN_UNITS[factor](value) if is_number and factor in _IN_UNITS else value_text(value)


def value_text(value: object) -> str:
    """A value as it appears in a sentence, without a unit."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "; ".join(f"{name}: {text}" for name, text in value)[:MAX_TEXT] or "none"
    if isinstance(value, float):
        return number_text(value)
    return str(value)[:MAX_TEXT]
