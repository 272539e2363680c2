"""The order, the places, the baseline and the sentence of a ranking, over rows as recorded."""

from math import log, sqrt
from statistics import geometric_mean, stdev

import pytest

from backend.analysis.compare.tests.ranked_series import (
    NEAR,
    around,
    ask,
    by_name,
    only_measure,
    server,
)
from backend.runs.amending.dismissals import dismiss
from backend.runs.models import Trial
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

LEVELS = (900, 1000, 1100, 1200)
# 97.5 % of Student's t with 4 degrees of freedom.
T4 = 2.776445


@pytest.fixture
def lab():
    return make_workspace("lab")


def test_without_a_choice_the_baseline_is_the_first_series_of_the_page(lab):
    make_run(lab, server("a", 900), server("b", 1000), server("c", 1600))
    ranking = ask(lab)["ranking"]
    assert [row["label"] for row in ranking["rows"]] == ["c 23.0", "b 23.0", "a 23.0"]
    assert [row["tier"] for row in ranking["rows"]] == ["1", "2", "3"]
    assert ranking["baseline"] == ranking["rows"][2]["series"]
    assert [row["ratio"]["verdict"] for row in ranking["rows"]] == [
        "improved",
        "improved",
        "unchanged",
    ]


@pytest.mark.parametrize("rates", [(900, 1000, 1600), (1600, 900, 1000), (1000, 1600, 900)])
def test_the_result_does_not_choose_the_baseline(lab, rates):
    make_run(lab, *(server(name, rate) for name, rate in zip("abc", rates, strict=True)))
    assert by_name(ask(lab))["a"]["ratio"]["why"] == "the baseline"


def test_a_series_that_is_not_ranked_is_no_baseline(lab):
    make_run(lab, server("a", 900, error_rate=0.5), server("b", 1000), server("c", 1600))
    figures = ask(lab)
    rows = by_name(figures)
    assert rows["b"]["ratio"]["why"] == "the baseline"
    assert figures["ranking"]["rows"][-1] is not rows["b"]
    assert (rows["a"]["tier"], rows["a"]["ratio"]["value"]) == (None, None)
    assert rows["a"]["ratio"]["why"] == "50 % of the requests failed, so the figure is not ranked."
    assert " a 23.0" not in figures["finding"]


def test_the_headline_holds_the_leader_against_the_runner_up(lab):
    make_run(lab, server("a", 900), server("b", 1000), server("c", 1600))
    finding = ask(lab)["finding"]
    assert finding.startswith("c 23.0 serves 1.60× [1.5")
    assert finding.endswith("the requests of b 23.0 at 64 connections, in this run")


def test_a_baseline_that_the_filters_leave_out_is_named(lab):
    make_run(lab, CellSpec("a"), CellSpec("b"))
    series = by_name(ask(lab))["b"]["series"]
    assert ask(lab, f"server=a&baseline={series}")["finding"].endswith(
        ". The baseline b 23.0 is not shown here"
    )
    unknown = ask(lab, "server=a&baseline=00000000")["finding"]
    assert unknown.endswith(". The baseline that was asked for is not shown here")


def test_a_lead_over_another_than_the_baseline_is_of_all_pairs(lab):
    make_run(lab, *(server(name, rate, 30) for name, rate in zip("abcd", LEVELS, strict=True)))
    rows = by_name(ask(lab))
    asked = ask(lab, f"baseline={rows['c']['series']}")
    lead, row = (interval_in(finding) for finding in (ask(lab)["finding"], asked["finding"]))
    # All pairs are more claims than those against one baseline, so the interval is wider.
    assert lead[0] < row[0] < row[1] < lead[1]


@pytest.mark.parametrize("baseline", ["", "c", "d"])
@pytest.mark.parametrize("rates", [LEVELS, (1100, 900, 1000, 1200), (1200, 900, 1000, 1100)])
def test_a_ratio_has_one_interval_on_a_page(lab, rates, baseline):
    """In the headline and in its row, with the baseline as runner-up and as leader."""
    make_run(lab, *(server(name, rate, 30) for name, rate in zip("abcd", rates, strict=True)))
    figures = ask(lab)
    if baseline:
        figures = ask(lab, f"baseline={by_name(figures)[baseline]['series']}")
    leader, runner_up, *_ = figures["ranking"]["rows"]
    headline = interval_in(figures["finding"])
    base = figures["ranking"]["baseline"]
    is_asked_below = baseline and base != leader["series"]
    if base == leader["series"]:
        # The same direction too, not its inverse.
        shown = (runner_up["ratio"]["low"], runner_up["ratio"]["high"])
    elif is_asked_below or base == runner_up["series"]:
        shown = (leader["ratio"]["low"], leader["ratio"]["high"])
    else:
        return
    # To three digits.
    assert headline == pytest.approx(shown, rel=0.006)


