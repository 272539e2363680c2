"""Trials of a load point, honest and with a planted mistake, as the rules over a cell read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from backend.runs.checks import CheckInput, check_cell
from backend.testing.made.requests import Floats

RATE_RPS = 8_000.0
COUNTS = (3, 5, 10, 30)
VARIATIONS = (0.01, 0.02, 0.03)


@dataclass(frozen=True, slots=True)
class MadeCell:
    """Throughput of each trial, and whether there was a warm-up."""

    rates_rps: Floats
    warmed_up: bool = True

    def fired(self) -> set[str]:
        """The ids of the checks that fire."""
        trials = [CheckInput(throughput_rps=float(rate)) for rate in self.rates_rps]
        return {finding.id for finding in check_cell(trials, warmed_up=self.warmed_up)}


def make_cell(draw: Generator, counts: tuple[int, ...] = COUNTS) -> MadeCell:
    """Independent normal trials of a quiet machine: a variation of 1, 2 or 3 %."""
    noise = draw.normal(0, draw.choice(VARIATIONS), draw.choice(counts))
    return MadeCell(RATE_RPS * (1 + noise))


def _with_outlier(draw: Generator) -> MadeCell:
    rates = make_cell(draw).rates_rps
    rates[draw.integers(len(rates))] *= 0.6
    return MadeCell(rates)


def _with_drift(draw: Generator) -> MadeCell:
    rates = make_cell(draw, (8, 10, 30)).rates_rps
    return MadeCell(rates * np.linspace(1, 0.74, len(rates)))


def _with_two_levels(draw: Generator) -> MadeCell:
    rates = make_cell(draw, (8, 10, 30)).rates_rps
    low_count = round(len(rates) * draw.uniform(0.45, 0.55))
    levels = np.where(np.arange(len(rates)) < low_count, 0.75, 1.0)
    return MadeCell(rates * draw.permutation(levels))


# By the id of the check: the mistake in words, and how it is made.
CELL_MISTAKES: dict[str, tuple[str, Callable[[Generator], MadeCell]]] = {
    "few-trials": ("one or two trials", lambda draw: make_cell(draw, (1, 2))),
    "no-warmup": ("no warm-up", lambda draw: MadeCell(make_cell(draw).rates_rps, warmed_up=False)),
    "spread": ("one trial of 3 to 30 reaches 60 %", _with_outlier),
    "drift": ("throughput falls by 26 % over 8 to 30 trials, with noise", _with_drift),
    "two-modes": ("8 to 30 trials have two equally common levels, 25 % apart", _with_two_levels),
}
