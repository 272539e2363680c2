"""Runs of one series are pooled, their histograms are merged once, and statements stay few."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from backend.analysis.compare.tests.ranked_series import ask, only_point
from backend.analysis.loading import histogram_cache
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    return make_workspace("lab")


def test_runs_of_one_series_are_pooled(lab):
    for rate in (1000.0, 1010.0, 990.0):
        make_run(lab, CellSpec(rates=(rate,), checks=["few-trials"]))
    figures = ask(lab)
    point = only_point(figures)
    assert point["trials"] == 3
    assert sorted(point["metrics"]["throughput"]["each"]) == [990.0, 1000.0, 1010.0]
    assert point["metrics"]["p50"]["origin"] == "computed"
    assert point["metrics"]["p50"]["value"] == pytest.approx(800, rel=0.05)
    # Three trials together are no longer too few.
    assert "few-trials" not in point["checks"]
    assert len(figures["runs"]) == 3


def test_one_trial_without_a_histogram_makes_a_pooled_point_reported(lab):
    make_run(lab, CellSpec(computed=True))
    make_run(lab, CellSpec(computed=False))
    assert only_point(ask(lab))["metrics"]["p99"]["origin"] == "reported"


def test_the_number_of_statements_does_not_grow(lab):
    make_run(lab, *[CellSpec(name, connections=c) for name in "abcd" for c in (1, 8, 64)])
    ask(lab)  # Reads the catalogue, which is kept.
    with CaptureQueriesContext(connection) as statements:
        ask(lab)
    # Workspaces, runs, cells, trials, dismissals, the noise of the hosts, curves.
    assert len(statements) == 7
    assert not any("parsed" in one["sql"] for one in statements)


@pytest.fixture
def nothing_kept():
    histogram_cache.forget()
    yield
    histogram_cache.forget()


def pooled_sweep(lab, runs):
    for number in range(runs):
        rates = (1000.0 + 7 * number, 1010.0)
        make_run(lab, *[CellSpec("a", connections=c, rates=rates, p50_us=90 * c) for c in (1, 8)])


@pytest.mark.usefixtures("nothing_kept")
@pytest.mark.parametrize("runs", [2, 4])
def test_the_number_of_statements_does_not_grow_with_the_runs_of_a_series(lab, runs):
    pooled_sweep(lab, runs)
    with CaptureQueriesContext(connection) as first:
        ask(lab)
    with CaptureQueriesContext(connection) as second:
        ask(lab)
    # At first the five tables of the catalogue, the two sums of its texts, and the histograms of
    # the pools, too.
    assert (len(first), len(second)) == (14, 6)


@pytest.mark.usefixtures("nothing_kept")
def test_a_kept_merge_gives_the_answer_that_merging_gives(lab):
    pooled_sweep(lab, 3)
    merged = ask(lab)
    kept = ask(lab)
    histogram_cache.forget()
    assert merged == kept == ask(lab)
    assert {p["metrics"]["p50"]["origin"] for p in kept["series"][0]["points"]} == {"computed"}


@pytest.mark.usefixtures("nothing_kept")
def test_another_run_in_the_pool_is_another_merge(lab):
    make_run(lab, CellSpec(p50_us=100.0))
    make_run(lab, CellSpec(p50_us=100.0))
    before = only_point(ask(lab))["metrics"]["p99"]
    make_run(lab, CellSpec(p50_us=9000.0))
    after = only_point(ask(lab))["metrics"]["p99"]
    assert after["pooled"] > 10 * before["pooled"]
    # Two runs of three are as they were.
    assert after["value"] == pytest.approx(before["value"] * 90 ** (1 / 3), rel=0.01)


@pytest.mark.usefixtures("nothing_kept")
def test_no_more_merges_are_kept_than_there_is_room_for(lab, monkeypatch):
    monkeypatch.setattr(histogram_cache, "MAX_KEPT", 1)
    pooled_sweep(lab, 2)
    merged = ask(lab)
    assert len(histogram_cache._kept) == 1
    assert ask(lab) == merged