def interval_in(finding):
    low, high = finding.partition("[")[2].partition("]")[0].split(", ")
    return float(low), float(high)


def test_an_asked_baseline_is_in_the_headline(lab):
    make_run(lab, CellSpec("a", rates=(100.0, 101.0, 99.0)), server("b", 1000), server("c", 1620))
    rows = by_name(ask(lab))
    again = ask(lab, f"baseline={rows['a']['series']}")
    assert again["ranking"]["baseline"] == rows["a"]["series"]
    assert "16.2×" in again["finding"]
    assert "of a 23.0" in again["finding"]


def test_latency_is_better_when_lower(lab):
    make_run(lab, CellSpec("slow", p50_us=1600.0), CellSpec("quick", p50_us=400.0))
    figures = ask(lab, "metric=p99")
    first, second = figures["ranking"]["rows"]
    assert (first["label"], first["ratio"]["why"]) == ("quick 23.0", "the baseline")
    assert (second["ratio"]["verdict"], second["tier"]) == ("regressed", "2")
    told = "slow 23.0 answers 99 % of its requests in 4.00×"
    assert figures["finding"].startswith(told)


@pytest.mark.parametrize("metric", ["throughput", "p99", "p99.9"])
def test_the_ratio_is_that_of_the_two_figures_shown(lab, metric):
    noisy = (1000.0,) * 5 + (1010.0,) * 4 + (100.0,)
    make_run(lab, CellSpec("a", rates=noisy), CellSpec("b", rates=(400.0, 401.0, 399.0) * 3))
    rows = ask(lab, f"metric={metric}")["ranking"]["rows"]
    values = {row["label"]: row["value"] for row in rows}
    ratio = next(row["ratio"] for row in rows if row["label"].startswith("b"))
    assert ratio["value"] == pytest.approx(values["b 23.0"] / values["a 23.0"], rel=1e-12)
    assert ratio["low"] < ratio["value"] < ratio["high"]


def test_a_difference_beyond_noise_may_be_below_the_threshold(lab):
    make_run(lab, server("a", 1000, 3), server("b", 1020, 3))
    figures = ask(lab)
    row = by_name(figures)["b"]
    assert row["ratio"]["verdict"] == "size_uncertain"
    lack = "three trials a side do not show by how much"
    assert row["ratio"]["why"] == f"beyond noise, size uncertain: {lack}"
    assert 1 < row["ratio"]["low"] < 1.02 < row["ratio"]["high"]
    assert row["significant"] is True
    assert figures["finding"].startswith(
        "b 23.0 is ahead of a 23.0 at 64 connections, in this run, perhaps by less than 2 %: 1.02×"
    )
    assert figures["finding"].endswith("]. Three trials a side do not show by how much")


@pytest.mark.parametrize(
    ("counts", "lack"),
    [
        ((3, 4), ": three trials on one side do not show by how much"),
        ((4, 3), ": three trials on one side do not show by how much"),
        ((4, 4), ""),
    ],
)
def test_what_few_trials_do_not_show_is_said_of_three_only(lab, counts, lack):
    shares = (1.0, 1.006, 0.994, 1.0)
    rates = [
        [rate * share for share in shares[:count]]
        for rate, count in zip((1000, 1020), counts, strict=True)
    ]
    make_run(
        lab, *(CellSpec(name, rates=tuple(each)) for name, each in zip("ab", rates, strict=True))
    )
    figures = ask(lab)
    assert by_name(figures)["b"]["ratio"]["why"] == f"beyond noise, size uncertain{lack}"
    assert ("three trials" in figures["finding"].lower()) == bool(lack)


@pytest.mark.parametrize(("spread", "is_sized"), [(10, True), (30, False)])
def test_a_lead_that_needs_a_steady_baseline_says_so(lab, spread, is_sized):
    """Three trials do not prove that the baseline varies three times as much as the others."""
    rates = (1000, 1150, *[900 + at for at in range(6)])
    spreads = (spread, *[10] * 7)
    cells = [around(rate, width) for rate, width in zip(rates, spreads, strict=True)]
    # In another order each, so that no round is slow for all of them.
    turned = [cell[at % 3 :] + cell[: at % 3] for at, cell in enumerate(cells)]
    make_run(
        lab, *(CellSpec(name, rates=cell) for name, cell in zip("abcdefgh", turned, strict=True))
    )
    figures = ask(lab)
    ratio = by_name(figures)["b"]["ratio"]
    assert ratio["low"] > 1.02
    assert ratio["verdict"] == ("improved" if is_sized else "size_uncertain")
    why = "beyond noise and threshold if the baseline is as steady as the others"
    why += ": three trials a side do not show how steady it is"
    assert (ratio["why"] == why) != is_sized
    conditional = "b 23.0 is ahead of a 23.0 at 64 connections, in this run, if a 23.0 is as steady"
    assert figures["finding"].startswith(conditional) != is_sized
    assert (
        figures["finding"].endswith("Three trials a side do not show how steady it is") != is_sized
    )
    doubt = "is certain only if the baseline is as steady as the others"
    assert (doubt in str(figures)) != is_sized


