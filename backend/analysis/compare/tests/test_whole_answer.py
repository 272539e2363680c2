"""Sentences of a comparison are true of the whole answer: of every load, and of both metrics."""

import re
from types import SimpleNamespace

import pytest

from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.tests.ranked_series import around, ask, by_name, server
from backend.analysis.grouping.measures import Measure
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

FAR = 30.0
OTHER = {"name": "other", "method": "GET", "path": "/o", "payload_bytes": 13, "keepalive": True}


@pytest.fixture
def lab():
    return make_workspace("lab")


def sweep(name, rates, spread=1.0, **more):
    """A server with a rate at each load."""
    return [
        CellSpec(name, connections=load, rates=around(rate, spread), **more)
        for load, rate in rates.items()
    ]


CROSSING = {
    "a": {1: 1000, 8: 3000, 64: 9600, 256: 12_000},
    "b": {1: 1440, 8: 3990, 64: 10_000, 256: 10_000},
}


def answer(lab, text=""):
    return ask(lab, text)["answer"]


def test_where_curves_cross_the_sentence_says_who_leads_where(lab):
    make_run(lab, *sweep("a", CROSSING["a"]), *sweep("b", CROSSING["b"]))
    told = answer(lab)
    assert told["sentence"].startswith("Take a 23.0 at 256 connections: 12,000 req/s")
    assert told["sentence"].endswith("; b 23.0 is ahead at 1 to 64 connections")
    assert "b 23.0 is ahead of a 23.0 at 1 to 64 connections (1.04× to 1.44×)" in told["margin"]
    assert told["margin"] == ask(lab)["finding"].replace(", in this run", "")


def test_the_range_begins_where_the_lead_does(lab):
    make_run(
        lab, *sweep("a", {1: 900, 8: 3000, 64: 12_000}), *sweep("b", {1: 1000, 8: 2500, 64: 9000})
    )
    told = answer(lab)["sentence"]
    assert told.startswith("Take a 23.0 from 8 to 64 connections: 12,000 req/s")
    assert told.endswith("; b 23.0 is ahead at 1 connection")


def test_a_lead_elsewhere_within_noise_or_threshold_is_not_claimed(lab):
    """By 1 %, and by 30 % with as much noise."""
    make_run(
        lab,
        *(*sweep("a", {64: 12_000}), *sweep("a", {1: 1000}), *sweep("a", {8: 3000}, FAR)),
        *(*sweep("b", {64: 9000}), *sweep("b", {1: 1010}), *sweep("b", {8: 3900}, 150.0)),
    )
    figures = ask(lab)
    assert figures["answer"]["sentence"].startswith("Take a 23.0 at 64 connections")
    assert "is ahead" not in figures["answer"]["sentence"] + figures["finding"]


def test_a_sentence_about_several_loads_holds_at_all_of_them_together(lab):
    """A lead of 6 % is clear for one load alone, and not together with eleven others."""
    make_run(lab, *sweep("a", {64: 1060}, 7.0), *sweep("b", {64: 1000}, 7.0))
    assert answer(lab)["sentence"].startswith("Take a 23.0 at 64 connections")
    lower = {load: 100 * load for load in range(1, 12)}
    twice = {load: 2 * rate for load, rate in lower.items()}
    make_run(
        lab,
        *sweep("a", {**lower, 64: 1060}, 7.0, workload=OTHER),
        *sweep("b", {**twice, 64: 1000}, 7.0, workload=OTHER),
    )
    figures = ask(lab, "workload=other")
    assert figures["answer"]["sentence"].startswith("b 23.0 serves 0.943×")
    assert "b 23.0 is ahead of a 23.0 at 1 to 11 connections (2.00×)" in figures["finding"]


def test_a_tie_says_who_is_ahead_at_other_loads(lab):
    make_run(
        lab, *sweep("a", {1: 1000, 8: 3000, 64: 9000}), *sweep("b", {1: 1200, 8: 3900, 64: 9010})
    )
    told = answer(lab)
    assert told["sentence"] == "b 23.0 and a 23.0 are level at 64 connections, in this run"
    assert told["margin"].endswith(
        "b 23.0 is ahead of a 23.0 at 1 and 8 connections (1.20× to 1.30×)"
    )


