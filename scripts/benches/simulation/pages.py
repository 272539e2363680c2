"""Pages of several servers: rows against a baseline, and all pairs."""

from collections.abc import Sequence
from itertools import combinations
from math import ceil, log
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from backend.stats.comparison import Page
from simulation.cells import SIZED, percent
from simulation.draws import Draw, Floats, Runs, values_of
from simulation.usual_tests import Pair, is_told_by_welch, pairs_by_games_howell, rows_by_dunnett

Flags = NDArray[np.bool_]


# Of the pages of 40 series, which have 780 pairs each, pairs are judged on every fourth.
PAIRS_ON_EACH = {40: 4}


def equals_cell(
    rng: np.random.Generator, repeats: int, *, draw: Draw, runs: Runs, series: int
) -> list[str]:
    """Pages of equal servers with a false row, and with a false pair: ours and the usual tests'."""
    of_rows, of_pairs = np.zeros(5), np.zeros(2)
    pairs, every = list(combinations(range(series), 2)), PAIRS_ON_EACH.get(series, 1)
    for turn in range(repeats):
        samples, _ = draw(rng, np.zeros(series), runs)
        values, page = values_of(samples), Page(samples)
        by_welch = [is_told_by_welch(values[0], each) for each in values[1:]]
        of_rows += [np.any(each) for each in (*_told_rows(page, values), by_welch)]
        if turn % every == 0:
            of_pairs += [any(each) for each in _told_pairs(page, values, pairs)]
    return [
        *(percent(figure, repeats) for figure in of_rows),
        *(percent(figure, ceil(repeats / every)) for figure in of_pairs),
    ]


def differences_cell(
    rng: np.random.Generator,
    repeats: int,
    *,
    draw: Draw,
    runs: Runs,
    series: int,
    difference: float,
) -> list[str]:
    """The share of true differences that is told: half of the servers are faster than the rest."""
    faster = np.arange(series) >= series / 2
    pairs = [pair for pair in combinations(range(series), 2) if faster[pair[0]] < faster[pair[1]]]
    of_rows, of_pairs = np.zeros(4), np.zeros(2)
    every = PAIRS_ON_EACH.get(series, 1)
    for turn in range(repeats):
        samples, _ = draw(rng, np.where(faster, log(1 + difference), 0.0), runs)
        values, page = values_of(samples), Page(samples)
        of_rows += [each[faster[1:]].mean() for each in _told_rows(page, values)]
        if turn % every == 0:
            of_pairs += [fmean(each) for each in _told_pairs(page, values, pairs)]
    return [
        *(percent(figure, repeats) for figure in of_rows),
        *(percent(figure, ceil(repeats / every)) for figure in of_pairs),
    ]


def _told_rows(page: Page, values: Floats) -> list[Flags]:
    """Which rows are told, sized, and of uncertain size by ours; which are told by Dunnett."""
    rows = page.against(0, range(1, len(values)))
    return [
        np.array([row.significant for row in rows]),
        np.array([row.verdict in SIZED for row in rows]),
        np.array([row.verdict == "size_uncertain" for row in rows]),
        rows_by_dunnett(values),
    ]


def _told_pairs(page: Page, values: Floats, pairs: Sequence[Pair]) -> list[list[bool]]:
    """Which pairs are told by ours, and by Games and Howell."""
    ours = page.all_pairs()
    return [
        [ours.told_apart(*pair) for pair in pairs],
        pairs_by_games_howell(values, pairs),
    ]
