"""How often a statement is true over many draws: each function gives the figures of one row."""

from collections.abc import Sequence
from itertools import combinations
from math import expm1, log, sqrt

import numpy as np

from backend.noise.estimate import RunMean, run_variation
from backend.runs.checks.dependence import follow_each_other
from backend.stats.changes import find_changes
from backend.stats.comparison import Floor, Page, against_baseline
from backend.stats.design import SOUND
from backend.stats.knee import Load, find_knee
from backend.stats.replicates import estimate
from backend.stats.sample_size import trials_needed, two_stage_size
from backend.stats.student import t_quantile
from simulation.draws import Draw, Floats, Noise, Runs, draw_printed, one_run, values_of
from simulation.usual_tests import is_told_by_ranks, is_told_by_welch

SIZED = ("improved", "regressed")
DECIDED = (*SIZED, "unchanged")
# From one step of a tool that prints whole milliseconds to the next.
LATENCIES_MS = np.linspace(10, 11, 18, endpoint=False)


def interval_cell(rng: np.random.Generator, repeats: int, *, draw: Draw, runs: Runs) -> list[str]:
    """Coverage and half-width; coverage of Student's t over all trials as if independent."""
    held = plain = 0
    widths = []
    for _ in range(repeats):
        samples, (truth,) = draw(rng, np.zeros(1), runs)
        centre = estimate(samples[0])
        assert centre.low is not None
        assert centre.high is not None
        held += centre.low <= truth <= centre.high
        widths.append(expm1(centre.high - centre.value))
        (values,) = values_of(samples)
        error = values.std(ddof=1) / sqrt(len(values))
        plain += abs(values.mean() - truth) <= t_quantile(0.975, len(values) - 1) * error
    return [percent(held, repeats), f"± {100 * np.median(widths):.1f}", percent(plain, repeats)]


def pair_cell(
    rng: np.random.Generator, repeats: int, *, draw: Draw, runs: Runs, difference: float
) -> list[str]:
    """Told apart, improved or regressed, size uncertain; told by Welch and by Mann-Whitney."""
    differ = sized = unsized = welch = ranks = 0
    for _ in range(repeats):
        (base, other), _ = draw(rng, np.array([0.0, log(1 + difference)]), runs)
        (comparison,) = against_baseline(base, [other])
        differ += comparison.significant
        sized += comparison.verdict in SIZED
        unsized += comparison.verdict == "size_uncertain"
        values = values_of([base, other])
        welch += is_told_by_welch(*values)
        ranks += is_told_by_ranks(*values)
    return [percent(figure, repeats) for figure in (differ, sized, unsized, welch, ranks)]


def equal_pair_cell(rng: np.random.Generator, repeats: int, *, draw: Draw, runs: Runs) -> list[str]:
    """Two equal servers: told apart, improved or regressed; coverage of ratio and of a figure."""
    told = sized = held = covered = 0
    for _ in range(repeats):
        samples, truths = draw(rng, np.zeros(2), runs)
        (comparison,) = against_baseline(samples[0], samples[1:])
        assert comparison.low is not None
        assert comparison.high is not None
        told += comparison.significant
        sized += comparison.verdict in SIZED
        held += comparison.low <= 0 <= comparison.high
        for centre, truth in zip(map(estimate, samples), truths, strict=True):
            covered += (centre.low or truth) <= truth <= (centre.high or truth)
    shares = [percent(figure, repeats) for figure in (told, sized, held)]
    return [*shares, percent(covered, 2 * repeats)]


def design_cell(
    rng: np.random.Generator, repeats: int, *, draw: Draw, runs: Runs, series: int
) -> list[str]:
    """Pages of equal servers with a pair that is told apart, with a verdict, and with a verdict
    that no reason asks to use with care."""
    told = sized = unqualified = 0
    for _ in range(repeats):
        samples, _ = draw(rng, np.zeros(series), runs)
        pairs = Page(samples).all_pairs()
        comparisons = [pairs.comparison(*pair) for pair in combinations(range(series), 2)]
        told += any(each.significant for each in comparisons)
        sized += any(each.verdict in SIZED for each in comparisons)
        unqualified += any(each.verdict in SIZED and each.design == SOUND for each in comparisons)
    return [percent(figure, repeats) for figure in (told, sized, unqualified)]


def dependence_cell(rng: np.random.Generator, repeats: int, *, draw: Draw, runs: Runs) -> list[str]:
    """Two equal servers: told apart, with a verdict, with a verdict that no check warns of, and
    warned of."""
    told = sized = unwarned = warned = 0
    for _ in range(repeats):
        samples, _ = draw(rng, np.zeros(2), runs)
        (comparison,) = against_baseline(samples[0], samples[1:])
        warns = any(map(follow_each_other, np.exp(values_of(samples)).tolist()))
        told += comparison.significant
        sized += comparison.verdict in SIZED
        unwarned += comparison.verdict in SIZED and not warns
        warned += warns
    return [percent(figure, repeats) for figure in (told, sized, unwarned, warned)]


def history_cell(
    rng: np.random.Generator, repeats: int, *, between: float, history: int
) -> list[str]:
    """Two equal servers of different runs, five trials each (CV 1 %), judged by so many runs of two
    other series: told apart, with a verdict, and the half-width."""
    told = sized = 0
    widths = []
    for _ in range(repeats):
        effects = rng.normal(0, between, history + 2)
        trials = rng.normal(effects[:, None, None], 0.01, (history + 2, 2, 5))
        means = [
            RunMean(series, run, own.size, own.mean(), own.var() * own.size)
            for run, of_run in enumerate(trials[2:])
            for series, own in enumerate(of_run)
        ]
        varying = run_variation(means)
        floor = None if varying is None else Floor(run_sd=varying.sd, run_freedom=varying.freedom)
        one, other = (one_run(trials[run, 0], run=run) for run in range(2))
        (comparison,) = against_baseline(one, [other], floor=floor)
        assert comparison.low is not None
        assert comparison.high is not None
        told += comparison.significant
        sized += comparison.verdict in SIZED
        widths.append(expm1((comparison.high - comparison.low) / 2))
    shares = [percent(figure, repeats) for figure in (told, sized)]
    return [*shares, f"± {100 * np.median(widths):.1f}"]


