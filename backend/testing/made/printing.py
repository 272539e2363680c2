"""Outputs of load tools for trials with a chosen rate: to upload them."""

import zlib
from collections.abc import Sequence

import numpy as np

from backend.testing.made.requests import Law, MadeTrial, lognormal, make_closed, make_open
from backend.testing.made.texts import TOOLS, Change
from backend.testing.made.uploads import keep

CONNECTIONS = 10
SECONDS = 4.0
_TOOLS = {tool.name: tool for tool in TOOLS}
# A few percent around the median, as a server on a quiet machine.
_NARROW = lognormal(0.1)
# The mean of the narrow law ÷ its median.
_MEAN = 1.005


def made_trial(
    rate_rps: float,
    *,
    seed: int = 0,
    connections: int = CONNECTIONS,
    seconds: float = SECONDS,
    law: Law = _NARROW,
    stall_s: tuple[float, float] | None = None,
) -> MadeTrial:
    """A trial of a closed loop at about this rate; the same arguments give the same trial."""
    draw = np.random.default_rng([seed, zlib.crc32(f"{rate_rps} {connections}".encode())])
    return make_closed(
        draw,
        law,
        median_us=connections * 1e6 / rate_rps / _MEAN,
        connections=connections,
        duration_s=seconds,
        stall_s=stall_s,
    )


def made_open_trial(
    rate_rps: float, *, median_us: float, seed: int = 0, seconds: float = SECONDS
) -> MadeTrial:
    """A trial of an open loop that offers this rate."""
    draw = np.random.default_rng([seed, 1])
    return make_open(draw, _NARROW, median_us=median_us, rate_rps=rate_rps, duration_s=seconds)


def print_trial(tool: str, trial: MadeTrial, change: Change = keep) -> str:
    """What the load tool prints of it."""
    return _TOOLS[tool].write(trial, change)


def print_trials(tool: str, rates_rps: Sequence[float], **options: object) -> list[str]:
    """An output for each rate. `options`: as for `made_trial`."""
    return [
        print_trial(tool, made_trial(rate, seed=at, **options))  # type: ignore[arg-type]
        for at, rate in enumerate(rates_rps)
    ]
