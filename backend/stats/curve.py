"""The latency percentile curve of a histogram: its tail on an axis of "nines".

Points are evenly spaced on −log10(1 − p), where p90, p99 and p99.9 are one step of 1 apart (as
HdrHistogram plots it), and stop where fewer than `LEAST_BEYOND`
requests are slower: one more would move the point.
"""

from typing import Final

from backend.stats.histogram import Histogram

LEAST_BEYOND = 10
# p50, then every tenth of a nine from 0.4 (p60.2) to 5 (p99.999).
PERCENTS: Final = (50.0, *(round(100 - 100 * 10 ** (-tenth / 10), 5) for tenth in range(4, 51)))

Curve = list[list[float]]


def percentile_curve(histogram: Histogram) -> Curve:
    """[[percent, µs], …], at most 48, rising; each µs is `histogram.percentile` of its percent.

    Only percents with at least 10 slower requests, so a histogram below 20 requests has none.
    """
    count = histogram.count
    percents = [percent for percent in PERCENTS if _beyond(count, percent) >= LEAST_BEYOND]
    values = histogram.percentiles(percents)
    return [[percent, us] for percent, us in zip(percents, values, strict=True) if us is not None]


def _beyond(count: int, percent: float) -> float:
    # Rounded as the rank is: of 1000 requests, 10 are beyond p99.
    return round(count * (100 - percent) / 100, 6)
