"""Whether the trials of a load point depend on those before them."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

from backend.runs.checks.check import CellInput, CellRule
from backend.stats.student import incomplete_beta

# Fewer trials show a dependence too seldom.
LAG_TRIALS = 10
# Independent trials look as dependent in at most this share of load points.
LAG_CHANCE = 0.005


def _find_dependence(cell: CellInput) -> str | None:
    rates = cell.rates
    if not follow_each_other(rates):
        return None
    return (
        f"The {len(rates)} trials follow one another more closely than chance explains "
        f"(correlation {_lag_correlation(rates):.2f})."
    )


def follow_each_other(values: Sequence[float]) -> bool:
    """Whether trials in order are told to depend on those before them."""
    return len(values) >= LAG_TRIALS and lag_chance(values) <= LAG_CHANCE


def lag_chance(values: Sequence[float]) -> float:
    """The chance that independent values follow each other as closely (Bartels 1982).

    The ratio of von Neumann of the ranks; ÷ 4 it has a beta distribution, from 10 values on to two
    digits of the chance. 1 if all values are equal.
    """
    ranks = ranks_of(values)
    n, middle = len(ranks), (len(ranks) + 1) / 2
    squares = sum((rank - middle) ** 2 for rank in ranks)
    if not squares:
        return 1.0
    ratio = sum((after - before) ** 2 for before, after in pairwise(ranks)) / squares
    variance = 4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2)
    shape = 2 / variance - 0.5
    return incomplete_beta(ratio / 4, shape, shape)


def ranks_of(values: Sequence[float]) -> list[float]:
    """The rank of each value; equal values share their mean rank."""
    in_order = sorted(values)
    first = {value: place for place, value in reversed(list(enumerate(in_order, 1)))}
    counts = Counter(values)
    return [first[value] + (counts[value] - 1) / 2 for value in values]


def _lag_correlation(values: Sequence[float]) -> float:
    mean = fmean(values)
    distances = [value - mean for value in values]
    products = sum(before * after for before, after in pairwise(distances))
    return products / sum(distance * distance for distance in distances)


DEPENDENCE_RULES = (
    CellRule(
        id="dependent",
        severity="warning",
        title="Trials depend on earlier trials",
        explanation=f"{LAG_TRIALS} or more trials follow one another more closely than independent "
        f"trials do in {1 - LAG_CHANCE:.1%} of load points. Intervals assume independent trials, "
        "so this interval is too narrow. The machine or the server changes slowly, and more "
        "trials in a row do not show how far.".replace("%", " %"),
        remedy="Measure the servers in turns, restart them before each repeat, or add runs on "
        "other days.",
        source="Bartels (1982), The Rank Version of von Neumann's Ratio Test for Randomness, "
        "Journal of the American Statistical Association 77(377)",
        find=_find_dependence,
    ),
)