def rounding_cell(rng: np.random.Generator, repeats: int, *, noise: Noise, runs: Runs) -> list[str]:
    """Coverage at the average latency and at the worst; equal servers told apart at the worst.

    An average hides the latencies that are rounded in one direction.
    """
    covered, told = [], []
    for latency in LATENCIES_MS:
        levels = np.full(2, log(latency))
        held = differ = 0
        for _ in range(repeats):
            samples, truths = draw_printed(rng, levels, runs, noise=noise)
            for centre, truth in zip(map(estimate, samples), truths, strict=True):
                held += (centre.low or truth) <= truth <= (centre.high or truth)
            (comparison,) = against_baseline(samples[0], samples[1:])
            differ += comparison.significant
        covered.append(held)
        told.append(differ)
    average = percent(sum(covered), 2 * repeats * len(covered))
    return [average, percent(min(covered), 2 * repeats), percent(max(told), repeats)]


def advice_cell(
    rng: np.random.Generator, repeats: int, *, count: int, difference: float
) -> list[str]:
    """Comparisons (CV 3 %) that follow the advice until they are decided, or get no number.

    The median of the first numbers, and the share that is open at first and gets none. Of those
    with a number, what is decided after it; of all, what is decided at last.
    """
    right = "improved" if difference > 0.02 else "unchanged"
    advised: list[int] = []
    once, last = [], []
    hopeless = 0
    for _ in range(repeats):
        base, other = rng.normal(0, 0.03, 1000), rng.normal(log(1 + difference), 0.03, 1000)
        totals, (first, *later) = _follow_advice(base, other, count)
        hopeless += first not in DECIDED and not later
        advised.extend(total - count for total in totals[1:2])
        once += later[:1]
        last.append(later[-1] if later else first)
    number = f"{np.median(advised):.0f}" if advised else "none"
    shares = (*_decided_shares(once, right), *_decided_shares(last, right))
    return [number, percent(hopeless, repeats), *shares]


def _decided_shares(verdicts: Sequence[str], right: str) -> list[str]:
    """How many are decided, and how many of them wrongly."""
    decided = [verdict for verdict in verdicts if verdict in DECIDED]
    wrong = [verdict for verdict in decided if verdict != right]
    return [percent(len(each), len(verdicts)) for each in (decided, wrong)]


def _follow_advice(base: Floats, other: Floats, count: int) -> tuple[list[int], list[str]]:
    """The numbers of trials on a side, and the verdict at each."""
    totals, verdicts = [count], []
    while True:
        total = totals[-1]
        (comparison,) = against_baseline(one_run(base[:total]), [one_run(other[:total])])
        verdicts.append(comparison.verdict)
        advice = None if comparison.verdict in DECIDED else trials_needed(comparison)
        if advice is None or advice.more is None or total == len(base):
            return totals, verdicts
        totals.append(min(total + advice.more, len(base)))


def two_stage_cell(rng: np.random.Generator, repeats: int, *, count: int, half: float) -> list[str]:
    """Coverage of ± the half-width asked for, of the usual t interval, and the trials needed."""
    held = plain = 0
    sizes = []
    for _ in range(repeats):
        values = rng.normal(0, 0.03, 2000)
        size = min(two_stage_size(values[:count].tolist(), half), 2000)
        centre = estimate(one_run(values[:size]))
        held += abs(values[:size].mean()) <= half
        plain += abs(centre.value) <= (centre.high or 0.0) - centre.value
        sizes.append(size)
    return [percent(held, repeats), percent(plain, repeats), f"{np.median(sizes):.0f}"]


def knee_cell(rng: np.random.Generator, repeats: int, *, noise: float, count: int) -> list[str]:
    """Throughput rises up to 16 connections: right, wrong, left open."""
    right = wrong = 0
    for _ in range(repeats):
        loads = [
            Load(x, tuple((1000 * min(x, 16) * np.exp(rng.normal(0, noise, count))).tolist()))
            for x in (1, 2, 4, 8, 16, 32, 64, 128)
        ]
        x = find_knee(loads).x
        right += x == 16
        wrong += x not in (16, None)
    return [percent(figure, repeats) for figure in (right, wrong, repeats - right - wrong)]


def change_cell(
    rng: np.random.Generator, repeats: int, *, positions: int, between: float, correlation: float
) -> list[str]:
    """Series that report a change: without one, with a step of 5 %, and of 10 %, in the middle."""
    counts = []
    for step in (0.0, 0.05, 0.10):
        changed = 0
        for _ in range(repeats):
            levels = rng.normal(0, between, positions)
            for at in range(1, positions):
                own = levels[at] * sqrt(1 - correlation**2)
                levels[at] = correlation * levels[at - 1] + own
            levels[positions // 2 :] += log(1 + step)
            changed += bool(
                find_changes([np.exp(rng.normal(level, 0.03, 3)).tolist() for level in levels])
            )
        counts.append(percent(changed, repeats))
    return counts


def percent(count: float, total: int) -> str:
    return f"{100 * count / total:.1f}" if total else "none"
