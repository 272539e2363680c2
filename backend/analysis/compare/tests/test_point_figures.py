"""The figures of a point: throughput, percentiles and error rate of its trials."""

from math import exp, log, sqrt
from statistics import geometric_mean, stdev

import pytest

from backend.analysis.compare.tests.ranked_series import ask, only_point
from backend.runs.models import Cell
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    return make_workspace("lab")


def test_throughput_is_the_geometric_mean_with_its_interval_and_warmups_do_not_count(lab):
    rates = (1000.0, 1010.0, 960.0)
    make_run(lab, CellSpec(rates=rates, warmups=2))
    measure = only_point(ask(lab))["metrics"]["throughput"]
    level = geometric_mean(rates)
    # 97.5 % of Student's t with 2 degrees of freedom.
    factor = exp(4.302653 * stdev(map(log, rates)) / sqrt(3))
    assert measure["each"] == list(rates)
    assert measure["value"] == pytest.approx(level)
    assert (measure["low"], measure["high"]) == pytest.approx((level / factor, level * factor))
    assert measure["interval"] == "95 % interval within this run"


@pytest.mark.parametrize("rates", [(10.0, 10.2, 500.0), (10.0, 500.0)])
def test_unlike_trials_have_their_range_unless_the_interval_is_narrower(lab, rates):
    make_run(lab, CellSpec(rates=rates))
    measure = only_point(ask(lab))["metrics"]["throughput"]
    assert measure["value"] == pytest.approx(geometric_mean(rates))
    assert (measure["low"], measure["high"]) == (10.0, 500.0)
    assert measure["interval"] == "range of the trials, which differ tenfold or more"


@pytest.mark.parametrize(
    "rates",
    [
        (10.0, 10.2, 99.0),  # below tenfold
        (10.0, 99.0),  # and too few for an interval
        (10.0, 10.2, 9.9, 10.1, 10.3, 500.0),  # the interval is narrower
    ],
)
def test_other_trials_keep_their_interval(lab, rates):
    make_run(lab, CellSpec(rates=rates))
    measure = only_point(ask(lab))["metrics"]["throughput"]
    assert measure["interval"] == (None if len(rates) < 3 else "95 % interval within this run")
    assert (measure["low"], measure["high"]) != (min(rates), max(rates))


def test_trials_without_a_throughput_do_not_count(lab):
    make_run(lab, CellSpec(rates=(1000.0, None, 1020.0)), CellSpec("dead", rates=(None,)))
    figures = ask(lab)
    assert [series["server"] for series in figures["series"]] == ["sync"]
    point = only_point(figures)
    assert point["trials"] == 2
    assert point["metrics"]["throughput"]["low"] is None


def test_one_cell_takes_its_stored_percentiles_without_reading_a_histogram(lab):
    make_run(lab, CellSpec())
    Cell.objects.update(percentiles_us={"50": 123.0, "99": 456.0}, histogram=b"never read")
    metrics = only_point(ask(lab))["metrics"]
    assert (metrics["p50"]["pooled"], metrics["p99"]["pooled"]) == (123.0, 456.0)
    assert metrics["p50"]["origin"] == "computed"
    # The figure is the centre of the trials: all requests together do not change it.
    assert metrics["p50"]["value"] == pytest.approx(geometric_mean(metrics["p50"]["each"]))


def test_reported_percentiles_are_never_merged(lab):
    make_run(lab, CellSpec(rates=(1000.0, 500.0, 2000.0), computed=False, p50_us=800.0))
    p50 = only_point(ask(lab))["metrics"]["p50"]
    assert p50["origin"] == "reported"
    assert "pooled" not in p50
    assert p50["value"] == pytest.approx(800.0)
    assert p50["interval"] == "95 % interval within this run"
    factor = exp(4.302653 * log(2) / sqrt(3))
    assert (p50["low"], p50["high"]) == pytest.approx((800 / factor, 800 * factor))


def test_unknown_latency_and_error_rate_stay_unknown(lab):
    make_run(lab, CellSpec(p50_us=None, error_rate=None))
    metrics = only_point(ask(lab))["metrics"]
    assert metrics["p99"]["value"] is None
    assert metrics["p99"]["origin"] is None
    assert metrics["error_rate"]["value"] is None
    assert metrics["error_rate"]["each"] == [None, None, None]


def test_the_error_rate_pools_attempts_and_not_rates(lab):
    run = make_run(lab, CellSpec(rates=(1000.0, 100.0, 100.0)))
    slow = run.trials.filter(warmup=False).last()
    slow.error_rate, slow.requests_ok, slow.failed = 0.5, 500, 500
    slow.save()
    rate = only_point(ask(lab))["metrics"]["error_rate"]
    assert rate["value"] == pytest.approx(500 / 12_000)
    assert rate["each"] == [0.0, 0.0, 0.5]


def test_attempts_that_got_no_response_count_in_the_pooled_error_rate(lab):
    run = make_run(lab, CellSpec(rates=(1000.0, 1000.0, 1000.0)))
    refused = run.trials.filter(warmup=False).last()
    refused.requests_completed = refused.requests_ok = 0
    refused.throughput_rps, refused.error_rate = 0.0, 1.0
    refused.errors = {"connect": 10_000}
    refused.attempts = refused.failed = 10_000
    refused.save()
    point = only_point(ask(lab))
    assert point["metrics"]["error_rate"]["value"] == pytest.approx(10_000 / 30_000)