def test_a_panel_says_that_its_leader_is_behind_elsewhere(lab):
    make_run(
        lab,
        *(*sweep("a", CROSSING["a"]), *sweep("b", CROSSING["b"])),
        *(*sweep("a", {256: 900}, workload=OTHER), *sweep("b", {256: 700}, workload=OTHER)),
    )
    told = answer(lab, "facet=workload")["sentence"]
    assert "hello: a 23.0 leads, but b 23.0 is ahead at 1 to 64 connections; " in told
    assert told.endswith("other: a 23.0 leads")


def test_both_leaders_are_named_where_the_metrics_disagree(lab):
    make_run(lab, server("a", 1200, p50_us=12_000.0), server("b", 1000, p50_us=800.0))
    told = answer(lab)
    assert re.fullmatch(
        r"a 23.0 has the higher throughput at 64 connections, b 23.0 the lower p99 \(12.5×\)",
        told["sentence"],
    )
    assert told["margin"].startswith("b 23.0 serves 0.833×")
    assert ". b 23.0 answers 99 % of its requests in 0.08" in told["margin"]
    by_tail = answer(lab, "metric=p99")["sentence"]
    assert by_tail.startswith("b 23.0 has the lower p99 at 64 connections, a 23.0 the higher throu")


def test_which_runs_it_is_about_is_said_once(lab):
    """Of one winner, of several panels, and where the metrics disagree."""
    a_long = {"p50_us": 15_000.0, "workload": OTHER}
    make_run(
        lab,
        *(server("a", 1200), server("b", 1000)),
        *(server("a", 1200, **a_long), server("b", 1000, workload=OTHER)),
    )
    for text in ("workload=hello", "workload=other", "facet=workload"):
        told = answer(lab, text)
        assert f"{told['sentence']} {told['margin']}".lower().count("in this run") == 1, told
    assert ask(lab, "workload=hello")["finding"].endswith("at 64 connections, in this run")


def test_a_load_where_the_metrics_disagree_ends_the_range(lab):
    """At 8 connections, the p99 of a is four times as long."""
    tails = {1: 800.0, 8: 3200.0, 64: 800.0}
    for_a = (server("a", 1200, connections=x, p50_us=tail) for x, tail in tails.items())
    make_run(lab, *for_a, *sweep("b", {1: 1000, 8: 1000, 64: 1000}))
    assert answer(lab)["sentence"].startswith("Take a 23.0 at 64 connections")


def test_a_metric_that_is_not_ranked_ends_no_range(lab):
    """The p99 of a is four times as long at 8 connections, but its percentiles contradict."""
    make_run(
        lab,
        server("a", 1200, connections=8, p50_us=3200.0, trial_checks=["percentile-order"]),
        server("a", 1200),
        *sweep("b", {8: 1000, 64: 1000}),
    )
    assert answer(lab)["sentence"].startswith("Take a 23.0 for up to 64 connections")


def test_a_small_loss_by_the_other_metric_takes_no_recommendation(lab):
    """20 % is below the size that makes another leader (decision 0080)."""
    make_run(lab, server("a", 1200, p50_us=1152.0), server("b", 1000, p50_us=800.0))
    assert answer(lab)["sentence"].startswith("Take a 23.0 at 64 connections")


def test_a_loss_that_noise_may_explain_takes_no_recommendation(lab):
    """35 %, but perhaps less than 25 %."""
    make_run(lab, server("a", 1800, 20.0, p50_us=1944.0), server("b", 1000, 20.0, p50_us=800.0))
    assert answer(lab)["sentence"].startswith("Take a 23.0 at 64 connections")


def test_a_limit_says_which_p99_is_good_enough(lab):
    make_run(lab, server("a", 1200, p50_us=4_000.0), server("b", 1000, p50_us=800.0))
    assert answer(lab)["sentence"].startswith("a 23.0 has the higher throughput")
    assert answer(lab, "limit=10000&at=64")["sentence"].startswith("Take a 23.0 at 64 connections")


