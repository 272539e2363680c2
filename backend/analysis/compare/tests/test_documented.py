"""The worked examples of docs/statistics.md and docs/intervals.md, as the service computes them."""

from math import exp, log, log1p
from pathlib import Path

import pytest

from backend.analysis.compare.headline import open_text
from backend.analysis.compare.ratio_texts import ratio_text
from backend.analysis.compare.ratios import Yardstick
from backend.noise.estimate import noise_floor
from backend.stats.replicates import Observation, Sample, estimate
from backend.stats.simultaneous import quantile_against_baseline, quantile_of_all_pairs
from backend.stats.student import t_quantile

DOCS = Path(__file__).parents[4] / "docs"
STATISTICS = (DOCS / "statistics.md").read_text(encoding="utf-8")
INTERVALS = (DOCS / "intervals.md").read_text(encoding="utf-8")
YARDSTICK = Yardstick("higher", 0.02)
STEADY, CALM = (1000.0, 1010.0, 990.0), (1000.0, 1004.0, 996.0)


def sample(*runs, has_rounds=False, step=0.0, first_run=0):
    observations = [
        Observation(log(value), run, place if has_rounds else None)
        for run, trials in enumerate(runs, start=first_run)
        for place, value in enumerate(trials)
    ]
    return Sample(tuple(observations), step)


def figure(trials):
    """`1,000 [975, 1,025]`, as the documents write it."""
    centre = estimate(trials)
    value, low, high = (
        f"{round(exp(bound)):,}" for bound in (centre.value, centre.low, centre.high)
    )
    return f"{value} [{low}, {high}]"


def ratio(base, other):
    (found,) = YARDSTICK.to_baseline(base, [other])
    return found


def times(factor, trials=STEADY):
    return sample(tuple(value * factor for value in trials))


def is_documented(text, page=STATISTICS):
    """Whether the page has the text, wherever its lines break."""
    return text in " ".join(page.replace("\n> ", " ").split())


THREE_RUNS = (STEADY, (1050.0, 1060.0, 1040.0), (950.0, 960.0, 955.0))
FAR_TRIAL = (1000.0, 1010.0, 990.0, 1005.0, 995.0, 1000.0, 1010.0, 990.0, 1005.0, 500.0)


def test_intervals():
    assert is_documented(f"in one run: {figure(sample(STEADY))}, within this run")
    over_runs = figure(sample(*THREE_RUNS))
    for page in (STATISTICS, INTERVALS):
        assert is_documented(over_runs, page)
    _, pooled = figure(sample(sum(THREE_RUNS, ()))).split(" [")
    assert is_documented(f"the interval would be [{pooled}")
    assert figure(sample(STEADY)).split()[0] in INTERVALS


def test_each_run_of_the_example_lies_within_three_percent():
    for trials in THREE_RUNS:
        centre = estimate(sample(trials))
        assert centre.high - centre.value < log1p(0.03)


def test_a_trial_far_from_the_others():
    assert is_documented(f"1,010, 990, 1,005 and 500 requests/s: {figure(sample(FAR_TRIAL))},")


def test_rounding():
    centre = estimate(sample((3000.0,) * 3, step=-log1p(-500 / 3000)))
    low, high = exp(centre.low) / 1000, exp(centre.high) / 1000
    assert is_documented(f"3.00 [{low:.2f}, {high:.2f}] ms")


def test_ratios_within_a_run_and_of_different_runs():
    fast = (1620.0, 1600.0, 1640.0)
    assert is_documented(f"in one run: {ratio_text(ratio(sample(STEADY), sample(fast)))}.")
    other = (1060.0, 1071.0, 1049.0)
    within = ratio_text(ratio(sample(STEADY), sample(other)))
    apart = ratio_text(ratio(sample(STEADY), sample(other, first_run=1)))
    for page in (STATISTICS, INTERVALS):
        assert is_documented(within, page)
        assert is_documented(apart, page)


def test_blocks():
    sides = (950.0, 1060.0, 1000.0, 930.0, 1050.0), (985.0, 1080.0, 1035.0, 955.0, 1090.0)
    paired, unpaired = (
        ratio_text(ratio(*(sample(side, has_rounds=has_rounds) for side in sides)))
        for has_rounds in (True, False)
    )
    assert is_documented(f"{paired} if the trials are of the same five rounds, {unpaired} if")


def test_families():
    one, seven = t_quantile(0.975, 32), quantile_against_baseline(7, 32, 0.5, 0.95)
    pairs, panels = (
        quantile_of_all_pairs(8, 32, 0.95),
        quantile_against_baseline(7, 32, 0.5, 0.95**0.5),
    )
    assert is_documented(f"is {one:.2f} standard errors wide on each side, one of 7 against a ")
    assert is_documented(f"baseline {seven:.2f}, one of 28 pairs {pairs:.2f}.")
    assert is_documented(f"those against a baseline are {panels:.2f} wide")


def test_the_noise_floor():
    floor = noise_floor([[0.012], [-0.008], [0.005]])
    assert is_documented(f"= {floor * 100:.1f} %,")
    assert is_documented(f"differences under {floor * 100:.1f} %")


@pytest.mark.parametrize(
    ("verdict", "other", "base"),
    [
        ("improved", times(1.05), sample(STEADY)),
        ("unchanged", times(1.003, CALM), sample(CALM)),
        ("size_uncertain", times(1.03), sample(STEADY)),
        ("inconclusive", sample((1005.0, 1020.0, 985.0)), sample(STEADY)),
    ],
)
def test_verdicts(verdict, other, base):
    found = ratio(base, other)
    assert found.verdict == verdict
    assert is_documented(f"| {ratio_text(found)} |")


def test_a_verdict_that_needs_a_steady_baseline():
    others = [sample((1177.0, 1153.0, 1200.0))] * 7
    steady, doubtful = (
        YARDSTICK.to_baseline(sample(base), others)[0]
        for base in ((1000.0, 970.0, 1031.0), (1000.0, 942.0, 1062.0))
    )
    assert (steady.verdict, doubtful.verdict) == ("improved", "size_uncertain")
    assert is_documented(f"{ratio_text(steady)}, improved.")
    assert is_documented(f"{ratio_text(doubtful)}, if the baseline is as steady as the others")
    assert is_documented(f"the row says “{doubtful.why}”")


def test_the_advice_of_an_inconclusive_verdict():
    found = ratio(sample(STEADY), sample((1005.0, 1020.0, 985.0)))
    assert is_documented(f"{ratio_text(found)}, inconclusive; {open_text(found)}.")
    two = ratio(sample(STEADY), sample((1610.0, 1630.0)))
    assert is_documented(f"Two trials against three: {ratio_text(two)} without an interval")


def test_tiers():
    rows = (
        (1620.0, 1600.0, 1640.0),
        (1030.0, 1040.0, 1020.0),
        (1010.0, 1025.0, 990.0),
        (900.0, 910.0, 895.0),
    )
    places = YARDSTICK.places(YARDSTICK.pairs([sample(row) for row in rows]))
    *first, last = (each.text for each in places)
    assert is_documented(f"tiers {', '.join(first)} and {last}.")
