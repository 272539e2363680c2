"""Rules over what came between the trials of a cell: a start of the server, or a pause."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from backend.runs.checks.check import CellInput, CellRule
from backend.runs.checks.check_input import CheckInput

# A pause is at least this long, and this many times as long as the usual time between trials.
LEAST_PAUSE_S = 600.0
PAUSE_FACTOR = 10
# What gives each repeat a start of the server, as a plan of the agent says it.
RESTART = '`restart = "each-repeat"`'


def _find_restart(cell: CellInput) -> str | None:
    """A start of the server between trials, where it was not started for each of them.

    A plan that restarts servers before each repeat or trial gives each trial a start.
    """
    starts = Counter(trial.server_start for trial in cell.trials if trial.server_start is not None)
    if len(starts) < 2 or max(starts.values()) == 1:
        return None
    counts = " and ".join(str(count) for count in starts.values())
    return f"{len(starts)} starts of the server were measured, with {counts} trials."


def _find_pause(cell: CellInput) -> str | None:
    """A time between two trials that is much longer than between the others."""
    *others, longest = sorted(_gaps_s(cell.trials)) or [0.0]
    if not others or longest < max(LEAST_PAUSE_S, PAUSE_FACTOR * median(others)):
        return None
    return f"{duration_text(longest)} passed between two of the {len(cell.trials)} trials."


def _gaps_s(trials: Sequence[CheckInput]) -> list[float]:
    """From the end of each trial to the start of the next one; empty if a time is unknown."""
    gaps = []
    for before, after in pairwise(trials):
        ended = before.finished_at or before.started_at
        if ended is None or after.started_at is None:
            return []
        gaps.append(max((after.started_at - ended).total_seconds(), 0.0))
    return gaps


def duration_text(duration_s: float) -> str:
    """`25 min`, `6 h` or `3 days`."""
    minutes = duration_s / 60
    if minutes < 120:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.0f} h" if minutes < 48 * 60 else f"{minutes / 60 / 24:.0f} days"


INTERRUPTION_RULES = (
    CellRule(
        id="restarted",
        severity="warning",
        title="The server was started again between trials",
        explanation="The trials of a load point come from several starts of the server, although "
        "it was not started for each of them: it had ended, the run was resumed, or the plan runs "
        "one server at a time and never restarts. Memory and connections are laid out differently "
        "at each start, and some trials met a new process.",
        remedy=f"Find out why the server ended, or set {RESTART} in the plan, "
        "which treats all repeats alike.",
        find=_find_restart,
    ),
    CellRule(
        id="paused",
        severity="warning",
        title="A long pause between trials",
        explanation="Between two trials of a load point, at least 10 minutes passed, and ten times "
        "as long as between the others. The machine and its neighbours may have changed.",
        remedy="Measure all trials of a load point without a pause, or as two runs.",
        find=_find_pause,
    ),
)
