"""What would decide a comparison that is too noisy."""

from math import log

import pytest

from backend.analysis.compare.advice import advise, found_text
from backend.stats.comparison import against_baseline
from backend.stats.replicates import Observation, Sample


def sample(*rates):
    return Sample(tuple(Observation(log(rate), run=1) for rate in rates))


CHANCE = "enough 2 times in 3, if the difference is as measured"
SECOND_RUN = (
    "30 more trials of each series would not be enough: measure a second run on a quieter machine, "
    "and restart servers for each repeat"
)


@pytest.mark.parametrize(
    ("noise", "advice"),
    [
        (
            10,
            f"add about 2 trials to each series ({CHANCE})",
        ),
        # 60, 222 and 85 trials: of such noise, chance differences are large, so fewer are enough.
        (20, SECOND_RUN),
        (60, SECOND_RUN),
        (400, SECOND_RUN),
    ],
)
def test_trials_are_advised_up_to_thirty(noise, advice):
    steady, other = (sample(rate, rate + noise, rate - noise) for rate in (1000, 1001))
    (comparison,) = against_baseline(steady, [other])
    assert advise(comparison, relevant=0.02).text == advice


def test_noise_far_beyond_the_threshold_asks_for_a_quieter_machine_first():
    """The difference is as large as the noise, so few trials are enough."""
    low, high = sample(900, 1100, 1000), sample(1100, 1350, 1200)
    (comparison,) = against_baseline(low, [high])
    assert advise(comparison, relevant=0.02).text == (
        f"measure on a quieter machine, or add about 2 trials to each series ({CHANCE})"
    )


def test_noise_that_no_number_of_trials_removes_asks_for_a_quieter_machine():
    """±20 %, fifty trials a side: the interval is 4 times as wide as the threshold."""
    rates = [800, 900, 1000, 1100, 1200] * 10
    (comparison,) = against_baseline(sample(*rates), [sample(*rates)])
    assert advise(comparison, relevant=0.02).text == SECOND_RUN
    assert comparison.precision is not None


def test_runs_are_advised_up_to_thirty_too():
    """Three runs a side that differ by 10 %."""
    sides = [
        Sample(tuple(Observation(log(rate), run=run) for run, rate in enumerate(rates)))
        for rates in ((900, 1000, 1100), (905, 1004, 1098))
    ]
    (comparison,) = against_baseline(sides[0], [sides[1]])
    text = advise(comparison, relevant=0.001).text
    assert text == ("30 more runs of each series would not be enough: measure on a quieter machine")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0612, "a difference of 6.1 % or more would have been found"),
        (2.1, "only a difference of 3.1× or more would have been found"),
        (12_300, "only a difference of 12000× or more would have been found"),
    ],
)
def test_a_negative_answer_names_a_difference(share, text):
    assert found_text(share) == text
