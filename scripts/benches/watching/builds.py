"""Builds that are measured until the gate decides, by the functions that judge them in the service.

A history is some runs of a branch; each run of a build comes from the same distribution, but for
the change of the build. All levels are logarithms of throughput.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log1p
from statistics import fmean
from types import SimpleNamespace
from typing import Any

from backend.analysis.judge.cases import Case, FamilySize, Judged, judge_cases
from backend.analysis.judge.history import Level, level_of
from backend.analysis.judge.requirements import read_requirements
from backend.stats.replicates import Observation, Sample
from backend.stats.thresholds import RELEVANT_SHARE

(REQUIREMENT,) = read_requirements(["throughput > -3%"])
TRIALS, TRIAL_SD, RUN_SD = 3, 0.01, 0.02
MOST_RUNS = 4
HISTORIES = (3, 5, 10, 30)
CHANGES = (0.0, -0.03, -0.06, -0.10)
# Of the variance between runs, what all runs of one build share: they were measured in one hour.
SHARED = 0.5
SWEEP = SimpleNamespace(group=SimpleNamespace(id="server"))
POINT = SimpleNamespace(x=64)


@dataclass(frozen=True, slots=True)
class Kind:
    """Builds of one kind. `runs`: of the history. `change`: the share by which they change
    throughput. `shared`: of the variance between runs, the share that a build's runs have alike."""

    runs: int
    change: float
    shared: float = 0.0


KINDS = (
    *(Kind(runs, change) for runs in HISTORIES for change in CHANGES),
    *(Kind(runs, 0.0, SHARED) for runs in HISTORIES),
)


def measure_builds(kind: Kind, builds: int, seed: int) -> dict[str, Any]:
    """The shares of builds regressed and kept: with one question (`once`), and after each of 1, 2 …
    runs (`looks`). `ever_regressed`: in any of these answers.
    `ever_wrong`: the interval of any of them leaves out the change. `runs`: the mean until decided.
    """
    chance = random.Random(f"{seed} {kind}")  # noqa: S311  figures, no secrets
    made = [list(_ask(chance, kind)) for _ in range(builds)]
    verdicts = [[_verdict(each) for each in answers] for _, *answers in made]
    return {
        "history": kind.runs,
        "change": kind.change,
        "shared": kind.shared,
        "builds": builds,
        "once": _shares([_verdict(once) for once, *_ in made]),
        "looks": [
            _shares([_decided(each[:look]) for each in verdicts])
            for look in range(1, MOST_RUNS + 1)
        ],
        "ever_regressed": fmean("regressed" in each for each in verdicts),
        "ever_wrong": fmean(_is_any_wrong(answers, kind.change) for _, *answers in made),
        "runs": fmean(_runs_measured(each) for each in verdicts),
    }


def _shares(verdicts: Sequence[str]) -> list[float]:
    return [fmean(each == verdict for each in verdicts) for verdict in ("regressed", "kept")]


def _decided(verdicts: Sequence[str]) -> str:
    """The first verdict, which ends the measuring."""
    return next(filter(None, verdicts), "")


def _runs_measured(verdicts: Sequence[str]) -> int:
    return next((count for count, each in enumerate(verdicts, 1) if each), MOST_RUNS)


def _ask(chance: random.Random, kind: Kind) -> Iterator[Judged]:
    """The answer to who asks once, then those after each run of the build."""
    level = level_of(*_measure(chance, range(kind.runs), RUN_SD), REQUIREMENT.metric)
    own = RUN_SD * (1 - kind.shared) ** 0.5
    centre = log1p(kind.change) + chance.gauss(0, RUN_SD * kind.shared**0.5)
    names = [f"build {number}" for number in range(MOST_RUNS)]
    build, _ = _measure(chance, names, own, centre)
    trials = build.observations
    yield _judge(level, Sample(trials[:TRIALS]), 1)
    for count in range(1, MOST_RUNS + 1):
        yield _judge(level, Sample(trials[: count * TRIALS]), MOST_RUNS)


def _measure(
    chance: random.Random, runs: Sequence[object], run_sd: float, centre: float = 0.0
) -> tuple[Sample, Sequence[object]]:
    """The trials of these runs in order, and the runs."""
    trials = []
    for run in runs:
        level = chance.gauss(centre, run_sd)
        trials += [Observation(chance.gauss(level, TRIAL_SD), run) for _ in range(TRIALS)]
    return Sample(tuple(trials)), runs


def _judge(level: Level, build: Sample, most_runs: int) -> Judged:
    case = Case(REQUIREMENT, SWEEP, POINT, level, build)
    (judged,), _ = judge_cases([case], (), RELEVANT_SHARE, FamilySize(1, most_runs))
    return judged


def _verdict(judged: Judged) -> str:
    """`regressed` or `kept`; empty where it is too noisy."""
    return {"too_noisy": "", "regressed": "regressed"}.get(judged.verdict, "kept")


def _is_any_wrong(answers: Sequence[Judged], change: float) -> bool:
    """Whether the interval of any of the answers leaves out the change."""
    ratios = [each.ratio for each in answers if each.ratio is not None]
    return not all(each.low <= 1 + change <= each.high for each in ratios)