@pytest.mark.parametrize(
    ("rate", "spread", "verdict"),
    [
        (1005, 1, "unchanged"),
        (1040, 1, "improved"),
        (960, 1, "regressed"),
        (1010, 9, "inconclusive"),
    ],
)
def test_a_verdict_needs_the_whole_interval(lab, rate, spread, verdict):
    make_run(lab, server("a", 1000, spread), server("b", rate, spread))
    ratio = by_name(ask(lab))["b"]["ratio"]
    half = T4 * stdev(map(log, around(rate, spread))) * sqrt(2 / 3)
    assert log(ratio["high"] / ratio["low"]) / 2 == pytest.approx(half, rel=0.01)
    assert ratio["verdict"] == verdict


def test_noise_says_how_much_more_would_decide_and_how_often(lab):
    make_run(lab, server("a", 1000, 4), server("b", 1010, 4))
    finding = ask(lab)["finding"]
    assert finding.startswith("Too noisy to rank b 23.0 and a 23.0 at 64 connections: 1.01× [0.9")
    assert (
        " trials to each series (enough 2 times in 3, if the difference is as measured)" in finding
    )


def test_a_maximum_is_not_ranked(lab):
    make_run(lab, server("a", 1000), server("b", 1600))
    figures = ask(lab, "metric=max")
    why = "A maximum grows with the number of requests, so it is not ranked; choose a percentile."
    for row in figures["ranking"]["rows"]:
        assert (row["tier"], row["why"]) == (None, why)
        assert row["ratio"] is None
    assert figures["finding"].endswith(why.removesuffix("."))
    assert "×" not in figures["finding"]


def test_an_error_check_withholds_the_figures_that_it_names(lab):
    cut = CellSpec("cut", rates=around(1600), trial_checks=["incomplete"])
    mixed = CellSpec("mixed", rates=around(1300), trial_checks=["percentile-order"])
    run = make_run(lab, cut, mixed, server("sound", 1000))
    throughput, p99 = by_name(ask(lab)), by_name(ask(lab, "metric=p99"))
    for rows in (throughput, p99):
        assert rows["cut"]["tier"] is None
        assert rows["cut"]["why"] == "The load tool was cut off, so the figure is not ranked."
        assert rows["cut"]["ratio"]["value"] is None
    assert throughput["mixed"]["tier"] == "1"
    assert p99["mixed"]["tier"] is None
    # A failed request is a fact whatever else is wrong.
    assert all(row["why"] is None for row in by_name(ask(lab, "metric=error_rate")).values())
    dismiss(run, "incomplete", reason="Cut on purpose, after the time was up.", author=None)
    assert by_name(ask(lab))["cut"]["tier"] == "1"
    assert by_name(ask(lab, "metric=p99"))["mixed"]["tier"] is None


def test_a_trial_far_from_the_others_counts(lab):
    near = tuple(1000 + 3 * step for step in (-3, 1, 2, -1, 0, 3, -2, 1, 0))
    rates = (*near[:4], 500.0, *near[4:])
    make_run(lab, CellSpec(rates=rates))
    measure = only_measure(lab)
    assert measure["each"] == list(rates)
    assert measure["value"] == pytest.approx(geometric_mean(rates))
    assert measure["low"] < 900


def test_a_figure_rounded_to_zero_has_no_ratio_and_an_interval_of_a_step(lab):
    run = make_run(lab, *(CellSpec(name, tool="ab", computed=False) for name in "ab"))
    for trial in Trial.objects.filter(run=run, cell__series__server__name="a"):
        trial.percentiles_us = {"50": 0.0, "99": 2000.0}
        trial.save(update_fields=["percentiles_us"])
    Trial.objects.filter(run=run).update(latency_resolution_us=1000.0)
    lab.changed()
    figures = ask(lab, "metric=p50")
    rows = by_name(figures)
    assert (rows["a"]["value"], rows["a"]["low"], rows["a"]["high"]) == (0, 0, 1000)
    assert rows["a"]["ratio"]["value"] is None
    assert "below the smallest step of the load tool" in rows["a"]["ratio"]["why"]
    # Nothing is a multiple of zero, so the next series is the baseline.
    assert rows["b"]["ratio"]["why"] == "the baseline"
    assert figures["finding"] == (
        "a 23.0 answers half of its requests within < 1 ms at 64 connections"
    )


