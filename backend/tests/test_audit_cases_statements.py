"""Statements that were once false or misled, each asked over the API.

Settled elsewhere, from the upload to the answer:

| case | test |
|---|---|
| 2, one output uploaded again | `backend/ingest/tests/test_repeated_outputs.py` |
| 9, redirects | `backend/ingest/tests/test_responses.py` |
| 11, ports and open files of the client | `backend/ingest/tests/test_responses.py` |
| 15, wrk's rounded time | `backend/formats/tests/test_elapsed.py` |
| 17, uploads of 5,000 trials | `backend/ingest/tests/test_large_runs.py` |
"""

import csv
import io
import json
import re

import pytest

from backend.runs.checks import CHECKS
from backend.runs.models import Trial
from backend.testing.lab import Lab
from backend.testing.made.printing import made_trial, print_trial, print_trials

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _files(settings, tmp_path):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def lab():
    return Lab()


def around(rate, *shares):
    """Rates that differ from `rate` by these percentages."""
    return [rate * (1 + share / 100) for share in shares]


def test_01_the_order_and_the_ratio_are_of_one_centre(lab):
    bimodal = around(8_000, -18, -17, 1, 2, 1.5)
    lab.upload(
        {
            "alpha": print_trials("wrk", bimodal),
            "beta": print_trials("wrk", around(7_700, 0, 1, -1, 0.5, -0.5)),
        }
    )
    answer = lab.ask()
    first, second = answer["ranking"]["rows"]
    assert first["value"] > second["value"]
    for row in (first, second):
        base = answer.row("alpha")["value"]
        assert row["ratio"]["value"] == pytest.approx(row["value"] / base)
    assert first["ratio"]["verdict"] != "regressed"


def test_03_an_interval_is_named_by_what_it_covers(lab):
    lab.upload({"alpha": print_trials("wrk", around(8_000, 0, 1, -1))})
    measures = lab.ask().point("alpha")["metrics"]
    for metric in ("throughput", "p99"):
        assert measures[metric]["interval"] == "95 % interval within this run"


def test_04_level_and_ahead_need_the_whole_interval(lab):
    lab.upload(
        {
            "alpha": print_trials("wrk", around(8_000, 1.5, 0.5, 2.5, 1, 2)),
            "beta": print_trials("wrk", around(8_000, 0, -1, 1, 0.5, -0.5)),
        }
    )
    answer = lab.ask()
    ratio = answer.row("beta")["ratio"]
    assert ratio["low"] < 1 / 1.02 < ratio["high"]
    assert ratio["verdict"] in ("size_uncertain", "inconclusive")
    assert "within the threshold" not in answer["finding"]


def test_05_the_advice_is_for_each_side_and_has_odds(lab):
    lab.upload(
        {
            "alpha": print_trials("wrk", around(8_000, 0, 1, -1)),
            "beta": print_trials("wrk", around(8_000, 0.5, 2, -1.5)),
        }
    )
    finding = lab.ask()["finding"]
    assert re.search(
        r"add about \d+ trials to each series \(enough 2 times in 3, if the difference is",
        finding,
    )


def test_05_a_server_with_two_levels_needs_no_trials(lab):
    levels = around(9_000, -18, 1, -17, 2, -18.5, 1.5, -17.5, 0.5, 1, -18, 2, -17)
    lab.upload(
        {
            "alpha": print_trials("wrk", levels),
            "beta": print_trials("wrk", around(8_000, *[0.5, -0.5] * 6)),
        }
    )
    answer = lab.ask()
    assert answer.fired["two-modes"] == "warning"
    assert answer["finding"].endswith(
        "find what switches between them and measure each group separately"
    )
    assert not re.search(r"about \d+ trials|[Mm]ore trials", json.dumps(answer["answer"]))


@pytest.mark.parametrize(
    ("count", "scope"),
    [(1, "in this run"), (2, "in the 2 runs that measured both"), (3, "over 3 runs")],
)
def test_a_verdict_names_the_runs_it_holds_for(lab, count, scope):
    for run in range(count):
        lab.upload(
            {
                "alpha": print_trials("wrk", around(9_000 + run, 0, 0.2, -0.2)),
                "beta": print_trials("wrk", around(6_000 + run, 0, 0.2, -0.2)),
            }
        )
    answer = lab.ask()
    assert answer.row("beta")["ratio"]["verdict"] == "regressed"
    assert answer.row("beta")["ratio"]["scope"] == scope
    assert answer["finding"].endswith(f"the requests of alpha 1.0 at 10 connections, {scope}")


def test_a_verdict_over_different_runs_names_what_it_allows_for(lab):
    lab.upload({"alpha": print_trials("wrk", around(9_000, 0, 0.2, -0.2))})
    lab.upload({"beta": print_trials("wrk", around(6_000, 0, 0.2, -0.2))})
    answer = lab.ask()
    scope = "allowing for runs that differ by 3 % (assumed)"
    assert answer.row("beta")["ratio"]["verdict"] == "regressed"
    assert answer.row("beta")["ratio"]["scope"] == scope
    assert answer["finding"].endswith(scope)


def cut_off(text):
    return text[: text.index("Requests/sec")]


def percentiles_swapped(figures):
    figures.swap("50", "99")


def maximum_as_p99(figures):
    top = 4 * figures.percentiles_us["50"]
    figures.percentiles_us |= dict.fromkeys(("99", "99.9", "99.99"), top)
    figures.max_us = top


