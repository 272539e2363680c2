"""What the tables must show, and the rows for which a decision record argues something else."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simulation.grid import DISTURBED, IN_TURN, ONE_START, SHARED
from simulation.row_kinds import (
    Row,
    Rows,
    has,
    has_few_slow_trials,
    is_disturbed,
    is_exact,
    is_of_equals,
    is_of_few_trials,
    is_of_start,
    is_of_unlike_noise,
    is_of_unlike_noise_of_three,
    is_of_unlike_places,
    is_rounded,
)

# A table, a column of it, and the labels of a row.
Place = tuple[str, ...]
Tables = Mapping[str, Any]
# How far a figure is beyond what it must be; 0 or less where it is not.
Excess = Callable[[float, Row], float]
TOLD, SIZED = "told apart %", "improved or regressed %"
ROWS, PAIRS = "rows told %", "pairs told %"
PLACES = "every place true %"
UNQUALIFIED = "without a reason %"


def _all(_row: Row) -> bool:
    return True


@dataclass(frozen=True)
class Aim:
    """What a column of a table must show. `of`: in which rows."""

    # They say the whole aim: a reader of the page need not know the column of another table.
    words: str
    table: str
    column: str
    excess: Excess
    of: Rows = _all

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


COVERS = _between(93, 97)
AT_MOST_5 = _at_most(5)
# Where equal servers are told apart, an interval misses 1x.
TELLS_FEW = _at_most(7)
# Tables of trials that lose something, and their words.
_LOSSES = {"slow-trials": "some trials slower", "skew": "losses that are mostly small"}


def _of_losses(table: str, words: str) -> Iterator[Aim]:
    lead = f"two equal servers, {words}: "
    yield Aim(f"{lead}the ratio excludes 1× in at most 7 % of cases", table, TOLD, TELLS_FEW)
    yield Aim(f"{lead}one is improved or regressed in at most 2 %", table, SIZED, _at_most(2))
    yield Aim(f"{lead}the ratio's interval holds 1× in 93–97 %", table, "ratio covers %", COVERS)


AIMS = (
    Aim(
        "figure of one series: its interval holds the true value in 93–97 % of cases",
        "intervals",
        "covers %",
        COVERS,
    ),
    Aim(
        "rounded latency: its interval holds the true value in 93 % of cases or more,"
        " wherever this value lies between two steps",
        "rounding",
        "covers at the worst %",
        _between(93, 100),
    ),
    Aim(
        "rounded latencies of two equal servers: the ratio excludes 1× in at most 7 % of cases,"
        " wherever the latency lies between two steps",
        "rounding",
        "equal servers told apart at the worst %",
        TELLS_FEW,
    ),
    Aim(
        "plan with `[adaptive]`, in two stages: the interval holds the true value in 93–97 %"
        " of cases",
        "two-stage",
        "covers %",
        COVERS,
    ),
    Aim(
        "two equal servers: the interval of their ratio excludes 1× in 3–7 % of cases",
        "pairs",
        TOLD,
        _between(3, 7),
        is_of_equals,
    ),
    Aim(
        "two equal servers, runs that differ: the interval of their ratio excludes 1× in 3–7 %",
        "runs",
        TOLD,
        _between(3, 7),
        is_of_equals,
    ),
    Aim(
        "two equal servers: one is called improved or regressed in at most 5 % of cases",
        "pairs",
        SIZED,
        AT_MOST_5,
        is_of_equals,
    ),
    Aim(
        "two equal servers, runs that differ: one is called improved or regressed in at most 5 %",
        "runs",
        SIZED,
        AT_MOST_5,
        is_of_equals,
    ),
    Aim(
        "page of equal servers: a server is called improved or regressed on at most 5 % of pages",
        "pages",
        SIZED,
        AT_MOST_5,
    ),
    Aim(
        "page of equal servers: a ratio to the baseline excludes 1× on at most 7 % of pages",
        "pages",
        ROWS,
        TELLS_FEW,
    ),
    Aim(
        "page of equal servers: a ratio of two servers excludes 1× on at most 7 % of pages",
        "pages",
        PAIRS,
        TELLS_FEW,
    ),
    Aim(
        "a server that is not the only best one is recommended on at most 5 % of pages",
        "winners",
        "another taken %",
        AT_MOST_5,
    ),
    Aim(
        "every tier holds the true place of its server on 93 % of pages or more",
        "winners",
        PLACES,
        _between(93, 100),
    ),
    Aim(
        "two servers that differ: the difference is found as often as by Welch's test"
        " (up to 10 trials)",
        "pairs",
        TOLD,
        _at_least_as("Welch %"),
        is_of_few_trials,
    ),
    Aim(
        "two servers that differ, in runs that affect both alike: the difference is found as often"
        " as by Welch's test (up to 10 trials)",
        "runs",
        TOLD,
        _at_least_as("Welch %"),
        is_of_few_trials,
    ),
    Aim(
        "page of servers that differ: differences from the baseline are found as often as by"
        " Dunnett's test (up to 10 trials)",
        "page-differences",
        ROWS,
        _at_least_as("Dunnett %"),
        is_of_few_trials,
    ),
    Aim(
        "page of servers that differ: differences between two servers are found as often as by"
        " Games & Howell's test (up to 10 trials)",
        "page-differences",
        PAIRS,
        _at_least_as("Games–Howell %"),
        is_of_few_trials,
    ),
    Aim(
        "5 trials, noise of 5 % that both servers share in each round: a difference of 3 % is found"
        " in 90 % of cases or more",
        "pairs",
        TOLD,
        _between(90, 100),
        has(trials_of=SHARED, true="3 %", n="5"),
    ),
    *(aim for table, words in _LOSSES.items() for aim in _of_losses(table, words)),
    Aim(
        "two equal servers, 20 trials or more that follow each other: one is improved or regressed"
        " without a warning in at most 5 % of cases",
        "dependence",
        "without a warning %",
        AT_MOST_5,
        lambda row: int(row["n"]) >= 20,
    ),
    Aim(
        "two equal servers of different runs, 1 to 10 runs of history: the ratio excludes 1× in at"
        " most 6 % of cases",
        "histories",
        TOLD,
        _at_most(6),
    ),
    Aim(
        "equal servers whose starts differ by 2 %: a verdict that is not “Use with care” is given"
        " in at most 5 % of cases",
        "starts",
        UNQUALIFIED,
        AT_MOST_5,
    ),
    Aim(
        "equal servers that are started again: two are told apart in at most 7 % of cases",
        "starts",
        TOLD,
        TELLS_FEW,
        lambda row: row["starts"] != ONE_START,
    ),
    Aim(
        "equal servers on a machine that gets slower by 6 %: a verdict that is not “Use with"
        " care” is given in at most 5 % of cases",
        "order",
        UNQUALIFIED,
        AT_MOST_5,
    ),
    Aim(
        "two equal servers in turn, on a machine that gets slower by 6 %: the ratio excludes 1× in"
        " at most 7 % of cases",
        "order",
        TOLD,
        TELLS_FEW,
        has(order=IN_TURN),
    ),
    Aim(
        "adding trials by the page's advice until it has a verdict: wrong in at most 2 % of cases",
        "advice",
        "wrong at last %",
        _at_most(2),
    ),
    Aim(
        "a wrong saturation point is named in at most 5 % of sweeps",
        "saturation",
        "wrong %",
        AT_MOST_5,
    ),
    Aim(
        "a change point is named in at most 5 % of series in which nothing changed",
        "changes",
        "without a change %",
        AT_MOST_5,
    ),
)
# Of pages of unlike noise, by the number of trials.
_MOST_TOLD = {"3": 27.0, "5": 17.0, "10": 8.0, "30": 8.0}


def _at_most_told(figure: float, row: Row) -> float:
    return figure - _MOST_TOLD[row["n"]]


WIDER, IN_RUN = "widened for rounding", "in this run"
EXCEPTIONS = (
    Argued("0050", "intervals", "covers %", _between(97, 100), is_rounded, WIDER),
    Argued("0074", "intervals", "covers %", _between(65, 93), is_disturbed),
    Argued("0074", "slow-trials", "ratio covers %", _between(97, 99), has_few_slow_trials),
    Argued("0050", "two-stage", "covers %", _between(97, 99), has(n="10")),
    Argued(
        "0050",
        "pairs",
        TOLD,
        _between(0, 3),
        lambda row: is_rounded(row) and is_of_equals(row),
        WIDER,
    ),
    Argued(
        "0050",
        "pairs",
        TOLD,
        _between(0, 100),
        lambda row: is_rounded(row) and not is_of_equals(row),
    ),
    Argued("0050", "page-differences", ROWS, _between(0, 100), is_rounded),
    Argued("0050", "page-differences", PAIRS, _between(0, 100), is_rounded),
    Argued(
        "0074", "pairs", TOLD, _between(1, 3), lambda row: is_disturbed(row) and is_of_equals(row)
    ),
    Argued("0074", "page-differences", ROWS, _at_least_as("Dunnett %", below=2.5), is_disturbed),
    Argued(
        "0074",
        "page-differences",
        ROWS,
        _at_least_as("Dunnett %", below=18.5),
        has(trials_of=DISTURBED, true="30 %", n="10"),
    ),
    Argued(
        "0074", "page-differences", PAIRS, _at_least_as("Games–Howell %", below=16), is_disturbed
    ),
    Argued("0050", "page-differences", ROWS, _at_least_as("Dunnett %", below=1.3), is_exact),
    Argued("0050", "page-differences", PAIRS, _at_least_as("Games–Howell %", below=0.5), is_exact),
    Argued("0077", "histories", TOLD, _between(6, 25), has(runs_differ_by="5 %")),
    # Of two runs, the sentence says "in the 2 runs".
    Argued("0021", "runs", TOLD, _between(7, 45), is_of_start, IN_RUN),
    Argued("0021", "runs", SIZED, _between(5, 20), is_of_start, IN_RUN),
    Argued("0021", "pages", ROWS, _between(7, 100), is_of_start, IN_RUN),
    Argued("0021", "pages", SIZED, _between(5, 100), is_of_start, IN_RUN),
    Argued("0021", "pages", PAIRS, _between(7, 100), is_of_start, IN_RUN),
    Argued("0032", "changes", "without a change %", _between(5, 12), has(correlation="0.8")),
    Argued("0062", "pages", SIZED, _at_most(6.5), is_of_unlike_noise_of_three),
    Argued("0062", "pages", ROWS, _at_most_told, is_of_unlike_noise),
    Argued("0062", "pages", PAIRS, _at_most_told, is_of_unlike_noise),
    Argued("0062", "winners", PLACES, _between(85, 93), is_of_unlike_places),
)


def missed(tables: Tables) -> Iterator[tuple[Place, Row]]:
    """Where a table does not show what it must."""
    for aim in AIMS:
        for place, row in aim.rows(tables):
            if aim.missed_by(row) > 0:
                yield place, row


def unargued(tables: Tables) -> list[Place]:
    """The places where an aim is missed and no decision record argues why."""
    return [place for place, row in missed(tables) if not exceptions_of(place, row)]


def exceptions_of(place: Place, row: Row) -> list[Argued]:
    return [each for each in EXCEPTIONS if each.covers(place, row)]


def unneeded(tables: Tables) -> list[Argued]:
    """The exceptions of which no row misses its aim any more."""
    places = list(missed(tables))
    return [
        each for each in EXCEPTIONS if not any(each.covers(place, row) for place, row in places)
    ]
