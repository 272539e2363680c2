"""Trials of a load point, honest and with a planted mistake, as the rules over a cell read them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.random import Generator

from backend.runs.checks import CheckInput, check_cell
from backend.testing.made.requests import Floats

RATE_RPS = 8_000.0
COUNTS = (3, 5, 10, 30)
DAY = datetime(2026, 3, 1, tzinfo=UTC)
VARIATIONS = (0.01, 0.02, 0.03)


@dataclass(frozen=True, slots=True)
class MadeCell:
    """Throughput of each trial, and whether there was a warm-up."""

    rates_rps: Floats
    warmed_up: bool = True
    # Which start of the server each trial met, and when each began; a trial takes 10 s.
    starts: Sequence[int] = ()
    begins_s: Sequence[float] = ()

    def fired(self) -> set[str]:
        """The ids of the checks that fire."""
        trials = [self._trial(at) for at in range(len(self.rates_rps))]
        return {finding.id for finding in check_cell(trials, warmed_up=self.warmed_up)}

    def _trial(self, at: int) -> CheckInput:
        begin = DAY + timedelta(seconds=self.begins_s[at] if self.begins_s else 60 * at)
        return CheckInput(
            throughput_rps=float(self.rates_rps[at]),
            server_start=self.starts[at] if self.starts else 1,
            started_at=begin,
            finished_at=begin + timedelta(seconds=10),
        )


def make_cell(draw: Generator, counts: tuple[int, ...] = COUNTS) -> MadeCell:
    """Independent normal trials of a quiet machine: a variation of 1, 2 or 3 %.

    The time between them is that of other servers' trials, and the server is started once, or for
    each trial.
    """
    noise = draw.normal(0, draw.choice(VARIATIONS), draw.choice(counts))
    count = len(noise)
    return MadeCell(
        RATE_RPS * (1 + noise),
        starts=list(range(count)) if draw.random() < 0.5 else [1] * count,
        begins_s=np.cumsum(draw.uniform(20, 200) * draw.uniform(0.5, 2, count)).tolist(),
    )


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


def _dependent(draw: Generator) -> MadeCell:
    """Trials that keep 90 % of the distance of the one before from the mean."""
    steps = draw.normal(0, 1, 40)
    distances = [steps[0] / (1 - 0.9**2) ** 0.5]
    for step in steps[1:]:
        distances.append(0.9 * distances[-1] + step)
    return MadeCell(RATE_RPS * (1 + 0.005 * np.array(distances)))


def _copied(draw: Generator) -> MadeCell:
    """Copies of one trial, each with another last digit of its throughput."""
    count = int(draw.choice((5, 10)))
    return MadeCell(RATE_RPS * (1 + draw.normal(0, 3e-5, count)))


def _restarted(draw: Generator) -> MadeCell:
    cell = make_cell(draw)
    count = len(cell.rates_rps)
    first = int(draw.integers(1, count))
    return replace(cell, starts=[1] * first + [2] * (count - first))


def _paused(draw: Generator) -> MadeCell:
    cell = make_cell(draw)
    first = int(draw.integers(1, len(cell.rates_rps)))
    pause_s = draw.uniform(2, 48) * 3600
    begins_s = [begin + pause_s * (at >= first) for at, begin in enumerate(cell.begins_s)]
    return replace(cell, begins_s=begins_s)


def _with_collapse(draw: Generator) -> MadeCell:
    rates = make_cell(draw, (5,)).rates_rps
    return MadeCell(rates * np.array([1, 0.87, 0.13, 0.01, 0]))


# By the id of the check: the mistake in words, and how it is made.
CELL_MISTAKES: dict[str, tuple[str, Callable[[Generator], MadeCell]]] = {
    "few-trials": ("one or two trials", lambda draw: make_cell(draw, (1, 2))),
    "no-warmup": ("no warm-up", lambda draw: MadeCell(make_cell(draw).rates_rps, warmed_up=False)),
    "spread": ("one trial of 3 to 30 reaches 60 %", _with_outlier),
    "drift": ("throughput falls by 26 % over 8 to 30 trials, with noise", _with_drift),
    "collapse": ("five trials of 100, 87, 13, 1 and 0 %", _with_collapse),
    "two-modes": ("8 to 30 trials have two equally common levels, 25 % apart", _with_two_levels),
    "too-alike": ("five or ten copies that differ by 0.003 %", _copied),
    "dependent": ("40 trials keep 90 % of the distance of the one before", _dependent),
    "restarted": ("a second start of the server between the trials", _restarted),
    "paused": ("2 to 48 hours between two trials", _paused),
}
