"""Pages without a baseline: which server is taken, and the places of all."""

import numpy as np

from backend.stats.best import is_surely_behind, rank_sets
from backend.stats.comparison import AllPairs, Page
from simulation.cells import percent
from simulation.draws import Floats, alike, one_run
from simulation.grid import ALIKE, UNLIKE

# The coefficients of variation of the trials of each series; the first is the best.
NOISE_OF_PAGES = {
    ALIKE: alike(0.03),
    "CV 1 to 10 %": UNLIKE["CV 1 to 10 %"],
    "CV 2 %, the best 10 %": UNLIKE["CV 2 %, baseline 10 %"],
}
# The level of the best of the page, and of the second, over all others.
LEVELS: dict[str, tuple[float, float]] = {
    "all equal": (0.0, 0.0),
    "two best, 10 % ahead": (0.10, 0.10),
    "second by 1 %, 10 % ahead": (0.10, 0.09),
    "one best, 5 % ahead": (0.05, 0.0),
    "one best, 10 % ahead": (0.10, 0.0),
}


def winner_cell(
    rng: np.random.Generator, repeats: int, *, series: int, count: int, level: str, noise: str
) -> list[str]:
    """Pages that take a server which is not the best; that take the best; with every place true.

    `level`: one of LEVELS. `noise`: one of NOISE_OF_PAGES. Of equal servers none is the best.
    """
    levels = np.log1p([*LEVELS[level], *[0.0] * (series - 2)])
    wrong = right = placed = 0
    for _ in range(repeats):
        noises = NOISE_OF_PAGES[noise](rng, series)
        values = levels[:, None] + rng.normal(size=(series, count)) * noises[:, None]
        pairs = Page([one_run(each) for each in values]).all_pairs()
        taken = _taken(pairs, values)
        is_best = taken == 0 and levels[0] > levels[1]
        right += is_best
        wrong += taken is not None and not is_best
        placed += _are_true(rank_sets(pairs), levels)
    return [percent(figure, repeats) for figure in (wrong, right, placed)]


def _taken(pairs: AllPairs, values: Floats) -> int | None:
    """The server that the first line takes; see `Ranking.is_led_beyond_doubt`."""
    first, second, *_ = (int(place) for place in np.argsort(-values.mean(1)))
    if pairs.comparison(second, first).verdict != "improved":
        return None
    rivals = pairs.count - 1
    is_ahead = all(
        is_surely_behind(pairs.comparison(first, other), rivals=rivals)
        for other in range(pairs.count)
        if other != first
    )
    return first if is_ahead else None


def _are_true(places: list[tuple[int, int]], levels: Floats) -> bool:
    """Whether the places of each series hold all that its level allows; equals share places."""
    return all(
        first <= 1 + (levels > level).sum() and last >= (levels >= level).sum()
        for (first, last), level in zip(places, levels, strict=True)
    )
