"""Knee and capacity of a sweep, as they are said."""

from math import exp, log
from statistics import geometric_mean
from types import SimpleNamespace

import pytest
from msgspec import to_builtins

from backend.analysis.compare.capacity import capacity_headline, find_capacities
from backend.analysis.compare.saturation import find_saturation_points, saturation_headline
from backend.analysis.grouping.measures import Measure
from backend.analysis.query.metrics import METRICS
from backend.stats.replicates import Observation, Sample, estimate


def measure(*each, origin="computed"):
    if not each:
        return Measure(None, None, None, each, None, None)
    centre = estimate(Sample(tuple(Observation(log(value), "run") for value in each)))
    low, high = (None if bound is None else exp(bound) for bound in (centre.low, centre.high))
    return Measure(exp(centre.value), low, high, each, origin, None)


NEAR = (1.0, 1.002, 0.998, 1.001, 0.999)


def point(
    x, rate, p99_ms=1.0, *, errors=0.0, overload=False, trials=3, origin="computed", near=NEAR
):
    near = near[:trials]
    return SimpleNamespace(
        x=x,
        failing=errors > 0.01,
        overload=overload,
        metrics={
            "throughput": measure(*(rate * share for share in near)),
            "p99": measure(*(p99_ms * 1000 * share for share in near), origin=origin),
            "error_rate": SimpleNamespace(value=errors),
        },
    )


def sweep(*points, label="nginx", series="aa"):
    return SimpleNamespace(group=SimpleNamespace(id=series, label=label), points=points)


WITHIN = {"limit_us": 10_000, "axis": "connections", "metric": METRICS["throughput"]}


LEVELS = {1: 1000, 8: 8000, 64: 12_000, 256: 12_010}
RISING = [point(1, 1000), point(8, 8000), point(64, 12_000), point(256, 12_010)]


def knee(*points, axis="connections", loads=()):
    (row,) = find_saturation_points([sweep(*points)], axis=axis, relevant=0.02, loads=loads)
    return row


def capacity(*points, limit_us=10_000, axis="connections", loads=()):
    (row,) = find_capacities([sweep(*points)], limit_us=limit_us, axis=axis, loads=loads)
    return row


def test_a_knee_is_a_measured_load_with_its_throughput():
    row = knee(*RISING)
    assert to_builtins(row.to_record()) == {
        "series": "aa",
        "x": 64,
        "throughput": pytest.approx(12_000 * geometric_mean(NEAR[:3])),
        "why": "Above this load, throughput rises by at most 0.46 %; nothing was measured between "
        "8 and 64, nor between 64 and 256 connections",
    }
    assert saturation_headline([row], axis="connections") == (
        "nginx saturates at 64 connections (12,000 requests/s)"
    )


def test_a_sweep_that_still_rises_says_so():
    row = knee(*RISING[:3])
    assert row.to_record().x is None
    assert row.why == (
        "Throughput still rises at 64 connections, the highest load of 3 trials or more"
    )
    assert saturation_headline([row], axis="connections").startswith(
        "nginx: throughput still rises"
    )


def test_the_lowest_load_as_a_knee_says_that_it_may_be_below():
    assert "throughput may saturate below it" in knee(*(point(x, 1000) for x in (1, 2, 4))).why


@pytest.mark.parametrize(
    ("spread", "why", "verb"),
    [
        (0.002, "Above this load, throughput rises by at most", "saturates at"),
        (
            0.015,
            "Above this load, no rise was measured, but noise could hide up to",
            "seems to saturate at",
        ),
        (0.08, "; more trials would show whether it rises", "seems to saturate"),
    ],
)
def test_a_knee_claims_no_more_than_its_noise_allows(spread, why, verb):
    near = [1 + spread * side for side in (-1, 0, 1)]
    row = knee(*(point(x, rate, near=near) for x, rate in LEVELS.items()))
    assert (row.knee.x, why in row.why) == (64, True)
    assert f"nginx {verb}" in saturation_headline([row], axis="connections")


def test_answers_that_are_failures_are_no_gain():
    row = knee(*RISING, point(512, 90_000, errors=0.9))
    assert row.to_record().x == 64
    assert row.why.endswith("(1 load above 1 % failures not counted)")


def test_a_load_that_only_others_were_measured_at_may_hide_the_knee():
    row = knee(point(1, 1000), point(8, 8000), point(256, 8010), loads=(1, 8, 64, 256))
    assert row.knee.x == 8
    assert "nor between 8 and 256 connections (other series were at 64)" in row.why
    assert saturation_headline([row], axis="connections").startswith("nginx seems to saturate at 8")


def test_a_load_of_its_own_that_does_not_count_is_none_of_others():
    row = knee(
        *RISING[:3], point(128, 1, errors=0.5), point(256, 12_000), loads=(1, 8, 64, 128, 256)
    )
    assert "others" not in row.why
    assert "(1 load above 1 % failures not counted)" in row.why
    assert "nginx saturates" in saturation_headline([row], axis="connections")


def test_loads_of_few_trials_are_told():
    row = knee(*RISING[:3], point(256, 90_000, trials=1))
    assert row.why.endswith(
        "64 connections, the highest load of 3 trials or more "
        "(1 load of fewer than 3 trials not counted)"
    )


def test_few_trials_have_no_knee():
    row = knee(*(point(x, 1000.0 * x, trials=2) for x in (1, 2, 4)))
    assert row.why == "A saturation point needs at least 3 loads of at least 3 trials"


def test_a_finding_names_three_series_and_counts_the_rest():
    rows = find_saturation_points(
        [sweep(*RISING, label=f"s{at}") for at in range(5)], axis="connections", relevant=0.02
    )
    assert saturation_headline(rows, axis="connections").endswith("; 2 more series")


