"""Whether the figures of an answer are a basis for choosing a server at all."""

from collections.abc import Iterable, Sequence

from backend.analysis.compare.headline import Headline
from backend.analysis.compare.panels import Panel
from backend.analysis.compare.ranking import Row
from backend.analysis.grouping.fired_checks import Fired
from backend.runs.checks import Check

# Share of the trials of a load point: one trial that went wrong says nothing about the others.
MOST_SHARE = 0.5


def find_no_basis(panels: Iterable[Panel]) -> Check | None:
    """The gravest check that says a difference may not come from the servers, where it fired on a
    series of the headline; None without one."""
    for panel in panels:
        rows = _rows_of_headline(panel)
        for fired in panel.judgement.fired:
            if fired.check.is_no_basis and _is_about(fired, rows):
                return fired.check
    return None


def _rows_of_headline(panel: Panel) -> Sequence[Row]:
    if panel.ranking is None:
        return ()
    contest = panel.ranking.contest
    return panel.ranking.ranked[:1] if contest is None else (contest.leader, contest.other)


def _is_about(fired: Fired, rows: Iterable[Row]) -> bool:
    """Whether the check fired on the load point of a row, or on most of its trials."""
    cells, trials = set(fired.cells), set(fired.trials)
    for row in rows:
        point = row.entrant.point
        own = [str(trial.id) for trial in point.trials]
        if not cells.isdisjoint(str(cell.id) for cell in point.cells):
            return True
        if own and len(trials.intersection(own)) > MOST_SHARE * len(own):
            return True
    return False


def warned(headline: Headline, check: Check) -> Headline:
    """`No basis for choosing a server: measured for less than 2 seconds`, with the headline as its
    margin, so that the page still says what was measured."""
    reason = f"{check.title[0].lower()}{check.title[1:]}"
    return Headline(f"No basis for choosing a server: {reason}", headline.text)
