"""The checks of latency fire only where percentiles, rounding and clock ticks are wrong."""

from dataclasses import replace

import pytest

from backend.runs.checks import check_trial
from backend.runs.tests.sound_trial import SOUND, fired


def test_p99_equal_to_the_maximum_fires_only_where_they_must_differ():
    equal = replace(
        SOUND,
        percentiles_origin="reported",
        latency_max_us=2_411.0,
        percentiles_us={"50": 934.0, "99": 2_411.0},
    )
    assert "p99-equals-mean-or-max" in fired(equal)
    # The tool prints whole milliseconds, as ab does.
    assert "p99-equals-mean-or-max" not in fired(replace(equal, latency_resolution_us=1_000.0))
    # Every request takes the same time.
    same = replace(equal, percentiles_us={"50": 2_400.0, "99": 2_411.0})
    assert "p99-equals-mean-or-max" not in fired(same)


def test_locust_rounds_percentiles_to_two_digits():
    printed = replace(
        SOUND,
        percentiles_origin="reported",
        latency_resolution_us=1_000.0,
        latency_max_us=126_000.0,
        percentiles_us={"50": 19_000.0, "99": 130_000.0},
    )
    assert "percentile-order" in fired(printed)
    assert "percentile-order" not in fired(replace(printed, tool="locust"))


@pytest.mark.parametrize(
    ("step", "figures"),
    [
        # Ticks of 15.625 ms as ab rounds them, as autocannon cuts them off, and as hey prints them.
        (1_000.0, (16, 31, 47, 63, 94)),
        (1_000.0, (15, 31, 46, 62, 93)),
        (100.0, (15.6, 31.3, 46.9, 62.5, 93.8)),
        (1.0, (1, 2, 3, 4, 9)),
    ],
)
def test_a_clock_tick_is_seen_through_the_tools_rounding(step, figures):
    assert "clock-tick" in fired(ticking(step, figures))


@pytest.mark.parametrize(
    ("step", "figures"),
    [
        (1_000.0, (16, 31, 47, 58, 94)),
        # Two multiples of 10 ms are no evidence, where a tool prints whole milliseconds.
        (1_000.0, (10, 10, 20, 20, 20)),
        (1_000.0, (1, 2, 3, 4, 9)),
    ],
)
def test_figures_that_are_no_ticks_are_silent(step, figures):
    assert "clock-tick" not in fired(ticking(step, figures))


def ticking(step_us, figures_ms):
    first, *percentiles, last = (figure * 1_000.0 for figure in figures_ms)
    return replace(
        SOUND,
        percentiles_origin="reported",
        latency_resolution_us=step_us,
        latency_min_us=first,
        latency_max_us=last,
        percentiles_us=dict(zip(("50", "90", "99"), percentiles, strict=True)),
    )


def test_a_tail_needs_its_requests_also_where_it_is_computed():
    for origin in ("reported", "computed"):
        trial = replace(SOUND, percentiles_origin=origin, requests_completed=9_999)
        assert "far-tail-samples" in fired(trial)
        assert "far-tail-samples" not in fired(replace(trial, requests_completed=10_000))


def test_a_median_of_nothing_is_said_to_be_below_the_step():
    rounded = replace(SOUND, percentiles_us={"50": 0.0}, latency_resolution_us=1_000.0)
    details = {finding.id: finding.detail for finding in check_trial(rounded)}
    assert "the typical latency is < 1 ms" in details["resolution"]


def test_autocannon_prints_the_least_latency_above_zero_as_the_minimum():
    printed = replace(
        SOUND,
        percentiles_origin="reported",
        latency_resolution_us=1_000.0,
        latency_mean_us=300.0,
        latency_min_us=3_000.0,
        percentiles_us={"50": 0.0, "99": 4_000.0},
    )
    assert "percentile-order" in fired(printed)
    assert "percentile-order" not in fired(replace(printed, tool="autocannon"))
