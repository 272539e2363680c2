"""What the tables must show, and the rows for which a decision record argues something else."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.stats.thresholds import LEAST_RUNS
from simulation.grid import (
    ALIKE,
    DISTURBED,
    FEW_SERIES,
    OWN_RUNS,
    ROUNDED,
    SHARED,
    UNLIKE,
    UNLIKE_RUNS,
)

Row = Mapping[str, str]
# A table, a column of it, and the labels of a row.
Place = tuple[str, ...]
Tables = Mapping[str, Any]
# How far a figure is beyond what it must be; 0 or less where it is not.
Excess = Callable[[float, Row], float]
Rows = Callable[[Row], bool]
TOLD, SIZED = "told apart %", "improved or regressed %"
ROWS, PAIRS = "rows told %", "pairs told %"
PLACES = "every place true %"
DECISIONS = Path(__file__).parents[3] / "docs" / "decisions"


@dataclass(frozen=True)
class Aim:
    """What a column of a table must show. `of`: in which rows."""

    words: str
    table: str
    column: str
    excess: Excess
    of: Rows

    def missed_by(self, row: Row) -> float:
        return round(self.excess(float(row[self.column]), row), 1)

    def rows(self, tables: Tables) -> Iterator[tuple[Place, Row]]:
        """The rows that it is about."""
        table = tables.get(self.table, {"rows": ()})
        for cells in table["rows"]:
            row = dict(zip(table["columns"], cells, strict=True))
            if self.of(row):
                yield (self.table, self.column, *cells[: table["labels"]]), row


@dataclass(frozen=True)
class Argued:
    """Rows that miss the aim of their column, and what they must show instead.

    `decision`: the number of the record that argues it. `says`: the words by which a page claims
    something else of these rows.
    """

    decision: str
    table: str
    column: str
    excess: Excess
    of: Rows
    says: str = ""

    def covers(self, place: Place, row: Row) -> bool:
        return (
            place[:2] == (self.table, self.column)
            and self.of(row)
            and round(self.excess(float(row[self.column]), row), 1) <= 0
        )


def _between(least: float, most: float) -> Excess:
    return lambda figure, _row: max(least - figure, figure - most)


def _at_most(most: float) -> Excess:
    return lambda figure, _row: figure - most


def _at_least_as(column: str, *, below: float = 0.0) -> Excess:
    return lambda figure, row: float(row[column]) - figure - below


def _has(**wanted: str) -> Rows:
    """By the labels of a row; `trials_of` is the column `trials of`."""
    return lambda row: all(row[name.replace("_", " ")] == text for name, text in wanted.items())


def _all(_row: Row) -> bool:
    return True


def _is_of_equals(row: Row) -> bool:
    return row["true"] == "0 %"


def _is_of_few_trials(row: Row) -> bool:
    """Up to 10 trials, in runs that the usual tests may take as independent."""
    kind, runs = _kind_and_runs(row)
    return row["true"] != "0 %" and kind not in UNLIKE_RUNS and sum(map(int, runs)) <= 10


def _kind_and_runs(row: Row) -> tuple[str, list[str]]:
    kind = row["trials of"] if "trials of" in row else row["servers in"]
    return kind, (row["n"] if "n" in row else row["trials"]).split(" + ")


def _is_of_unlike_noise(row: Row) -> bool:
    return row["trials of"] in UNLIKE or row["trials of"] == FEW_SERIES


def _is_of_unlike_noise_of_three(row: Row) -> bool:
    return _is_of_unlike_noise(row) and row["n"] == "3"


def _is_of_unlike_places(row: Row) -> bool:
    return row["noise"] != ALIKE and row["n"] == "3"


def _is_rounded(row: Row) -> bool:
    return row["trials of"].startswith(ROUNDED)


def _is_exact(row: Row) -> bool:
    return not _is_rounded(row)


def _is_disturbed(row: Row) -> bool:
    """By disturbances that so few trials do not show."""
    return row["trials of"] == DISTURBED and row["n"] in ("3", "5")


def _is_of_start(row: Row) -> bool:
    """Of servers whose starts differ, in so few runs that they do not show it."""
    kind, runs = _kind_and_runs(row)
    return kind == OWN_RUNS and len(runs) < LEAST_RUNS


COVERS = _between(93, 97)
AT_MOST_5 = _at_most(5)
# Where equal servers are told apart, an interval misses 1x.
TELLS_FEW = _at_most(7)
AIMS = (
    Aim("intervals cover 93–97 %", "intervals", "covers %", COVERS, _all),
    Aim(
        "rounded latencies: 93 % or more are covered, whatever the latency",
        "rounding",
        "covers at the worst %",
        _between(93, 100),
        _all,
    ),
    Aim(
        "rounded latencies: of two equal servers, at most 7 % are told apart, whatever the latency",
        "rounding",
        "equal servers told apart at the worst %",
        TELLS_FEW,
        _all,
    ),
    Aim("intervals of two stages cover 93–97 %", "two-stage", "covers %", COVERS, _all),
    Aim("of two equal servers, 3–7 % are told apart", "pairs", TOLD, _between(3, 7), _is_of_equals),
    Aim(
        "of equal servers over runs, 3–7 % are told apart",
        "runs",
        TOLD,
        _between(3, 7),
        _is_of_equals,
    ),
    Aim(
        "of two equal servers, at most 5 % have a verdict", "pairs", SIZED, AT_MOST_5, _is_of_equals
    ),
    Aim(
        "of equal servers over runs, at most 5 % have a verdict",
        "runs",
        SIZED,
        AT_MOST_5,
        _is_of_equals,
    ),
    Aim("at most 5 % of pages have a false verdict", "pages", SIZED, AT_MOST_5, _all),
    Aim("at most 7 % of pages have a false row", "pages", ROWS, TELLS_FEW, _all),
    Aim("at most 7 % of pages have a false pair", "pages", PAIRS, TELLS_FEW, _all),
    Aim("at most 5 % of pages take another server", "winners", "another taken %", AT_MOST_5, _all),
    Aim("93 % of pages or more have every place true", "winners", PLACES, _between(93, 100), _all),
    Aim(
        "two servers are told apart as often as by Welch's test, n ≤ 10",
        "pairs",
        TOLD,
        _at_least_as("Welch %"),
        _is_of_few_trials,
    ),
    Aim(
        "as often as by Welch's test too in runs with effects that both share",
        "runs",
        TOLD,
        _at_least_as("Welch %"),
        _is_of_few_trials,
    ),
    Aim(
        "rows are told as often as by Dunnett's test, n ≤ 10",
        "page-differences",
        ROWS,
        _at_least_as("Dunnett %"),
        _is_of_few_trials,
    ),
    Aim(
        "pairs are told as often as by Games & Howell's test, n ≤ 10",
        "page-differences",
        PAIRS,
        _at_least_as("Games–Howell %"),
        _is_of_few_trials,
    ),
    Aim(
        "rounds share 5 %: 3 % found in 90 % of comparisons, n = 5",
        "pairs",
        TOLD,
        _between(90, 100),
        _has(trials_of=SHARED, true="3 %", n="5"),
    ),
    Aim(
        "10 % disturbed: 5 % found in 60 % of comparisons, n = 10",
        "pairs",
        TOLD,
        _between(60, 100),
        _has(trials_of=DISTURBED, true="5 %", n="10"),
    ),
    Aim(
        "following the advice is wrong in at most 2 %",
        "advice",
        "wrong at last %",
        _at_most(2),
        _all,
    ),
    Aim("a saturation point is wrong in at most 5 %", "saturation", "wrong %", AT_MOST_5, _all),
    Aim(
        "at most 5 % of steady series show a change",
        "changes",
        "without a change %",
        AT_MOST_5,
        _all,
    ),
)
# Of pages of unlike noise, by the number of trials.
_MOST_TOLD = {"3": 27.0, "5": 17.0, "10": 8.0, "30": 8.0}


def _at_most_told(figure: float, row: Row) -> float:
    return figure - _MOST_TOLD[row["n"]]


WIDER, IN_RUN = "widened for rounding", "in this run"
EXCEPTIONS = (
    Argued("0050", "intervals", "covers %", _between(97, 100), _is_rounded, WIDER),
    Argued("0050", "two-stage", "covers %", _between(97, 99), _has(n="10")),
    Argued(
        "0050",
        "pairs",
        TOLD,
        _between(0, 3),
        lambda row: _is_rounded(row) and _is_of_equals(row),
        WIDER,
    ),
    Argued(
        "0050",
        "pairs",
        TOLD,
        _between(0, 100),
        lambda row: _is_rounded(row) and not _is_of_equals(row),
    ),
    Argued("0050", "page-differences", ROWS, _between(0, 100), _is_rounded),
    Argued("0050", "page-differences", PAIRS, _between(0, 100), _is_rounded),
    Argued(
        "0050", "pairs", TOLD, _between(1, 3), lambda row: _is_disturbed(row) and _is_of_equals(row)
    ),
    Argued("0050", "page-differences", ROWS, _at_least_as("Dunnett %", below=2.5), _is_disturbed),
    Argued(
        "0050", "page-differences", PAIRS, _at_least_as("Games–Howell %", below=16), _is_disturbed
    ),
    Argued("0050", "page-differences", ROWS, _at_least_as("Dunnett %", below=1.3), _is_exact),
    Argued("0050", "page-differences", PAIRS, _at_least_as("Games–Howell %", below=0.5), _is_exact),
    # Of two runs, the sentence says "in the 2 runs".
    Argued("0021", "runs", TOLD, _between(7, 45), _is_of_start, IN_RUN),
    Argued("0021", "runs", SIZED, _between(5, 20), _is_of_start, IN_RUN),
    Argued("0021", "pages", ROWS, _between(7, 100), _is_of_start, IN_RUN),
    Argued("0021", "pages", SIZED, _between(5, 100), _is_of_start, IN_RUN),
    Argued("0021", "pages", PAIRS, _between(7, 100), _is_of_start, IN_RUN),
    Argued("0032", "changes", "without a change %", _between(5, 12), _has(correlation="0.8")),
    Argued("0062", "pages", SIZED, _at_most(6.5), _is_of_unlike_noise_of_three),
    Argued("0062", "pages", ROWS, _at_most_told, _is_of_unlike_noise),
    Argued("0062", "pages", PAIRS, _at_most_told, _is_of_unlike_noise),
    Argued("0062", "winners", PLACES, _between(85, 93), _is_of_unlike_places),
)


def missed(tables: Tables) -> Iterator[tuple[Place, Row]]:
    """Where a table does not show what it must."""
    for aim in AIMS:
        for place, row in aim.rows(tables):
            if aim.missed_by(row) > 0:
                yield place, row


def unargued(tables: Tables) -> list[Place]:
    """The places where an aim is missed and no decision record argues why."""
    return [place for place, row in missed(tables) if not _exceptions(place, row)]


def _exceptions(place: Place, row: Row) -> list[Argued]:
    return [each for each in EXCEPTIONS if each.covers(place, row)]


def unneeded(tables: Tables) -> list[Argued]:
    """The exceptions of which no row misses its aim any more."""
    places = list(missed(tables))
    return [
        each for each in EXCEPTIONS if not any(each.covers(place, row) for place, row in places)
    ]


def summary(tables: Tables) -> dict[str, Any]:
    """A table with a row for each aim: whether it holds, and the figure nearest to missing it."""
    columns = ["aim", "holds", "nearest to it, or furthest beyond it", "argued in"]
    rows = [_line(aim, tables) for aim in AIMS if aim.table in tables]
    return {"columns": columns, "labels": 1, "over": "holds", "rows": rows}


def _line(aim: Aim, tables: Tables) -> list[str]:
    rows = list(aim.rows(tables))
    beyond = [(place, row) for place, row in rows if aim.missed_by(row) > 0]
    place, row = max(rows, key=lambda each: aim.missed_by(each[1]))
    exceptions = [_exceptions(*each) for each in beyond]
    decisions = sorted({each.decision for argued in exceptions for each in argued})
    return [
        f"{aim.words[0].upper()}{aim.words[1:]}",
        _holds(exceptions, len(rows)),
        f"{row[aim.column]} %: {', '.join(place[2:])}",
        ", ".join(map(_link, decisions)),
    ]


def _holds(exceptions: Sequence[Sequence[Argued]], figures: int) -> str:
    """`exceptions`: of each figure that is beyond the aim."""
    words = [each.says for argued in exceptions for each in argued[:1] if each.says]
    missed_ones = len(exceptions) - len(words)
    holds = f"but for {missed_ones} of {figures} figures" if missed_ones else "yes"
    said = [f"of {count} the page says “{text}”" for text, count in Counter(words).items()]
    return "; ".join([holds, *said])


def _link(decision: str) -> str:
    (record,) = DECISIONS.glob(f"{decision}-*.md")
    return f"[{decision}](decisions/{record.name})"
