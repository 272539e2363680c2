"""Pages of several servers: rows against a baseline, and all pairs."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
from numpy.typing import NDArray

from backend.stats.comparison import Page
from simulation.draws import Floats, one_run
from simulation.usual_tests import is_told_by_welch, pairs_by_games_howell, rows_by_dunnett


def page_cell(
    rng: np.random.Generator,
    repeats: int,
    *,
    series: int,
    count: int,
    difference: float,
    unlike: bool,
) -> list[str]:
    """Rows against a baseline, then all pairs: ours and the usual test's.

    Equal servers (`difference` 0): pages with a false one. Else half of the servers are faster than
    the baseline: the share of true differences that are told.
    """
    faster = np.arange(series) >= series / 2
    sums = np.zeros(6)
    for _ in range(repeats):
        noises = (
            np.exp(rng.uniform(log(0.01), log(0.1), series)) if unlike else np.full(series, 0.03)
        )
        levels = np.where(faster, log(1 + difference), 0.0)
        values = levels[:, None] + rng.normal(size=(series, count)) * noises[:, None]
        sums += _page_figures(values, faster, difference > 0)
    sums /= repeats
    return [f"{100 * share:.1f}" for share in sums]


def _page_figures(values: Floats, faster: NDArray[np.bool_], has_difference: bool) -> Floats:
    series, count = values.shape
    page = Page([one_run(each) for each in values])
    rows = page.against(0, range(1, series))
    means, variances = values.mean(1), values.var(1, ddof=1)
    of_rows = [
        np.array([row.significant for row in rows]),
        np.array([row.verdict in ("improved", "regressed") for row in rows]),
        rows_by_dunnett(means, variances, count),
        np.array([is_told_by_welch(values[0], each) for each in values[1:]]),
    ]
    ours, usual = page.all_pairs(), pairs_by_games_howell(means, variances, count)
    pairs = list(combinations(range(series), 2))
    of_pairs = [
        np.array([ours.told_apart(*pair) for pair in pairs]),
        np.array([usual[pair] for pair in pairs]),
    ]
    if not has_difference:
        return np.array([told.any() for told in (*of_rows, *of_pairs)], dtype=float)
    differ = np.array([faster[first] != faster[second] for first, second in pairs])
    return np.array(
        [
            *(told[faster[1:]].mean() for told in of_rows),
            *(told[differ].mean() for told in of_pairs),
        ]
    )
