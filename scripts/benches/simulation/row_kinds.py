"""Which rows of the tables an aim, or an exception to it, is about: by their labels."""

from collections.abc import Callable, Mapping

from backend.stats.thresholds import LEAST_RUNS
from simulation.grid import (
    ALIKE,
    DISTURBED,
    FEW_SERIES,
    OWN_RUNS,
    ROUNDED,
    UNLIKE,
    UNLIKE_RUNS,
)

# The cells of a row by the heads of their columns.
Row = Mapping[str, str]
Rows = Callable[[Row], bool]


def has(**wanted: str) -> Rows:
    """By the labels of a row; `trials_of` is the column `trials of`."""
    return lambda row: all(row[name.replace("_", " ")] == text for name, text in wanted.items())


def is_of_equals(row: Row) -> bool:
    return row["true"] == "0 %"


def is_of_few_trials(row: Row) -> bool:
    """Up to 10 trials, in runs that the usual tests may take as independent."""
    kind, runs = kind_and_runs(row)
    return row["true"] != "0 %" and kind not in UNLIKE_RUNS and sum(map(int, runs)) <= 10


def kind_and_runs(row: Row) -> tuple[str, list[str]]:
    kind = row["trials of"] if "trials of" in row else row["servers in"]
    return kind, (row["n"] if "n" in row else row["trials"]).split(" + ")


def is_of_unlike_noise(row: Row) -> bool:
    return row["trials of"] in UNLIKE or row["trials of"] == FEW_SERIES


def is_of_unlike_noise_of_three(row: Row) -> bool:
    return is_of_unlike_noise(row) and row["n"] == "3"


def is_of_unlike_places(row: Row) -> bool:
    return row["noise"] != ALIKE and row["n"] == "3"


def is_rounded(row: Row) -> bool:
    return row["trials of"].startswith(ROUNDED)


def is_exact(row: Row) -> bool:
    return not is_rounded(row)


def is_disturbed(row: Row) -> bool:
    return row["trials of"] == DISTURBED


def has_few_slow_trials(row: Row) -> bool:
    """So few that one of them makes the interval wide."""
    return row["n"] in ("5", "10")


def is_of_start(row: Row) -> bool:
    """Of servers whose starts differ, in so few runs that they do not show it."""
    kind, runs = kind_and_runs(row)
    return kind == OWN_RUNS and len(runs) < LEAST_RUNS
