"""What would decide a comparison that is too noisy."""

from math import log

import pytest

from backend.analysis.compare.advice import advise
from backend.stats.comparison import against_baseline
from backend.stats.replicates import Observation, Sample


def sample(*rates):
    return Sample(tuple(Observation(log(rate), run=1) for rate in rates))


@pytest.mark.parametrize(
    ("noise", "advice"),
    [
        (10, "add about 2 trials to each series (enough 2 times in 3)"),
        (20, "add about 60 trials to each series (enough 2 times in 3)"),
        (
            60,
            "measure on a quieter machine, or add about 222 trials to each series "
            "(enough 2 times in 3)",
        ),
        # Fewer trials than with less noise, as chance differences of such noise are large.
        (
            400,
            "measure on a quieter machine, or add about 85 trials to each series "
            "(enough 2 times in 3)",
        ),
    ],
)
def test_noise_and_hundreds_of_trials_ask_for_a_quieter_machine_first(noise, advice):
    steady, other = (sample(rate, rate + noise, rate - noise) for rate in (1000, 1001))
    (comparison,) = against_baseline(steady, [other])
    remedy = advise(comparison, relevant=0.02)
    assert remedy.text == advice
    assert f"about {remedy.more} trials" in advice


def test_noise_that_no_number_of_trials_removes_asks_for_a_quieter_machine():
    """±20 %, fifty trials a side: the interval is 4 times as wide as the threshold."""
    rates = [800, 900, 1000, 1100, 1200] * 10
    (comparison,) = against_baseline(sample(*rates), [sample(*rates)])
    assert advise(comparison, relevant=0.02).text == (
        "measure on a quieter machine: 999 more trials of each series would hardly help"
    )
