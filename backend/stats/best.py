"""Whether a series is worse than the best of its page."""

from msgspec.structs import replace

from backend.stats.comparison import Comparison
from backend.stats.ratio import Better
from backend.stats.replicates import CONFIDENCE
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
    confidence = CONFIDENCE ** (1 / (families * rivals))
    one_sided = replace(precision, quantile=t_quantile(confidence, precision.freedom))
    loss = -comparison.value if better == "higher" else comparison.value
    return loss > one_sided.half_width
