"""Honest measurements: once warned of without cause, they must pass in silence. Over the API.

How often each check fires on honest trials of every load tool is measured by
`scripts/bench truth-checks` and stands in docs/checks.md.
"""

from pathlib import Path
from statistics import geometric_mean

import numpy as np
import pytest

from backend.testing.lab import Lab
from backend.testing.made.printing import made_trial, print_trial, print_trials
from backend.testing.made.requests import lognormal

pytestmark = pytest.mark.django_db

WRK_CAPTURES = Path(__file__).parents[1] / "formats" / "wrk" / "tests" / "captures"
GENUINE = ("latency-c10-10k", "latency-rand-c100", "plain-c1", "close-c10")


@pytest.fixture(autouse=True)
def _files(settings, tmp_path):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def lab():
    return Lab()


def noisy(count, variation, rate=8_000.0):
    """Independent trials of one server."""
    draw = np.random.default_rng([count, round(1_000 * variation)])
    return list(rate * (1 + draw.normal(0, variation, count)))


def test_an_honest_comparison_fires_nothing(lab):
    lab.upload(
        {
            "alpha": print_trials("wrk", noisy(5, 0.01)),
            "beta": print_trials("wrk", noisy(5, 0.02, 6_000.0)),
        }
    )
    answer = lab.ask()
    assert answer.fired == {}
    assert answer["outcome"]["status"] == "comparable"
    assert answer.reasons == []
    assert answer.is_ranked


@pytest.mark.parametrize("count", [3, 5, 10, 30])
@pytest.mark.parametrize("variation", [0.02, 0.03])
def test_ordinary_noise_is_no_spread_however_many_trials(lab, count, variation):
    lab.upload({"alpha": print_trials("wrk", noisy(count, variation))})
    assert not {"spread", "drift", "two-modes"} & lab.ask().fired.keys()


def test_three_trials_in_descending_order_are_no_drift(lab):
    lab.upload({"alpha": print_trials("wrk", (8_240.0, 8_000.0, 7_760.0))})
    assert "drift" not in lab.ask().fired


def test_a_noisy_drift_is_told(lab):
    fall = np.linspace(1, 0.74, 10) * np.array(noisy(10, 0.03))
    lab.upload({"alpha": print_trials("wrk", list(fall))})
    assert lab.ask().fired["drift"] == "warning"


def test_an_outlier_counts_and_is_told(lab):
    rates = noisy(10, 0.01)
    rates[4] *= 0.5
    lab.upload({"alpha": print_trials("wrk", rates)})
    answer = lab.ask()
    measure = answer.point("alpha")["metrics"]["throughput"]
    assert measure["value"] == pytest.approx(geometric_mean(rates), rel=0.001)
    assert measure["low"] < min(sorted(rates)[1:]) < measure["high"]
    assert answer.fired["spread"] == "warning"


@pytest.mark.parametrize(
    "shares", [[1.0, 0.75] * 6, [1.0, 1.0, 0.75, 1.0] * 3, [*[1.0] * 6, 0.75] * 3]
)
def test_two_levels_are_told_and_the_figure_lies_between(lab, shares):
    levels = np.array(shares) * np.array(noisy(len(shares), 0.01))
    lab.upload({"alpha": print_trials("wrk", list(levels))})
    answer = lab.ask()
    assert answer.fired["two-modes"] == "warning"
    figure = answer.point("alpha")["metrics"]["throughput"]["value"]
    assert levels[levels < 7_000].max() < figure < levels[levels > 7_000].min()


def test_a_p99_that_ab_rounds_to_its_maximum_is_no_copy(lab):
    # 2,000 requests whose p99 and maximum are both 59 ms.
    trials = [
        made_trial(450, seed=at, connections=20, seconds=4.4, law=lognormal(0.12))
        for at in range(3)
    ]
    lab.upload({"alpha": [print_trial("ab", trial) for trial in trials]}, tool="ab", connections=20)
    assert "p99-equals-mean-or-max" not in lab.ask().fired


def test_a_quantised_csv_of_hey_is_no_copy(lab):
    trials = [made_trial(3_000, seed=at) for at in range(3)]
    steps = [trial.with_latency(np.ceil(trial.latency_us / 1_000) * 1_000) for trial in trials]
    lab.upload({"alpha": [print_trial("hey CSV", trial) for trial in steps]}, tool="hey")
    assert "p99-equals-mean-or-max" not in lab.ask().fired


@pytest.mark.parametrize("capture", GENUINE)
def test_a_genuine_text_of_wrk_keeps_littles_law(lab, capture):
    lab.upload({"alpha": [(WRK_CAPTURES / capture / "stdout").read_text()]}, connections=None)
    assert "littles-law" not in lab.ask().fired
