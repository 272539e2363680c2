"""Pages of several servers: rows against a baseline, and all pairs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import log

import numpy as np
from numpy.typing import NDArray

from backend.stats.comparison import Page
from simulation.draws import Floats, one_run
from simulation.usual_tests import is_told_by_welch, pairs_by_games_howell, rows_by_dunnett

ALIKE, FEW_SERIES = "CV 3 %", "CV 2 %, baseline 20 %"


def _noisy(place: int, noise: float) -> Callable[[np.random.Generator, int], Floats]:
    return lambda _rng, series: np.where(np.arange(series) == place, noise, 0.02)


# The coefficients of variation of the trials of each series; the first is the baseline.
NOISES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    ALIKE: lambda _rng, series: np.full(series, 0.03),
    "CV 1 to 10 %": lambda rng, series: np.exp(rng.uniform(log(0.01), log(0.1), series)),
    "CV 2 %, baseline 6 %": _noisy(0, 0.06),
    "CV 2 %, baseline 10 %": _noisy(0, 0.10),
    "CV 2 %, another 10 %": _noisy(1, 0.10),
    FEW_SERIES: _noisy(0, 0.20),
}


def page_cell(
    rng: np.random.Generator,
    repeats: int,
    *,
    series: int,
    count: int,
    difference: float,
    noise: str,
) -> list[str]:
    """Rows against a baseline, then all pairs: ours and the usual test's.

    Equal servers (`difference` 0): pages with a false one. Else half of the servers are faster than
    the baseline: the share of true differences that are told. `noise`: one of NOISES.
    """
    faster = np.arange(series) >= series / 2
    sums = np.zeros(6)
    for _ in range(repeats):
        noises = NOISES[noise](rng, series)
        levels = np.where(faster, log(1 + difference), 0.0)
        values = levels[:, None] + rng.normal(size=(series, count)) * noises[:, None]
        sums += _page_figures(values, faster, difference > 0)
    sums /= repeats
    return [f"{100 * share:.1f}" for share in sums]


def _page_figures(values: Floats, faster: NDArray[np.bool_], has_difference: bool) -> Floats:
    of_rows, of_pairs = _told_rows(values), _told_pairs(values)
    if not has_difference:
        return np.array([verdicts.any() for verdicts in (*of_rows, *of_pairs)], dtype=float)
    first, second = np.triu_indices(len(values), 1)
    differ = faster[first] != faster[second]
    means = [verdicts[faster[1:]].mean() for verdicts in of_rows]
    return np.array([*means, *(verdicts[differ].mean() for verdicts in of_pairs)])


def _told_rows(values: Floats) -> list[NDArray[np.bool_]]:
    """Which rows are told, and sized, by ours; which by Dunnett, and by Welch alone."""
    rows = Page([one_run(each) for each in values]).against(0, range(1, len(values)))
    return [
        np.array([row.significant for row in rows]),
        np.array([row.verdict in ("improved", "regressed") for row in rows]),
        rows_by_dunnett(values.mean(1), values.var(1, ddof=1), values.shape[1]),
        np.array([is_told_by_welch(values[0], each) for each in values[1:]]),
    ]


def _told_pairs(values: Floats) -> list[NDArray[np.bool_]]:
    """Which pairs are told by ours, and by Games and Howell."""
    ours = Page([one_run(each) for each in values]).all_pairs()
    usual = pairs_by_games_howell(values.mean(1), values.var(1, ddof=1), values.shape[1])
    pairs = list(combinations(range(len(values)), 2))
    return [
        np.array([ours.told_apart(*pair) for pair in pairs]),
        np.array([usual[pair] for pair in pairs]),
    ]
