"""All that a page says shares its 5 %: other metrics, other loads and changes between versions."""

import pytest

from backend.analysis.compare.ratios import Yardstick
from backend.analysis.compare.tests.ranked_series import ask, server
from backend.stats import best
from backend.testing.rows import HELLO, make_run, make_workspace

pytestmark = pytest.mark.django_db

JSON = {**HELLO, "name": "json", "path": "/json"}
# How eight versions differ by chance, in percent, and from the fifth on by 15.5 more.
WIGGLE = (3, -3, -3, 3, 3, -3, 3, -3)


@pytest.fixture
def lab():
    return make_workspace("lab")


def sentence(lab, text=""):
    return ask(lab, text)["answer"]["sentence"]


def versions(name, step=0.155, **more):
    """A server that changes, so that one family in four tells it, and one in eight does not."""
    return [
        server(name, 1000 * (1 + wiggle / 100) * (1 + step * (at >= 4)), version=f"1.{at}", **more)
        for at, wiggle in enumerate(WIGGLE)
    ]


def test_both_leaders_are_named_only_where_both_leads_hold_together(lab):
    """A lead of 6 % is clear by itself, and not together with the lead by another metric."""
    make_run(lab, server("a", 1060, 7.0), server("b", 1000, 7.0))
    assert sentence(lab).startswith("Take a 23.0")
    other = make_workspace("other")
    make_run(other, server("a", 1060, 7.0, p50_us=15_000.0), server("b", 1000, 7.0))
    told = sentence(other)
    assert told.startswith("b 23.0 serves 0.943×")
    assert "; b 23.0 has the lower p99 (" in told


def test_another_metric_at_a_lower_load_is_asked_with_all_else(lab):
    """The p99 of a is 45 % longer at 8 connections: beyond 25 % if nothing else were asked."""
    make_run(
        lab,
        *(server("a", 2000, 25.0, connections=8, p50_us=2320.0), server("a", 2000)),
        *(server("b", 1000, 25.0, connections=8, p50_us=800.0), server("b", 1000)),
    )
    assert sentence(lab).startswith("Take a 23.0 for up to 64 connections")


def test_changes_in_several_panels_share_the_error_of_the_page(lab):
    make_run(lab, *versions("trendy"), *versions("trendy", workload=JSON))
    alone, both = (
        ask(lab, "workload=hello&series=version"),
        ask(lab, "facet=workload&series=version"),
    )
    assert "trendy improved with version 1.4" in alone["finding"]
    assert "improved with version" not in both["finding"]


def test_changes_of_several_series_share_the_error_of_the_page(lab):
    trend = "x=version&view=trend&series=server"
    others = (f"steady-{number}" for number in range(7))
    make_run(lab, *versions("trendy"), *(each for name in others for each in versions(name, 0)))
    assert [change["x"] for change in ask(lab, f"{trend}&server=trendy")["changes"]] == ["1.4"]
    assert ask(lab, trend)["changes"] == []


def test_other_loads_are_held_once_and_without_advice_for_each_series(lab, monkeypatch):
    """Six servers at eight loads: what decides each ratio is asked for the rows and leads alone."""
    asked = {"ratio": 0, "places": 0}

    def count(kind, function):
        def counted(*args, **more):
            asked[kind] += 1
            return function(*args, **more)

        return counted

    monkeypatch.setattr(Yardstick, "ratio", count("ratio", Yardstick.ratio))
    monkeypatch.setattr(
        "backend.analysis.compare.ratios.rank_sets", count("places", best.rank_sets)
    )
    loads = [2**power for power in range(8)]
    make_run(
        lab,
        *(
            server(name, 1000 * load * (1 + at / 10 * (1 if load > 8 else -1)), connections=load)
            for at, name in enumerate("abcdef")
            for load in loads
        ),
    )
    told = sentence(lab)
    assert told.endswith("a 23.0 is ahead at 1 to 8 connections"), told
    assert asked["places"] == 1
    assert asked["ratio"] < 40
