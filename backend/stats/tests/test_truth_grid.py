"""The tables that scripts/bench truth prints have every combination that was promised."""

import json
from itertools import product
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[3] / "scripts" / "benches" / "truth.json"
COUNTS = ["3", "5", "10", "30"]
# In one run, without an effect of the run.
KINDS = [
    "CV 2 %",
    "CV 3 %",
    "CV 10 %",
    "10 % disturbed, CV 3 %",
    "rounds share 5 %, CV 1 %",
    "10 ms in whole ms, CV 3 %",
]
# With a run effect of 3 %: 3, 5, 10 and 30 trials.
RUNS = ["3", "5", "5 + 5", "3 + 2 + 5 + 20"]
KINDS_OF_RUNS = [
    "different runs",
    "the same runs, effects of each server",
    "the same runs, shared effects",
]
# The share of the trials of equal servers that are slower.
SLOWER = ["10 %", "20 %", "25 %", "30 %"]
POWER = ["2 %", "5 %", "10 %", "30 %"]
SERIES = ["8", "16", "40"]
SIZES = ["improved or regressed %", "size uncertain %"]
WELCH_AND_RANKS = ["Welch %", "Mann–Whitney %"]


@pytest.fixture(scope="module")
def tables():
    return json.loads(RESULTS.read_text())["tables"]


@pytest.mark.parametrize(
    ("table", "columns", "labels"),
    [
        (
            "intervals",
            ["covers %", "half-width %"],
            [*product(KINDS, COUNTS), *product(["runs differ by 3 %"], RUNS)],
        ),
        (
            "pairs",
            ["told apart %", *SIZES, *WELCH_AND_RANKS],
            list(product(KINDS, ["0 %", *POWER], COUNTS)),
        ),
        (
            "slow-trials",
            ["told apart %", "improved or regressed %", "ratio covers %", "figure covers %"],
            list(product(SLOWER, ["5 %", "10 %", "20 %"], ["5", "10", "20", "30"])),
        ),
        (
            "runs",
            ["told apart %", *SIZES, *WELCH_AND_RANKS],
            list(product(KINDS_OF_RUNS, ["0 %", *POWER], RUNS)),
        ),
        (
            "pages",
            ["rows told %", *SIZES, "Dunnett %", "Welch %", "pairs told %", "Games–Howell %"],
            [*product(KINDS, SERIES, COUNTS), *product(KINDS_OF_RUNS, SERIES, RUNS)],
        ),
        (
            "page-differences",
            ["rows told %", *SIZES, "Dunnett %", "pairs told %", "Games–Howell %"],
            [
                *product(KINDS, POWER, SERIES, COUNTS),
                *product(KINDS_OF_RUNS, POWER, SERIES, RUNS),
            ],
        ),
    ],
)
def test_every_combination_is_printed(tables, table, columns, labels):
    figures = {
        tuple(row[: tables[table]["labels"]]): dict(zip(tables[table]["columns"], row, strict=True))
        for row in tables[table]["rows"]
    }
    assert [each for each in labels if each not in figures] == []
    # Every named figure is a number; the half-width has a sign.
    for each, column in product(labels, columns):
        float(figures[each][column].removeprefix("± "))
