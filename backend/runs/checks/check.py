"""What a check is: a named rule, how grave it is, and what a reader should do about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from backend.runs.checks.check_input import CheckInput

Severity = Literal["info", "warning", "error"]
# The worst first.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
# Which figures a check makes unfit for a ranking. "throughput": rates, and what the server used for
# them. "all": every figure but the failed requests.
Withholds = Literal["all", "throughput", "latency"]

LITTLE = "Little, J. D. C. (1961), A Proof for the Queuing Formula L = λW, Operations Research 9(3)"
BOARDS = "Impossible figures found on public benchmark boards"
REFUSALS_RANKED = BOARDS + ": a server answering only errors was ranked first"
OUR_RULE = "A rule of Loadsheet; see statistics.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """`explanation`: what the finding means. `remedy`: what to do about it."""

    id: str
    severity: Severity
    title: str
    explanation: str
    remedy: str
    source: str = OUR_RULE
    # Set for every error: the figures that must not be ranked.
    withholds: Withholds | None = None
    # Whether something other than the servers may cause a difference, however large it is. Then no
    # server is recommended.
    is_no_basis: bool = False

    @property
    def advice(self) -> str:
        """The explanation with the remedy, as a page shows it."""
        return f"{self.explanation} {self.remedy}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRule(Check):
    """A check of one trial: `find` gives a sentence with the figures, or None."""

    find: Callable[[CheckInput], str | None]


@dataclass(frozen=True, slots=True)
class CellInput:
    """The counted trials of a load point in the order they were executed, and their throughputs.

    `least_trials`: as many as the workspace asks for. `warmed_up`: None if it is unknown.
    """

    trials: Sequence[CheckInput]
    rates: Sequence[float]
    least_trials: int
    warmed_up: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRule(Check):
    """A check of a cell: `find` gives a sentence with the figures, or None."""

    find: Callable[[CellInput], str | None]