def test_a_leader_rounded_to_zero_is_given_no_ratio_and_no_place_of_others(lab):
    run = make_run(lab, *(CellSpec(name, tool="ab", computed=False) for name in "abc"))
    p50_us = {"a": 0.0, "b": 20_000.0, "c": 80_000.0}
    for trial in Trial.objects.filter(run=run):
        trial.percentiles_us = {"50": p50_us[trial.cell.series.server.name], "99": 90_000.0}
        trial.latency_resolution_us = 1000.0
        trial.save(update_fields=["percentiles_us", "latency_resolution_us"])
    lab.changed()
    figures = ask(lab, "metric=p50")
    # The ratio of b to c is none of a to b.
    assert figures["finding"] == (
        "a 23.0 answers half of its requests within < 1 ms at 64 connections"
    )
    assert [row["tier"] for row in figures["ranking"]["rows"]] == [None, "1–2", "2–3"]
    assert by_name(figures)["c"]["ratio"]["value"] == pytest.approx(4)


def test_a_server_that_used_no_processor_time_is_not_said_to_be_rounded(lab):
    use = {"a": 0.0, "b": 1.0, "c": 2.0}
    make_run(
        lab, *(CellSpec(name, resources={"server_cpu_s": cpu_s}) for name, cpu_s in use.items())
    )
    figures = ask(lab, "metric=cpu")
    assert "0.5" not in figures["finding"]
    assert by_name(figures)["a"]["ratio"]["why"] == (
        "A figure is zero in some trial, so there is no ratio."
    )


def test_equal_rounded_figures_have_an_interval_of_a_step(lab):
    run = make_run(lab, *(CellSpec(name, tool="ab", computed=False) for name in "ab"))
    for trial in Trial.objects.filter(run=run):
        name = trial.cell.series.server.name
        trial.percentiles_us = {"50": 3000.0 if name == "a" else 4000.0, "99": 9000.0}
        trial.latency_resolution_us = 1000.0
        trial.save(update_fields=["percentiles_us", "latency_resolution_us"])
    lab.changed()
    rows = by_name(ask(lab, "metric=p50"))
    # 3 ms may have been anything from 2.5 to 3.5 ms.
    for row in rows.values():
        assert row["low"] <= row["value"] - 500
        assert row["high"] >= row["value"] + 500
    assert rows["b"]["ratio"]["verdict"] == "inconclusive"
    assert rows["b"]["ratio"]["low"] <= 3500 / 3500
    assert rows["b"]["ratio"]["high"] >= 4500 / 2500
    assert ask(lab, "metric=p50")["finding"].endswith(
        "the load tool rounds this figure too much, so more trials would hardly help"
    )


def test_panels_share_the_error_rate_of_the_page(lab):
    for build, rate in (("7", 1000), ("8", 2000)):
        run = make_run(lab, server("a", rate), server("b", rate))
        run.labels = {"build": build}
        run.save(update_fields=["labels"])
    lab.changed()
    alone = by_name(ask(lab, "label=build:7"))["b"]["ratio"]
    panels = ask(lab, "facet=label")["panels"]
    together = by_name(panels[0])["b"]["ratio"]
    error = stdev(map(log, NEAR)) * sqrt(2 / 3)
    assert log(alone["high"]) == pytest.approx(T4 * error, rel=1e-4)
    # Half of the 5 % for each of two panels: 98.73 % of Student's t with 4 degrees of freedom.
    assert log(together["high"]) == pytest.approx(3.48136 * error, rel=1e-4)


def test_the_step_of_a_figure_is_not_that_of_the_slowest_request(lab):
    """wrk printed 2.62ms and 934.00us beside a maximum of 1.02s."""
    run = make_run(lab, CellSpec("a", computed=False), CellSpec("b", computed=False))
    for trial in Trial.objects.filter(run=run):
        name = trial.cell.series.server.name
        trial.percentiles_us = {"50": 934.0 if name == "a" else 2_620.0, "99": 1_010_000.0}
        trial.latency_resolution_us = 10_000.0
        trial.save(update_fields=["percentiles_us", "latency_resolution_us"])
    lab.changed()
    figures = ask(lab, "metric=p50")
    steps = {
        series["server"]: [point["metrics"][name]["step"] for name in ("p50", "p99")]
        for series in figures["series"]
        for point in series["points"]
    }
    assert steps == {"a": [1.0, 10_000.0], "b": [10.0, 10_000.0]}
    assert "in 2.81× [2.80, 2.81] the time of a" in figures["finding"]
