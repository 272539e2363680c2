import re
from types import SimpleNamespace

import pytest

from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.compare.reasons import Harm
from backend.analysis.compare.trend import (
    Track,
    list_changes,
    track_of,
    trend_doubts,
    trend_headline,
)
from backend.analysis.grouping.measures import Measure
from backend.analysis.query.metrics import METRICS

P99 = METRICS["p99"]
THROUGHPUT = METRICS["throughput"]
STEADY = [100.0, 101.0, 99.0, 100.5]


def track(*factors):
    values = [
        (f"1.{at}", [value * factor for value in STEADY]) for at, factor in enumerate(factors)
    ]
    return Track("aa", "nginx", values)


def changes(one, metric=P99):
    return list_changes([one], yardstick(metric), metric=metric, axis="version")


def yardstick(metric, families=1):
    return Yardstick(metric.better, 0.02, families=families)


def headline(found, tracks, metric=P99, **more):
    return trend_headline(found, tracks, yardstick(metric), metric=metric, axis="version", **more)


def test_a_change_has_its_levels_its_ratio_and_a_sentence():
    (change,) = changes(track(40, 40.1, 40, 39.9, 52, 52.1, 52))
    found = change.record
    assert change.claim[1:] == ("nginx 1.4", "nginx 1.3")
    assert (found.series, found.x, found.verdict) == ("aa", "1.4", "regressed")
    assert found.ratio == pytest.approx(found.after / found.before)
    assert found.low < found.ratio < found.high
    assert found.text.startswith("nginx regressed with version 1.4: latency p99 1.30× [1.2")
    assert found.text.endswith("], 4 ms before, 5.21 ms since")


def test_a_change_that_may_be_below_the_threshold_is_no_improvement():
    one = track(*[1] * 6, *[0.977] * 6)
    (found,) = changes(one)
    change = found.record
    assert change.low < change.ratio < 1 / 1.02 < change.high < 1
    assert change.verdict == "size_uncertain"
    assert change.text.startswith("nginx changed with version 1.6: latency p99 0.977× [0.9")
    assert change.text.endswith(" since, perhaps by less than 2 %")


def test_more_throughput_is_better_on_a_date():
    one = Track(
        "aa",
        "nginx",
        [
            (f"2026-03-0{at}", trials)
            for at, (_, trials) in enumerate(track(1, 1, 1, 1, 2, 2, 2).values, start=1)
        ],
    )
    (found,) = list_changes([one], yardstick(THROUGHPUT), metric=THROUGHPUT, axis="date")
    assert found.record.text.startswith("nginx improved on 2026-03-05: throughput 2.00×")


def test_the_finding_is_the_largest_change():
    one = track(*[1] * 6, *[1.2] * 6, *[2] * 6)
    found = changes(one)
    assert len(found) == 2
    text = headline(found, [one])
    assert text == (
        f"{found[1].record.text}; 1 more change. To rule out a drift of the machine, measure the "
        "versions before and after the change in one run"
    )
    text = headline(found, [one], is_one_run=True)
    assert text == f"{found[1].record.text}; 1 more change"


def test_no_change_is_said_and_too_few_versions_too():
    steady, short = track(*[1] * 12), track(1, 2)
    assert headline(changes(steady), [steady]) == (
        "nginx: no lasting change of latency p99 of 2 % or more since 1.0 (12 versions)"
    )
    # Two versions are a pair: no step between them is called a change.
    assert headline([], [short]) == ("nginx: too few versions to find a change (2 of 6)")


def test_each_server_of_a_trend_is_named_with_its_own_versions():
    long, short = track(*[1] * 12), Track("bb", "caddy", [("2.8", STEADY), ("2.9", STEADY)])
    text = headline([], [short, long])
    assert text == (
        "nginx: no lasting change of latency p99 of 2 % or more since 1.0 (12 versions); "
        "caddy: too few versions to find a change (2 of 6)"
    )


def test_a_negative_answer_says_what_it_could_have_found():
    """Versions that differ by 10 % hide a change that versions without noise would show."""
    one = track(*[1, 1.1] * 5, 0.86)
    assert changes(one, THROUGHPUT) == []
    text = headline([], [one], THROUGHPUT)
    assert re.fullmatch(
        r"nginx: no lasting change of throughput of [34]\d % or more since 1.0 \(11 versions\)",
        text,
    )


def test_a_trend_without_a_size_is_no_negative_answer():
    """The newest two versions are 15 % slower: too few for a level, and as noise they hide all."""
    one = track(*[1] * 10, *[0.85] * 2)
    assert changes(one, THROUGHPUT) == []
    assert headline([], [one], THROUGHPUT) == (
        "nginx: too noisy to find a lasting change of throughput since 1.0 (12 versions), and even "
        "one of 100 % might be missed"
    )
    (doubt,) = trend_doubts([], [one], yardstick(THROUGHPUT), axis="version")
    assert (doubt.text, doubt.harm) == ("noise hides lasting changes of nginx", Harm.HIDES)
    steady = track(*[1] * 12)
    assert trend_doubts([], [steady], yardstick(THROUGHPUT), axis="version") == []


def test_a_trend_of_zeros_is_none():
    values = [(f"1.{at}", [0.0, 0.0, 1_000.0]) for at in range(8)]
    one = Track("aa", "nginx", values)
    assert headline([], [one]) == (
        "nginx: no change of latency p99 can be found since 1.0 (8 versions), as some figure is 0"
    )
    (doubt,) = trend_doubts([], [one], yardstick(P99), axis="version")
    assert doubt.text == "some figure of nginx is 0, so no change can be found"


def test_a_series_is_a_track_without_the_points_that_are_not_ranked():
    measure = Measure(1.7, None, None, (1.0, None, 3.0), "computed", None)
    metrics = {"p99": measure, "error_rate": Measure(None, None, None, (), None, None)}
    overloads = {"1.0": False, "1.1": True, None: False}
    by_x = [
        (x, Entrant("aa", "nginx", SimpleNamespace(metrics=metrics, failing=False, overload=each)))
        for x, each in overloads.items()
    ]
    found = track_of("aa", "nginx", by_x, "p99")
    assert found == Track("aa", "nginx", [("1.0", (1.0, 3.0)), ("1.1", ())])
    assert found.known == 1
