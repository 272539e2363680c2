"""Which trials the tables show: each kind with each number of trials and each true difference."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from simulation import draws
from simulation.draws import Draw, Runs

COUNTS: Sequence[Runs] = ((3,), (5,), (10,), (30,))
RUNS: Sequence[Runs] = ((3,), (5,), (5, 5), (5, 5, 5), (3, 2, 5, 20))
DIFFERENCES = (0.02, 0.05, 0.10, 0.30)
TRUE = (0.0, *DIFFERENCES)
# A share of the trials of equal servers is slower by a part.
SLOW_SHARES = (0.10, 0.20, 0.25, 0.30)
SLOWER_BY = (0.05, 0.10, 0.20)
COUNTS_WITH_SLOW: Sequence[Runs] = ((5,), (10,), (20,), (30,))
# Each trial is slower by an exponential share with this mean, so that most lose little, a few much.
MEAN_LOSSES = (0.01, 0.03, 0.10)
# How closely a trial follows the one before it.
CORRELATIONS = (0.0, 0.3, 0.6, 0.9)
# By how much runs differ, and how many runs of two series the host's history has.
RUNS_DIFFER_BY = (0.01, 0.03, 0.05)
HISTORIES = (1, 2, 3, 5, 10)
ONE_START, IN_TURN = "one of each server", "in turn"
# How many trials share a start (None: all), and of how many trials the runs are.
STARTS: Sequence[tuple[str, int | None, Sequence[Runs]]] = (
    (ONE_START, None, COUNTS[:3]),
    ("one for each trial", 1, COUNTS[:3]),
    ("one for two trials", 2, ((6,), (10,), (20,))),
)
# Whether two series are measured in turn.
ORDERS = {IN_TURN: True, "one after the other": False}
# The numbers of series on a page.
SERIES = (8, 16, 40)


@dataclass(frozen=True)
class Kind:
    """Trials of one kind. `sizes`: of how many trials the runs are."""

    label: str
    draw: Draw
    sizes: Sequence[Runs] = COUNTS


ALIKE, FEW_SERIES = "CV 3 %", "CV 2 %, baseline 20 %"
SHARED, DISTURBED = "rounds share 5 %, CV 1 %", "10 % disturbed, CV 3 %"
ROUNDED = "10 ms in whole ms"
DIFFERENT_RUNS, OWN_RUNS = "different runs", "the same runs, effects of each server"
# Runs in which the trials of a server are not independent of each other.
UNLIKE_RUNS = (DIFFERENT_RUNS, OWN_RUNS)


def _with_noise(label: str, noise: draws.Noise) -> Kind:
    return Kind(label, partial(draws.draw_independent, noise=noise))


def _rounded(noise: float) -> Kind:
    label = f"{ROUNDED}, CV {noise * 100:g} %"
    return Kind(label, partial(draws.draw_rounded, noise=draws.alike(noise)))


KINDS = (
    *(_with_noise(f"CV {noise * 100:g} %", draws.alike(noise)) for noise in (0.02, 0.03, 0.10)),
    Kind(SHARED, draws.draw_in_rounds),
    Kind(
        DISTURBED,
        partial(draws.draw_disturbed, noise=0.03, share=0.1, losses=(0.1, 0.2, 0.5)),
    ),
    _rounded(0.03),
)
FINE, NOISY = _rounded(0.005), _rounded(0.10)
UNEVEN = Kind(
    f"{ROUNDED}, CV 0.5 and 10 %", partial(draws.draw_rounded, noise=draws.each(0.005, 0.10))
)
# The noise of two servers whose latencies are printed in whole milliseconds.
NOISE_OF_ROUNDED = {
    **{f"{noise * 100:g} %": draws.alike(noise) for noise in (0.005, 0.01, 0.02, 0.03, 0.05, 0.10)},
    "0.5 and 3 %": draws.each(0.005, 0.03),
    "0.5 and 10 %": draws.each(0.005, 0.10),
}
# Runs that differ by 3 %; all kinds above have one run.
KINDS_OF_RUNS = tuple(
    Kind(label, partial(draws.draw_runs, kind=kind), RUNS)
    for kind, label in (
        ("different", DIFFERENT_RUNS),
        ("own", OWN_RUNS),
        ("shared", "the same runs, shared effects"),
    )
)
UNLIKE = {
    "CV 1 to 10 %": draws.from_1_to_10,
    "CV 2 %, baseline 6 %": draws.all_but(0, 0.06),
    "CV 2 %, baseline 10 %": draws.all_but(0, 0.10),
    "CV 2 %, another 10 %": draws.all_but(1, 0.10),
}
KINDS_OF_UNLIKE_NOISE = tuple(_with_noise(*each) for each in UNLIKE.items())
FEW = _with_noise(FEW_SERIES, draws.all_but(0, 0.20))


def in_words(runs: Runs) -> str:
    return " + ".join(map(str, runs))


def of_kind(label: str) -> Kind:
    return next(kind for kind in KINDS if kind.label == label)