def test_of_several_series_the_leader_and_the_better_tail_are_named(lab):
    make_run(
        lab,
        server("a", 1500, p50_us=15_000.0),
        server("b", 1200, p50_us=1200.0),
        server("c", 1000, p50_us=500.0),
    )
    told = answer(lab)["sentence"]
    assert told.startswith(
        "a 23.0 has the highest throughput at 64 connections, c 23.0 a lower p99 ("
    )


def test_a_limit_is_judged_on_both_sides(lab):
    """Kept within noise, kept, broken within noise, and broken."""
    specs = {
        "kept": (9000.0, 1.0),
        "kept-perhaps": (9800.0, 20.0),
        "over-perhaps": (10_200.0, 20.0),
        "over": (15_000.0, 1.0),
    }
    make_run(
        lab,
        *(server(name, 1000, spread, p50_us=p99 / 2) for name, (p99, spread) in specs.items()),
    )
    figures = ask(lab, "limit=10000&at=64")
    rows = by_name(figures)
    doubts = {name: row.get("limit_doubt") for name, row in rows.items()}
    assert doubts["kept"] is doubts["over"] is None
    assert doubts["kept-perhaps"].startswith("p99 may be over 10 ms: 9.7")
    assert doubts["over-perhaps"].startswith("p99 may be under 10 ms: 10.1 ms [")
    assert "over_limit" in rows["over-perhaps"]
    points = {
        series["server"]: series["points"][0].get("limit_doubt") for series in figures["series"]
    }
    assert points == doubts
    reasons = [reason["text"] for reason in figures["answer"]["trust"]["reasons"]]
    for name in ("kept-perhaps", "over-perhaps"):
        assert any(text.startswith(f"p99 of {name} 23.0 may be ") for text in reasons)
    assert figures["answer"]["trust"]["level"] != "solid"


def test_without_a_limit_nothing_is_marked(lab):
    make_run(lab, server("a", 1000, 20.0), server("b", 900, 20.0))
    assert "limit_doubt" not in str(ask(lab))


def test_a_winner_that_may_be_over_the_limit_says_so_in_its_sentence(lab):
    make_run(lab, server("a", 1500, 20.0, p50_us=7_350.0), server("b", 900, p50_us=1_000.0))
    told = answer(lab, "limit=10000&at=64")["sentence"]
    assert re.fullmatch(
        r"Take a 23.0 at 64 connections: .* ms, and p99 may be over 10 ms, in this run", told
    )


def test_a_faster_rival_that_may_keep_the_limit_takes_the_recommendation(lab):
    make_run(lab, server("a", 900, p50_us=1_000.0), server("b", 1500, 20.0, p50_us=7_650.0))
    told = answer(lab, "limit=10000&at=64")["sentence"]
    assert "Take" not in told
    assert "p99 of b 23.0 may be under 10 ms: 10.1 ms [" in told


def test_a_slower_rival_that_may_keep_the_limit_does_not(lab):
    make_run(lab, server("a", 1500, p50_us=1_000.0), server("b", 900, 20.0, p50_us=4_590.0))
    told = answer(lab, "limit=10000&at=64")
    assert told["sentence"].startswith("Take a 23.0 at 64 connections")
    assert (
        told["margin"] == "Only a 23.0 keeps p99 under 10 ms at 64 connections, but not for certain"
    )


def test_a_negative_answer_says_which_difference_it_could_have_found(lab):
    make_run(lab, server("a", 1000, 9.0), server("b", 1010, 9.0))
    figures = ask(lab)
    told = figures["answer"]
    found = re.search(
        r"\]; a difference of ([\d.]+) % or more would have been found", told["margin"]
    )
    ratio = by_name(figures)["b"]["ratio"]
    assert float(found[1]) == pytest.approx(ratio["finds_from"] * 100, rel=0.05)
    assert ratio["finds_from"] > ratio["high"] - 1
    assert found[0][3:] in told["trust"]["reasons"][0]["text"]
    assert by_name(figures)["a"]["ratio"]["finds_from"] is None


def test_a_tie_at_the_top_names_who_is_behind(lab):
    make_run(lab, server("a", 1000), server("b", 1001), server("c", 700), server("d", 600))
    told = answer(lab)
    assert told["sentence"].startswith("b 23.0 and a 23.0 are level")
    assert told["margin"].endswith(". c 23.0, d 23.0 are behind b 23.0")


