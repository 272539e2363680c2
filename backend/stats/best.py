"""The places that the series of a page may have, and whether one is worse than the best."""

from itertools import combinations

from msgspec.structs import replace

from backend.stats.comparison import AllPairs, Comparison
from backend.stats.ratio import Better
from backend.stats.replicates import shared_confidence
from backend.stats.student import t_quantile


def is_surely_behind(
    comparison: Comparison, *, rivals: int, better: Better = "higher", families: int = 1
) -> bool:
    """Whether `other` of a comparison is worse than its base, which is the best of the page.

    `rivals`: how many series the best is held against. `families`: how many such panels the page
    shows. In 95 % of pages, no series is called the best that is not: multiple comparisons with the
    best (Hsu, Annals of Statistics 1984) have intervals with one side, which are narrower than
    those of all pairs. Šidák's quantile stands in for Dunnett's, which is smaller. False where the
    noise is unknown.
    """
    precision = comparison.precision
    if precision is None:
        return False
    confidence = shared_confidence(families * rivals)
    one_sided = replace(precision, quantile=t_quantile(confidence, precision.freedom))
    loss = -comparison.value if better == "higher" else comparison.value
    return loss > one_sided.half_width


def rank_sets(
    pairs: AllPairs, *, better: Better = "higher", unplaced: int = 0
) -> list[tuple[int, int]]:
    """The places (first, last) that each sample may have, all true at once in 95 % of pages.

    `unplaced`: how many more series are ranked, but have no sample and so may have any place.

    Confidence sets for ranks: Mogstad, Romano, Shaikh & Wilhelm (Review of Economic Studies 2024).
    """
    ahead, behind = [0] * pairs.count, [0] * pairs.count
    for base, other in combinations(range(pairs.count), 2):
        comparison = pairs.comparison(base, other)
        if not comparison.significant:
            continue
        is_base_first = (comparison.value < 0) == (better == "higher")
        first, second = (base, other) if is_base_first else (other, base)
        behind[first] += 1
        ahead[second] += 1
    last = pairs.count + unplaced
    return [(ahead[index] + 1, last - behind[index]) for index in range(pairs.count)]
