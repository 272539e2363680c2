"""Requests of a trial by simulation: when each began, and how long it took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MadeTrial:
    """The requests of one trial, in the order they began.

    `start_s` since the trial's start, `latency_us` and `status` (200, 500 …) have one value a
    request. `rate_rps` is what an open loop offered, `asked_s` how long the tool was to run.
    """

    connections: int
    elapsed_s: float
    start_s: Floats
    latency_us: Floats
    status: NDArray[np.int64]
    rate_rps: float | None = None
    asked_s: float | None = None

    @property
    def count(self) -> int:
        return len(self.latency_us)

    def first(self, count: int) -> MadeTrial:
        """The trial if it had ended after this many requests."""
        start_s, latency_us = self.start_s[:count], self.latency_us[:count]
        return replace(
            self,
            elapsed_s=float((start_s + latency_us / 1e6).max()),
            start_s=start_s,
            latency_us=latency_us,
            status=self.status[:count],
        )

    def with_latency(self, latency_us: Floats) -> MadeTrial:
        """The same requests with other latencies, each as it would be printed alone."""
        return replace(self, latency_us=latency_us)


Law = Callable[[Generator, tuple[int, ...]], Floats]


def draw_law(draw: Generator) -> Law:
    """A law of latencies with a median of about 1: one of seven shapes that servers show."""
    laws = (
        lognormal(draw.uniform(0.1, 0.7)),
        _gamma(draw.uniform(1.2, 15)),
        _shifted_exponential(draw.uniform(0.2, 0.8)),
        lambda rng, size: rng.uniform(0.1, 1.9, size),
        # A server that waits for a fixed time.
        lambda rng, size: 1 + np.abs(rng.normal(0, 0.02, size)),
        _cached(draw.uniform(0.01, 0.2), draw.uniform(1.5, 4)),
        _heavy_tailed(draw.uniform(3, 6)),
    )
    return laws[draw.integers(len(laws))]


def lognormal(width: float) -> Law:
    """Latencies whose logarithm is normal, with this standard deviation."""
    return lambda rng, size: np.exp(rng.normal(0, width, size))


def _gamma(form: float) -> Law:
    return lambda rng, size: rng.gamma(form, 1 / form, size)


def _shifted_exponential(base: float) -> Law:
    return lambda rng, size: base + rng.exponential(1 - base, size)


def _cached(misses: float, cost: float) -> Law:
    """A cache that misses now and then."""
    return lambda rng, size: (
        np.exp(rng.normal(0, 0.15, size)) * np.where(rng.random(size) < misses, cost, 1.0)
    )


def _heavy_tailed(tail: float) -> Law:
    return lambda rng, size: 0.8 + 0.2 * (1 + rng.pareto(tail, size))


def make_closed(
    draw: Generator,
    law: Law,
    *,
    median_us: float,
    connections: int,
    duration_s: float,
    stall_s: tuple[float, float] | None = None,
) -> MadeTrial:
    """Connections that each send the next request when the response before has come.

    `stall_s`: from when on, and for how long, the server answers nothing.
    """
    each = ceil(1.5 * duration_s * 1e6 / median_us) + 20
    latency_us = law(draw, (connections, each)) * median_us
    end_s = np.cumsum(latency_us, axis=1) / 1e6
    start_s = end_s - latency_us / 1e6
    if stall_s is not None:
        begin, length = stall_s
        is_hit = (start_s < begin) & (end_s >= begin)
        latency_us = latency_us + is_hit * length * 1e6
        start_s = start_s + (start_s >= begin) * length
        end_s = start_s + latency_us / 1e6
    is_counted = end_s <= duration_s
    start_s, latency_us = start_s[is_counted], latency_us[is_counted]
    order = np.argsort(start_s, kind="stable")
    return MadeTrial(
        connections=connections,
        elapsed_s=duration_s,
        start_s=start_s[order],
        latency_us=latency_us[order],
        status=np.full(len(order), 200),
        asked_s=duration_s,
    )


def make_open(
    draw: Generator, law: Law, *, median_us: float, rate_rps: float, duration_s: float
) -> MadeTrial:
    """Requests at even times, whatever the responses."""
    count = round(rate_rps * duration_s)
    return MadeTrial(
        connections=10,
        elapsed_s=duration_s,
        start_s=np.arange(count) / rate_rps,
        latency_us=law(draw, (count,)) * median_us,
        status=np.full(count, 200),
        rate_rps=rate_rps,
        asked_s=duration_s,
    )
