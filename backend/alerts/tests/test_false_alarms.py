"""How often runs that differ by chance alone raise an alert, and how often a fall is found.

Simulated: runs of 5 trials at 5 load points, by throughput and p99. A run shifts all of its load
points together, as the day of a machine does, and p99 varies twice as much.
"""

import random
from types import SimpleNamespace

import pytest
from msgspec import structs

from backend.alerts.regressions import _judge, _Point
from backend.alerts.subject_states import SubjectState
from backend.analysis.judge.cases import Case
from backend.analysis.judge.history import Level
from backend.analysis.judge.requirements import accepted_change
from backend.analysis.query.metrics import METRICS
from backend.stats.replicates import Observation, Sample

LOADS, TRIALS, SD_OF_TRIALS = 5, 5, 0.01
# Of a metric: how much more it varies than throughput, and in which direction it gets worse.
SPREAD = {"throughput": (1, -1), "p99": (2, 1)}
RELEVANT = 0.02
SERIES = SimpleNamespace(
    candidate=SimpleNamespace(demands=SimpleNamespace(relevant=RELEVANT)), earlier=[]
)
HISTORY = SimpleNamespace(gathered=SimpleNamespace(noises=()))
SWEEP = SimpleNamespace(group=SimpleNamespace(id="a"))


def sample(chance, effects, spread, shift=0.0):
    """Trials of runs with these effects."""
    return Sample(
        tuple(
            Observation(spread * (effect + chance.gauss(0, SD_OF_TRIALS)) + shift, run=run)
            for run, effect in effects.items()
            for _ in range(TRIALS)
        )
    )


def measure(chance, effects, shift=0.0):
    """By metric and load, the trials of runs."""
    return {
        (name, load): sample(chance, effects, spread, sign * shift)
        for name, (spread, sign) in SPREAD.items()
        for load in range(LOADS)
    }


def together(*nights):
    """The trials of several runs as one sample."""
    first = nights[0]
    observations = (each for night in nights for each in night.observations)
    return structs.replace(first, observations=tuple(observations))


def judge(history, runs, nights):
    """What the newest of the nights says of each metric at each load.

    `history`: the trials of `runs` runs, by metric and load.
    """
    points = []
    for (name, load), base in history.items():
        change, place = accepted_change(METRICS[name], RELEVANT), SimpleNamespace(x=load)
        sides = (together(*[night[name, load] for night in nights]), nights[-1][name, load])
        cases = [Case(change, SWEEP, place, Level(base, runs, 0), side) for side in sides]
        points.append(_Point(SERIES, HISTORY, name, SubjectState(), *cases))
    return list(_judge(points))


def is_confirmed(first, second):
    """Whether the second night confirms a metric at a load point that the first made suspicious."""
    suspicious = {(each.point.subject, each.place) for each in first if each.is_suspicious}
    again = [each for each in second if each.is_suspicious]
    same = {each.point.subject for each in again if (each.point.subject, each.place) in suspicious}
    return any(each.is_regressed and each.point.subject in same for each in again)


def alerts_in(histories, runs, sd_of_runs, shift=0.0):
    """The share of histories in which two runs in a row raise an alert."""
    chance = random.Random(1)
    count = 0
    for _ in range(histories):
        history = measure(chance, {run: chance.gauss(0, sd_of_runs) for run in range(runs)})
        nights = [
            measure(chance, {name: chance.gauss(0, sd_of_runs)}, shift) for name in ("a", "b")
        ]
        first, second = judge(history, runs, nights[:1]), judge(history, runs, nights)
        count += is_confirmed(first, second)
    return count / histories


@pytest.mark.parametrize(("runs", "sd_of_runs"), [(3, 0.01), (10, 0.01), (10, 0.03)])
def test_chance_alone_raises_next_to_no_alert(runs, sd_of_runs):
    assert alerts_in(60, runs, sd_of_runs) <= 0.02


def test_a_fall_of_a_tenth_is_found_on_a_quiet_machine():
    assert alerts_in(60, 10, 0.01, shift=0.1) >= 0.9


def test_a_fall_of_a_fifth_is_found_on_a_noisy_machine():
    assert alerts_in(60, 10, 0.03, shift=0.2) >= 0.8