def test_series_without_a_saturation_point_share_a_sentence():
    rising = [sweep(*RISING[:3], label=f"s{at}") for at in range(4)]
    few = [sweep(point(1, 1000), label=f"t{at}") for at in range(2)]
    words = {"axis": "connections", "relevant": 0.02}
    rows = find_saturation_points([*rising, *few], **words)
    assert saturation_headline(rows, axis="connections") == (
        "Throughput still rises at the highest load of s0, s1, s2, 1 more series; "
        "too few loads or trials to say for 2 series"
    )
    rows = find_saturation_points([*rising, sweep(*RISING, label="nginx")], **words)
    assert saturation_headline(rows, axis="connections").startswith(
        "nginx saturates at 64 connections (12,000 requests/s); throughput still rises"
    )


def test_the_capacity_is_the_highest_measured_load_under_the_limit():
    row = capacity(point(8, 8000, 2), point(64, 12_000, 8), point(256, 12_000, 30))
    assert to_builtins(row.to_record()) == {
        "series": "aa",
        "x": 64,
        "throughput": pytest.approx(12_000 * geometric_mean(NEAR[:3])),
        "low": 64,
        "high": 64,
        "why": "p99 8 ms [7.96, 8.04]; next load 256 connections: p99 30 ms [29.9, "
        "30.1]; nothing was measured between 64 and 256 connections",
    }
    assert capacity_headline([row], **WITHIN) == (
        "With p99 under 10 ms: nginx serves 12,000 requests/s at 64 connections"
    )


MANY = {"many": (256, 9_000), "fast": (64, 12_000), "slow": (64, 8_000), "last": (8, 500)}


def capacities(metric="throughput", baseline=None):
    sweeps = [sweep(point(x, rate, 2), label=name, series=name) for name, (x, rate) in MANY.items()]
    for line in sweeps:
        (place,) = line.points
        # Whatever serves many loads fails much.
        share = 0.1 if line.group.id == "many" else 0.9
        place.metrics["goodput"] = measure(place.metrics["throughput"].value * share)
    rows = find_capacities(sweeps, limit_us=10_000, axis="connections")
    asked = {**WITHIN, "metric": METRICS[metric]}
    return capacity_headline(rows, **asked, baseline=baseline)


def test_the_capacities_are_ordered_by_what_is_served():
    """The server of the highest load may serve less than another at a lower load."""
    assert capacities() == (
        "With p99 under 10 ms: fast serves 12,000 requests/s at 64 connections; "
        "many serves 9,000 requests/s at 256 connections; "
        "slow serves 8,000 requests/s at 64 connections; 1 more series"
    )
    goodput = capacities("goodput")
    assert "fast serves 10,800 requests/s successfully at 64 connections; slow" in goodput


def test_the_baseline_is_named_after_the_best():
    assert "connections; last serves 500 requests/s at 8 connections;" in capacities(
        baseline="last"
    )
    assert capacities(baseline="fast") == capacities()


def test_an_interval_across_the_limit_is_said():
    row = capacity(point(8, 8000, 2), point(64, 12_000, 9.99), point(256, 12_000, 10.01))
    assert (row.highest.low, row.highest.x, row.highest.high) == (8, 64, 256)
    assert capacity_headline([row], **WITHIN).endswith(
        "serves 12,000 requests/s at 64 connections, certain up to 8, possibly 256"
    )


def test_overloaded_and_failing_points_never_meet_the_limit():
    row = capacity(
        point(1000, 1000, 2),
        point(2000, 1500, 1, overload=True),
        point(3000, 3000, 1, errors=0.5),
        axis="rate",
    )
    assert (row.highest.x, row.highest.high) == (1000, 1000)
    assert "next load 2,000 offered requests/s: it did not reach the offered rate" in row.why


def test_loads_that_only_others_have_are_named_as_missing():
    row = capacity(point(8, 8000, 2), point(256, 12_000, 30), loads=[8, 32, 64, 256])
    assert row.why.endswith("between 8 and 256 connections; other series were at 32 / 64")


def test_a_lower_load_over_the_limit_is_named():
    row = capacity(point(1, 100, 30), point(8, 8000, 2))
    assert "but not at 1 (p99 30 ms" in row.why
    assert "not tested above" in row.why


def test_nothing_under_the_limit_says_how_far_off():
    row = capacity(point(8, 8000, 20), point(64, 8000, 30))
    assert row.to_record().x is None
    assert row.why.startswith(
        "Over 10 ms at every measured load; the lowest load, 8 connections: p99 20"
    )
    assert capacity_headline([row], **WITHIN) == ("With p99 under 10 ms: nginx at no measured load")


def test_nothing_surely_under_the_limit_may_be_under_it_by_noise():
    row = capacity(point(8, 8000, 10.005), point(64, 8000, 30))
    assert (row.highest.low, row.highest.x, row.highest.high) == (None, None, 8)
    assert row.why.endswith("; possibly under it at 8 connections, within noise")
    assert capacity_headline([row], **WITHIN).endswith("nginx at no measured load, possibly 8")


def test_reported_percentiles_and_single_trials_say_so():
    row = capacity(point(8, 8000, 2, trials=1, origin="reported"))
    assert "fewer than 3 trials, so the certainty is unknown" in row.why
    assert "as the load tool reports it" in row.why
    assert row.highest.low is None


def test_the_interval_of_a_reported_p99_is_not_called_a_range():
    assert "range" not in capacity(point(8, 8000, 2, origin="reported")).why


def test_an_unknown_p99_is_said():
    nothing = point(8, 8000)
    nothing.metrics["p99"] = measure()
    assert capacity(nothing).why == "Its p99 is unknown at every load"
