from math import log

import numpy as np
import pytest

from backend.stats.best import is_surely_behind
from backend.stats.comparison import Page, Rule
from backend.stats.replicates import Observation, Sample


def page_of(rng, centres, noises, trials):
    return Page(
        [
            Sample(tuple(Observation(float(v), "a") for v in rng.normal(centre, noise, trials)))
            for centre, noise in zip(centres, noises, strict=True)
        ]
    )


def best_of(page, better="higher"):
    """The index of the series that is surely ahead of all others; None where none is."""
    pairs = page.all_pairs(Rule(better))
    order = sorted(range(pairs.count), key=lambda index: page.series[index].centre)
    first, *others = order[::-1] if better == "higher" else order
    is_best = all(
        is_surely_behind(pairs.comparison(first, other), rivals=len(others), better=better)
        for other in others
    )
    return first if is_best else None


@pytest.mark.parametrize("noises", [[0.03] * 3, [0.01, 0.01, 0.3], [0.02] * 7 + [0.4]])
@pytest.mark.parametrize("trials", [3, 5])
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_among_equal_servers_a_best_is_seldom_named(noises, trials, better):
    """Equal servers are the worst case: any server that is named is wrong."""
    rng = np.random.default_rng(11)
    pages = 400
    named = sum(
        best_of(page_of(rng, [0.0] * len(noises), noises, trials), better) is not None
        for _ in range(pages)
    )
    assert named <= 0.05 * pages + 2 * (0.05 * 0.95 * pages) ** 0.5


def test_a_second_best_is_seldom_named():
    """The best is far more noisy, and truly ahead by nothing more than its noise."""
    rng = np.random.default_rng(12)
    named = [best_of(page_of(rng, [0.02, 0.0, -0.5], [0.2, 0.01, 0.01], 3)) for _ in range(400)]
    assert sum(each not in (None, 0) for each in named) <= 0.05 * 400 + 9


def test_a_noisy_last_server_hides_the_best_less_often_than_in_all_pairs():
    """Half the throughput, with trials that differ by 25 %."""
    rng = np.random.default_rng(13)
    named = apart = 0
    for _ in range(200):
        page = page_of(rng, [0.0, log(0.9), log(0.5)], [0.005, 0.005, 0.25], 4)
        named += best_of(page) == 0
        apart += all(page.all_pairs().told_apart(0, other) for other in (1, 2))
    assert named >= 0.75 * 200
    assert named >= apart + 0.1 * 200


def test_without_a_known_noise_nothing_is_sure():
    single = [Sample((Observation(value, "a"),)) for value in (1.0, 0.0)]
    comparison = Page(single).all_pairs().comparison(0, 1)
    assert not is_surely_behind(comparison, rivals=1)


def test_more_panels_ask_for_more():
    comparison = page_of(np.random.default_rng(14), [0.0, -0.07], [0.02] * 2, 4).all_pairs()
    behind = [
        is_surely_behind(comparison.comparison(0, 1), rivals=1, families=families)
        for families in (1, 1000)
    ]
    assert behind == [True, False]