VERSIONS = [f"2.{minor}.0" for minor in range(12)]


def test_two_versions_are_a_pair_and_no_trend(lab):
    make_run(lab, server("nginx", 1000, version="1.9"), server("nginx", 1100, version="1.10"))
    figures = ask(lab, "x=version&view=trend&series=server")
    told = figures["answer"]
    assert re.match(
        r"nginx: 1.10 serves 1.100× \[1.0\d+, 1.1\d+\] the requests of 1.9 in this run$",
        told["sentence"],
    )
    assert told["trust"] == {"level": "solid", "reasons": [], "more": 0}
    by_tail = answer(lab, "x=version&view=trend&series=server&metric=p99")["sentence"]
    assert by_tail.startswith("nginx: 1.10 answers 99 % of its requests in 0.909×")


def test_two_versions_that_noise_hides_are_no_trend_either(lab):
    make_run(
        lab, server("nginx", 1000, 9.0, version="1.9"), server("nginx", 1010, 9.0, version="1.10")
    )
    told = answer(lab, "x=version&view=trend&series=server")
    assert told["sentence"] == "nginx: Too noisy to compare 1.10 and 1.9"
    assert "would have been found" in told["margin"]
    assert told["trust"]["level"] == "noisy"
    assert not [each for each in told["trust"]["reasons"] if "too few versions" in each["text"]]


def test_a_pair_stands_beside_the_trend_of_another_server(lab):
    make_run(
        lab,
        *(server("nginx", 1000, version=version) for version in VERSIONS),
        *(server("caddy", rate, version=version) for version, rate in (("1", 900), ("2", 990))),
    )
    told = answer(lab, "x=version&view=trend&series=server")["sentence"]
    assert told.startswith("nginx: no lasting change of throughput of 2 % or more since 2.0.0")
    # The interval shares the 5 % of the page with the trend: it has less digits than a pair alone.
    assert ". caddy: 2 serves 1.10× [1.0" in told


def test_a_regression_among_versions_is_not_hidden_behind_a_tie(lab):
    """The first seven are equal, the newest five are slower; each has a run of its own."""
    for place, version in enumerate(VERSIONS):
        rate = 5000 + 3 * place if place < 7 else 4200 + 3 * place
        make_run(lab, server("trendy", rate, version=version))
    figures = ask(lab, "series=version")
    told = figures["answer"]
    assert told["sentence"].startswith(
        "At 64 connections, trendy regressed with version 2.7.0: throughput 0.84"
    )
    assert told["margin"].startswith("Too noisy to rank trendy 2.6.0 and trendy 2.5.0")
    assert told["trust"]["level"] == "care"
    assert figures["finding"] == f"{told['sentence']}: {told['margin']}"


def test_a_regression_stands_behind_a_clear_winner_too(lab):
    rates = [1200] + [1000] * 5 + [800] * 6
    make_run(
        lab,
        *(server("trendy", rate, version=v) for v, rate in zip(VERSIONS, rates, strict=True)),
    )
    told = answer(lab, "series=version")
    assert told["sentence"].startswith("Take trendy 2.0.0 at 64 connections")
    assert "trendy regressed with version 2.6.0" in told["margin"]


def test_servers_and_settings_are_no_versions(lab):
    """Eleven settings of one version, of which five are slower."""
    make_run(
        lab,
        *(
            server("nginx", 1000 if size < 6 else 800, configuration={"workers": size})
            for size in range(12)
        ),
    )
    assert "regressed" not in ask(lab)["finding"]


def test_an_unknown_figure_names_the_latency_that_is_known():
    known, unknown = (Measure(value, None, None, (value,), None, None) for value in (900.0, None))
    metrics = {"throughput": unknown, "p50": known, "p99": known, "error_rate": unknown}
    point = SimpleNamespace(metrics=metrics, failing=False, overload=None, cells=())
    told = Entrant("aa", "nginx", point).unranked("throughput")
    assert told == "Throughput is unknown. Latency p99 is known: choose that metric."
    metrics["p99"] = unknown
    told = Entrant("aa", "nginx", point).unranked("throughput")
    assert told == "Throughput is unknown. Latency p50 is known: choose that metric."
