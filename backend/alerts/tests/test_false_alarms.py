"""How often runs that differ by chance alone raise an alert, and how often a fall is found.

Simulated: runs of 5 trials at 5 load points, by throughput and p99. A run shifts all of its load
points together, as the day of a machine does, and p99 varies twice as much.
"""

import random
from types import SimpleNamespace

import pytest

from backend.analysis.judge.cases import Case, judge_cases
from backend.analysis.judge.history import Level
from backend.analysis.judge.requirements import accepted_change
from backend.analysis.query.metrics import METRICS
from backend.stats.replicates import Observation, Sample

LOADS, TRIALS, SD_OF_TRIALS = 5, 5, 0.01
# Of a metric: how much more it varies than throughput, and in which direction it gets worse.
SPREAD = {"throughput": (1, -1), "p99": (2, 1)}


def sample(chance, effects, spread, shift=0.0):
    """Trials of runs with these effects."""
    return Sample(
        tuple(
            Observation(spread * (effect + chance.gauss(0, SD_OF_TRIALS)) + shift, run=run)
            for run, effect in effects.items()
            for _ in range(TRIALS)
        )
    )


def worse(chance, history, run, shift):
    """The metrics and load points at which a run is called worse than the history."""
    group = SimpleNamespace(id="a")
    cases = []
    for name, (spread, sign) in SPREAD.items():
        for load in range(LOADS):
            base = sample(chance, history, spread)
            cases.append(
                Case(
                    accepted_change(METRICS[name], 0.02),
                    SimpleNamespace(group=group),
                    SimpleNamespace(x=load),
                    Level(base, len(history), 0),
                    sample(chance, run, spread, sign * shift),
                )
            )
    judged, _ = judge_cases(cases, [], 0.02, len(cases))
    return {
        (each.case.requirement.metric.id, each.case.point.x)
        for each in judged
        if each.verdict == "regressed"
    }


def alerts_in(histories, runs, sd_of_runs, shift=0.0):
    """The share of histories in which two runs in a row raise an alert."""
    chance = random.Random(1)
    count = 0
    for _ in range(histories):
        history = {run: chance.gauss(0, sd_of_runs) for run in range(runs)}
        first, second = (
            worse(chance, history, {"new": chance.gauss(0, sd_of_runs)}, shift) for _ in range(2)
        )
        count += bool(first & second)
    return count / histories


@pytest.mark.parametrize(("runs", "sd_of_runs"), [(3, 0.01), (10, 0.01), (10, 0.03)])
def test_chance_alone_raises_next_to_no_alert(runs, sd_of_runs):
    assert alerts_in(60, runs, sd_of_runs) <= 0.02


def test_a_fall_of_a_tenth_is_found_on_a_quiet_machine():
    assert alerts_in(60, 10, 0.01, shift=0.1) >= 0.9


def test_a_fall_of_a_fifth_is_found_on_a_noisy_machine():
    assert alerts_in(60, 10, 0.03, shift=0.2) >= 0.8