@pytest.mark.parametrize(
    ("check", "metric", "spoil"),
    [
        ("incomplete", "throughput", cut_off),
        ("percentile-order", "p99", percentiles_swapped),
        ("p99-equals-mean-or-max", "p99", maximum_as_p99),
    ],
)
def test_06_an_error_withholds_the_ranking_it_names(lab, check, metric, spoil):
    rates = around(8_000, 0, 1, -1)
    sound = print_trials("oha", around(5_000, 0, 1, -1))
    if spoil is cut_off:
        sound = print_trials("wrk", around(5_000, 0, 1, -1))
        spoiled = [cut_off(text) for text in print_trials("wrk", rates)]
    else:
        trials = [made_trial(rate, seed=at) for at, rate in enumerate(rates)]
        spoiled = [print_trial("oha", trial, spoil) for trial in trials]
    lab.upload({"alpha": spoiled, "beta": sound}, tool="wrk" if spoil is cut_off else "oha")
    answer = lab.ask(metric=metric)
    assert answer.fired[check] == "error"
    assert answer.row("alpha")["tier"] is None
    assert answer.row("alpha")["why"] == f"{CHECKS[check].title}, so the figure is not ranked."
    assert answer.row("alpha")["ratio"]["value"] is None


def test_07_a_ceiling_shared_by_four_shows_beside_a_slow_server(lab):
    fast = {name: print_trials("wrk", around(9_000, at / 10, 0, 0.1)) for at, name in
            enumerate(("alpha", "beta", "gamma", "delta"))}  # fmt: skip
    lab.upload({**fast, "slow": print_trials("wrk", around(2_000, 0, 1, -1))})
    assert "common-ceiling" in lab.ask().fired


def test_08_few_requests_of_a_histogram_have_no_certain_tail(lab):
    lab.upload({"alpha": print_trials("hey CSV", around(500, 0, 1, -1))}, tool="hey")
    answer = lab.ask()
    assert answer.point("alpha")["metrics"]["p99"]["origin"] == "computed"
    assert "far-tail-samples" in answer.fired


def test_10_a_median_rounded_to_zero_is_below_the_step(lab):
    lab.upload({"alpha": print_trials("ab", around(30_000, 0, 1, -1))}, tool="ab")
    answer = lab.ask(metric="p50")
    assert (
        answer["finding"]
        == "alpha 1.0 answers half of its requests within < 1 ms at 10 connections"
    )
    assert "0 µs" not in answer["finding"]


def test_12_wrk_may_add_latencies_of_its_own(lab):
    # wrk adds made-up requests for slow ones, which raises its mean latency.
    draws = [
        made_trial(8_000, seed=at, law=lambda rng, size: 0.5 + rng.exponential(0.5, size))
        for at in range(3)
    ]
    lab.upload({"alpha": [print_trial("wrk", draw) for draw in draws]})
    assert "littles-law" not in lab.ask().fired


def test_13_a_maximum_has_no_verdict(lab):
    lab.upload(
        {
            "alpha": print_trials("wrk", around(8_000, 0, 1, -1), seconds=1.2),
            "beta": print_trials("wrk", around(8_000, 0, 1, -1), seconds=6.0),
        }
    )
    answer = lab.ask(metric="max")
    for name in ("alpha", "beta"):
        row = answer.row(name)
        assert row["tier"] is None
        assert row["ratio"] is None
        assert "A maximum grows with the number of requests" in row["why"]


def test_14_equal_rounded_latencies_have_an_interval(lab):
    lab.upload(
        {
            "alpha": print_trials("ab", around(1_000, 0, 1, -1), connections=10),
            "beta": print_trials("ab", around(950, 0, 1, -1), connections=10),
        },
        tool="ab",
    )
    answer = lab.ask(metric="p50")
    interval = answer.point("alpha")["metrics"]["p50"]["interval"]
    assert interval == "95 % interval within this run, widened for rounding"
    ratio = answer.row("beta")["ratio"]
    assert ratio["low"] < ratio["value"] < ratio["high"]
    assert ratio["verdict"] == "inconclusive"


def test_16_conditions_do_not_say_keepalive_of_a_server_that_closes(lab):
    closed = [
        re.sub(r"Keep-Alive requests: +\d+", "Keep-Alive requests:    0", text)
        for text in print_trials("ab", around(8_000, 0, 1, -1))
    ]

    def say_nothing(trial):
        trial["workload"].pop("keepalive")

    lab.upload({"sync": closed}, tool="ab", edit=say_nothing)
    assert "no keep-alive" in lab.ask()["conditions"]


def test_a_table_has_no_zero_for_a_latency_below_the_step(lab):
    lab.upload({"alpha": print_trials("ab", around(30_000, 0, 1, -1))}, tool="ab")
    (row,) = csv.DictReader(io.StringIO(lab.ask_csv(metric="p50")))
    assert (row["p50_us"], row["p50_us_below"]) == ("", "1000.0")
    assert row["throughput_rps_interval"] == "95 % interval within this run"


@pytest.mark.parametrize(
    ("server", "detail"),
    [
        ({}, "The server is not named; its answers say nginx/1.25."),
        ({"name": "proxy"}, "No server version was recorded; its answers say nginx/1.25."),
    ],
)
def test_a_server_without_a_name_has_that_of_its_answers_as_a_hint(lab, server, detail):
    def forget(trial):
        trial["server"] = server

    run = lab.upload({"alpha": print_trials("ab", around(8_000, 0))}, tool="ab", edit=forget)
    trial = Trial.objects.get(run=run)
    assert {"id": "unknown-server-version", "detail": detail} in trial.checks
