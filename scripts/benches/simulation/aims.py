"""What the tables must show, and the rows for which a decision record argues something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, str]
# A table, a column of it, and the labels of a row.
Place = tuple[str, ...]
Tables = Mapping[str, Any]
TOLD, SIZED = "told apart %", "improved or regressed %"
ROWS, PAIRS = "rows told %", "pairs told %"
PLACES = "every place true %"
EQUAL_NOISE = "CV 3 %"


@dataclass(frozen=True)
class Aim:
    """What a column of a table must show. `of`: in which rows."""

    table: str
    column: str
    is_met: Callable[[float, Row], bool]
    of: Callable[[Row], bool] = lambda _row: True

    def holds(self, row: Row) -> bool:
        return self.is_met(float(row[self.column]), row)


@dataclass(frozen=True)
class Argued:
    """Rows that miss the aim of their column, and what they must show instead.

    `decision`: the number of the record that argues it.
    """

    decision: str
    aim: Aim

    def covers(self, table: str, column: str, row: Row) -> bool:
        aim = self.aim
        return (table, column) == (aim.table, aim.column) and aim.of(row) and aim.holds(row)


def _between(least: float, most: float) -> Callable[[float, Row], bool]:
    return lambda figure, _row: least <= figure <= most


def _at_least_as(column: str, *, below: float = 0.0) -> Callable[[float, Row], bool]:
    return lambda figure, row: round(float(row[column]) - figure, 1) <= below


def _has(**wanted: str) -> Callable[[Row], bool]:
    """By the labels of a row; `trials_of` is the column `trials of`."""
    return lambda row: all(row[name.replace("_", " ")] == text for name, text in wanted.items())


def _is_of_equals(row: Row) -> bool:
    return row["true"] == "0 %"


def _differs(row: Row) -> bool:
    return row["true"] != "0 %" and int(row["n"]) <= 10


def _is_of_unlike_noise(row: Row) -> bool:
    return _is_of_equals(row) and row["noise"] != EQUAL_NOISE


def _is_of_unlike_noise_and_three(row: Row) -> bool:
    return row["noise"] != EQUAL_NOISE and row["n"] == "3"


def _is_coarse(row: Row) -> bool:
    """Of noise that is smaller than the step of the tool."""
    return row["trials of"] in ("10 ms in whole ms, CV 0.5 %", "10 ms in whole ms, CV 3 %")


COVERS = _between(93, 97)
SHARED, DISTURBED = "rounds share 5 %, CV 1 %", "10 % disturbed, CV 3 %"
AIMS = (
    Aim("intervals", "covers %", COVERS),
    Aim("two-stage", "covers %", COVERS),
    # Where equal servers are told apart, the interval of their ratio misses 1x.
    Aim("pairs", TOLD, _between(3, 7), _is_of_equals),
    Aim("runs", TOLD, _between(3, 7), _is_of_equals),
    Aim("pages", ROWS, _between(0, 7), _is_of_equals),
    Aim("pages", PAIRS, _between(0, 7), _is_of_equals),
    Aim("pairs", SIZED, _between(0, 5), _is_of_equals),
    Aim("pages", SIZED, _between(0, 5), _is_of_equals),
    Aim("winners", "another taken %", _between(0, 5)),
    Aim("winners", PLACES, _between(93, 100)),
    Aim("pairs", TOLD, _at_least_as("Welch %"), _differs),
    Aim("pages", ROWS, _at_least_as("Dunnett %"), _differs),
    Aim("pages", PAIRS, _at_least_as("Games–Howell %"), _differs),
    Aim("pairs", TOLD, _between(90, 100), _has(trials_of=SHARED, true="3 %", n="5")),
    Aim("pairs", TOLD, _between(60, 100), _has(trials_of=DISTURBED, true="5 %", n="10")),
    Aim("advice", "wrong at last %", _between(0, 2)),
    Aim("saturation", "wrong %", _between(0, 5)),
    Aim("changes", "without a change %", _between(0, 5)),
)
# Of pages of unlike noise, by the number of trials.
_MOST_TOLD = {"3": 27.0, "5": 14.0, "10": 7.5, "30": 7.0}
_UNLIKE = Aim(
    "pages", ROWS, lambda figure, row: figure <= _MOST_TOLD[row["n"]], _is_of_unlike_noise
)
EXCEPTIONS = (
    # The name of the interval says that it is widened for rounding.
    Argued("0050", Aim("intervals", "covers %", _between(97, 99.9), _is_coarse)),
    Argued("0050", Aim("two-stage", "covers %", _between(97, 99), _has(n="10"))),
    Argued(
        "0050",
        Aim("pairs", TOLD, _between(1, 3), _has(trials_of=DISTURBED, true="0 %", n="5")),
    ),
    # The sentence says "in this run".
    Argued(
        "0021",
        Aim(
            "runs",
            TOLD,
            _between(7, 40),
            _has(servers_in="the same runs, effects of each server", trials="5"),
        ),
    ),
    Argued("0032", Aim("changes", "without a change %", _between(5, 12), _has(correlation="0.8"))),
    Argued(
        "0062",
        Aim("pages", SIZED, _between(5, 6.5), _has(noise="CV 2 %, baseline 20 %", n="3")),
    ),
    Argued("0062", _UNLIKE),
    Argued("0062", Aim("pages", PAIRS, _UNLIKE.is_met, _is_of_unlike_noise)),
    Argued("0062", Aim("winners", PLACES, _between(85, 93), _is_of_unlike_noise_and_three)),
    Argued("0050", Aim("pages", ROWS, _at_least_as("Dunnett %", below=1.3), _differs)),
)


def missed(tables: Tables) -> Iterator[tuple[Place, Row]]:
    """Where a table does not show what it must."""
    for aim in AIMS:
        table = tables.get(aim.table, {"rows": ()})
        for cells in table["rows"]:
            row = dict(zip(table["columns"], cells, strict=True))
            if aim.of(row) and not aim.holds(row):
                yield (aim.table, aim.column, *cells[: table["labels"]]), row


def unargued(tables: Tables) -> list[Place]:
    """The places where an aim is missed and no decision record argues why."""
    return [
        place
        for place, row in missed(tables)
        if not any(each.covers(place[0], place[1], row) for each in EXCEPTIONS)
    ]


def unneeded(tables: Tables) -> list[Argued]:
    """The exceptions of which no row misses its aim any more."""
    places = list(missed(tables))
    return [
        each
        for each in EXCEPTIONS
        if not any(each.covers(place[0], place[1], row) for place, row in places)
    ]
