"""How sure each interval must be, where a build is judged again after each of its runs."""

from math import log, log1p, sqrt
from statistics import NormalDist

from backend.stats.replicates import CONFIDENCE

# The normal quantile of the last interval of so many (1, 2 …) that hold together at 95 %, with
# equal steps of information between them: Wang & Tsiatis, Biometrics 1987, Δ = 0.25; also Jennison
# & Turnbull, *Group Sequential Methods*, 2000, section 2.6.
_LAST_QUANTILES = (1.960, 2.038, 2.083, 2.113, 2.136, 2.154, 2.168, 2.180, 2.190, 2.199)
MOST_RUNS = len(_LAST_QUANTILES)


def intervals_shared(runs: int, most_runs: int) -> float:
    """How many intervals would share the 5 % equally, each as wide as that of a build of `runs`.

    All intervals that a build gets with 1 to `most_runs` runs then hold together at 95 %. An early
    one is wide, so that the last is nearly as narrow as if it were the only one: its quantile
    falls with the fourth root of the runs. With `most_runs` of 1 or fewer runs than the build has,
    the interval is the last. `most_runs`: 1 to `MOST_RUNS`.
    """
    quantile = _LAST_QUANTILES[most_runs - 1] * sqrt(sqrt(most_runs / min(runs, most_runs)))
    error = 2 * NormalDist().cdf(-quantile) if most_runs > 1 else 1 - CONFIDENCE
    return log(CONFIDENCE) / log1p(-error)
