"""Reasons for care that follow from how series were measured, and that no interval allows for."""

from collections.abc import Iterable
from typing import NamedTuple

from backend.analysis.compare.reasons import Harm, Reason
from backend.runs.checks.interruptions import RESTART, duration_text
from backend.stats import Ratio
from backend.stats.design import Design, Starts, starts_of
from backend.stats.replicates import Units
from backend.stats.thresholds import LEAST_RUNS, LEAST_STARTS

_IN_TURN = "Measure the servers in turn and in a changing order, as the agent does."
_STARTS: dict[Starts, Reason] = {
    "few": Reason(
        f"a server was measured at fewer than {LEAST_STARTS} starts, and other starts may give "
        "other figures",
        f"Set {RESTART} in the plan, or measure {LEAST_RUNS} runs.",
        Harm.WARNS,
    ),
    "unknown": Reason(
        "it is unknown how often a server was started, and other starts may give other figures",
        "Measure with the agent, which records each start, or measure "
        f"{LEAST_RUNS} runs and start the servers again for each.",
        Harm.WARNS,
    ),
}


class NamedRatio(NamedTuple):
    """A ratio that an answer tells, a ÷ b or the reverse, with the names of its two series."""

    ratio: Ratio
    a: str
    b: str


def design_doubts(told: Iterable[NamedRatio], alone: Iterable[Units] = ()) -> list[Reason]:
    """One reason of each kind, naming the first two series that have it.

    `alone`: series that are held against a limit, and not against each other.
    """
    reasons: dict[str, Reason] = {}
    for ratio, a, b in told:
        reasons = {**_reasons(ratio.design, a, b), **reasons}
    if (starts := starts_of(*alone)) is not None:
        reasons.setdefault("starts", _STARTS[starts])
    return list(reasons.values())


def _reasons(design: Design, a: str, b: str) -> dict[str, Reason]:
    """The reasons by their kind."""
    reasons, gap = {}, ""
    if design.starts is not None:
        reasons["starts"] = _STARTS[design.starts]
    if design.gap_s is not None:
        gap = duration_text(design.gap_s)
        text = f"the trials of {a} and {b} are {gap} apart, and the machine may have changed"
        remedy = f"Measure both in one run, in turn, or each in {LEAST_RUNS} runs."
        reasons["gap"] = Reason(text, remedy, Harm.WARNS)
    if design.order == "apart":
        # One reason for both.
        reasons.pop("gap", None)
        apart = f", {gap} apart" if gap else ""
        reasons["order"] = _order(
            f"{a} and {b} were measured one after the other{apart}, so a change of the machine "
            "looks like a difference between them"
        )
    if design.order == "fixed":
        reasons["order"] = _order(
            f"{a} and {b} were measured in the same order in every round, so the first may affect "
            "the second each time"
        )
    return reasons


def _order(text: str) -> Reason:
    return Reason(text, _IN_TURN, Harm.WARNS, check="fixed-order")
