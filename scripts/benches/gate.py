"""scripts/bench gate: how often a build without a change lies outside the interval of its history.

A history is some runs of three trials; one more run comes from the same distribution. Prints, by
the number of runs and how far runs differ, the share of intervals that leave out no change, and
their mean half width. Both are simulated; nothing is measured.
"""

import argparse
import random
from statistics import fmean

from backend.stats.comparison import Comparison, Floor, Page
from backend.stats.replicates import Observation, Sample

TRIALS, TRIAL_SD = 3, 0.02
HISTORIES = (3, 5, 10, 20)
RUN_SDS = (0.0, 0.01, 0.02, 0.04)
SEED = 20_261_122


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench gate", description=__doc__)
    parser.add_argument("--pairs", type=int, default=3000, help="simulated builds of each row")
    pairs = parser.parse_args().pairs
    chance = random.Random(SEED)  # noqa: S311  figures, no secrets
    print("| runs | runs differ by | outside | half width |\n|---|---|---|---|")
    for runs in HISTORIES:
        for run_sd in RUN_SDS:
            made = [compare_next_run(chance, runs, run_sd) for _ in range(pairs)]
            outside = fmean(each.significant for each in made)
            half = fmean(((each.high or 0.0) - (each.low or 0.0)) / 2 for each in made)
            print(f"| {runs} | {run_sd:.0%} | {outside:.1%} | {half:.1%} |")


def compare_next_run(chance: random.Random, runs: int, run_sd: float) -> Comparison:
    """One more run against a history of so many, on the log scale."""
    history = [each for run in range(runs) for each in make_trials(chance, run, run_sd)]
    page = Page(
        [Sample(tuple(history)), Sample(tuple(make_trials(chance, runs, run_sd)))],
        Floor(is_one_history=True),
    )
    return page.against(0, [1])[0]


def make_trials(chance: random.Random, run: int, run_sd: float) -> list[Observation]:
    """The trials of a run as logs."""
    level = chance.gauss(0, run_sd)
    return [Observation(level + chance.gauss(0, TRIAL_SD), run, at) for at in range(TRIALS)]


if __name__ == "__main__":
    main()
