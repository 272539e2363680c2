"""The figures that load tools print of a trial."""

from dataclasses import dataclass, field

import numpy as np

from backend.testing.made.requests import Floats, MadeTrial


@dataclass(slots=True)
class PrintedFigures:
    """What a tool computes before it prints. Latencies in µs; a planted mistake changes them."""

    count: int
    elapsed_s: float
    rate_rps: float
    mean_us: float
    deviation_us: float
    min_us: float
    max_us: float
    percentiles_us: dict[str, float] = field(default_factory=dict)

    def swap(self, low: str, high: str) -> None:
        """Print each percentile under the name of the other."""
        table = self.percentiles_us
        if low in table and high in table:
            table[low], table[high] = table[high], table[low]


PERCENTILES = ("10", "25", "50", "66", "75", "80", "90", "95", "97.5", "98", "99", "99.9", "99.99")


def figures_of(trial: MadeTrial) -> PrintedFigures:
    """The figures of all requests; percentiles by nearest rank."""
    return _figures(trial, trial.latency_us)


def corrected_figures_of(trial: MadeTrial) -> PrintedFigures:
    """As wrk 4 computes them: a request slower than two usual intervals adds made-up requests.

    wrk's `stats_correct` adds the latency less one interval, less two, and so on. Its percentiles
    are of these requests too.
    """
    interval_us = trial.elapsed_s * 1e6 / max(trial.count // trial.connections, 1)
    added = []
    slower = trial.latency_us[trial.latency_us >= 2 * interval_us] - interval_us
    while len(slower):
        added.append(slower)
        slower = slower - interval_us
        slower = slower[slower > interval_us]
    return _figures(trial, np.concatenate([trial.latency_us, *added]))


def _figures(trial: MadeTrial, latency_us: Floats) -> PrintedFigures:
    ordered = np.sort(latency_us)
    ranks = [max(int(np.ceil(float(name) / 100 * len(ordered))), 1) for name in PERCENTILES]
    return PrintedFigures(
        count=trial.count,
        elapsed_s=trial.elapsed_s,
        rate_rps=trial.count / trial.elapsed_s,
        mean_us=float(latency_us.mean()),
        deviation_us=float(latency_us.std()),
        min_us=float(ordered[0]),
        max_us=float(ordered[-1]),
        percentiles_us={
            name: float(ordered[rank - 1]) for name, rank in zip(PERCENTILES, ranks, strict=True)
        },
    )
