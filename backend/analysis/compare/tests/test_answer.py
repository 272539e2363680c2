"""What stands first on a comparison: which server to take, by how much, and whether to trust it."""

import pytest

from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.comparison import compare
from backend.analysis.compare.reasons import Harm, Reason
from backend.analysis.compare.trust import judge_trust
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.testing.rows import MACHINE, STARTED, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

NEAR = (1.0, 1.002, 0.998)


@pytest.fixture
def lab():
    return make_workspace("lab")


def ask(workspace, text=""):
    return plain_figures(compare(CompareQuery.parse(text), workspace_ids=[workspace.pk]))


def answer(workspace, text=""):
    return ask(workspace, text)["answer"]


def cells(server, rates, *, p50_us=800.0, spread=1.0, **more):
    """A server with a rate at each load, and so much latency at its highest load."""
    return [
        CellSpec(
            server,
            connections=load,
            rates=tuple(rate * (1 + (share - 1) * spread) for share in NEAR),
            p50_us=p50_us if load == max(rates) else 800.0,
            **more,
        )
        for load, rate in rates.items()
    ]


def test_a_server_that_leads_at_every_load_is_the_one_to_take(lab):
    make_run(lab, *cells("fast", {8: 900, 64: 1600}), *cells("slow", {8: 890, 64: 1000}))
    told = answer(lab)
    taken = "Take fast 23.0 for up to 64 connections"
    assert told["sentence"] == f"{taken}: 1,600 req/s at p99 990 µs, in this run"
    # In the direction of the rows, whose baseline is the first series.
    assert told["margin"].startswith("slow 23.0 serves 0.625× [0.62")
    assert told["margin"] == ask(lab)["finding"].removesuffix(", in this run")
    assert told["trust"] == {"level": "solid", "reasons": [], "more": 0}


def test_a_server_that_is_behind_at_a_lower_load_is_taken_at_its_load_alone(lab):
    make_run(lab, *cells("fast", {8: 800, 64: 1600}), *cells("slow", {8: 890, 64: 1000}))
    assert answer(lab)["sentence"].startswith("Take fast 23.0 at 64 connections: 1,600 req/s")


def test_a_load_that_the_winner_was_not_measured_at_leaves_open_whether_it_leads_there(lab):
    make_run(lab, *cells("fast", {64: 1600}), *cells("slow", {8: 890, 64: 1000}))
    assert answer(lab)["sentence"].startswith("Take fast 23.0 at 64 connections")


def test_a_lower_load_without_a_rival_is_no_lead(lab):
    make_run(lab, *cells("fast", {8: 900, 64: 1600}), *cells("slow", {64: 1000}))
    assert answer(lab)["sentence"].startswith("Take fast 23.0 at 64 connections")


def test_a_lower_load_that_is_too_noisy_is_no_lead(lab):
    make_run(
        lab,
        *(*cells("fast", {64: 1600}), *cells("fast", {8: 900}, spread=20)),
        *(*cells("slow", {64: 1000}), *cells("slow", {8: 890}, spread=20)),
    )
    assert answer(lab)["sentence"].startswith("Take fast 23.0 at 64 connections")


def test_a_server_is_taken_only_if_it_is_ahead_of_every_other(lab):
    """The third was measured in another run, so the runs may differ by more than the lead."""
    make_run(lab, *cells("a", {64: 1000}), *cells("b", {64: 950}))
    make_run(lab, *cells("c", {64: 940}))
    figures = ask(lab)
    told, rows = figures["answer"], figures["ranking"]["rows"]
    assert rows[0]["label"] == "a 23.0"
    assert rows[0]["tier"] != "1"
    assert told["sentence"].startswith("b 23.0 serves 0.950×")
    assert told["trust"]["level"] == "care"
    (reason,) = told["trust"]["reasons"]
    text = "The noise is larger than the difference between a 23.0 and c 23.0: a difference of "
    assert reason["text"].startswith(text)


def test_a_noisy_last_server_hides_no_winner_and_is_said_aside(lab):
    noisy = CellSpec("c", rates=(100.0, 300.0, 140.0))
    make_run(lab, *cells("a", {64: 1000}), *cells("b", {64: 900}), noisy)
    figures = ask(lab)
    told = figures["answer"]
    # All pairs leave the place of c open; beside the best, it is behind.
    assert [row["tier"] for row in figures["ranking"]["rows"]] == ["1", "2–3", "2–3"]
    assert told["sentence"].startswith("Take a 23.0 at 64 connections: 1,000 req/s")
    assert told["margin"].startswith("b 23.0 serves 0.900×")
    assert told["aside"] == "c 23.0 is also behind, but too noisy to say by how much."
    assert not [each for each in told["trust"]["reasons"] if "noise" in each["text"]]


@pytest.mark.parametrize("baseline", ["", "b", "c"])
def test_a_server_that_is_taken_has_the_first_place_alone(lab, baseline):
    """Of all pairs, noise would hide the place of each."""
    rates = {"a": (1000.0, 1010.0, 990.0), "b": (955.0, 965.0, 945.0), "c": (880.0, 980.0, 860.0)}
    make_run(lab, *(CellSpec(name, rates=each) for name, each in rates.items()))
    series = {row["server"]: row["id"] for row in ask(lab)["series"]}
    figures = ask(lab, f"baseline={series[baseline]}" if baseline else "")
    first, *others = (row["tier"] for row in figures["ranking"]["rows"])
    is_taken = figures["answer"]["sentence"].startswith("Take a 23.0")
    assert is_taken == (first == "1")
    assert is_taken == all(not tier.startswith("1") for tier in others)


def test_a_tie_is_shown_as_a_tie(lab):
    make_run(lab, *cells("a", {64: 1000}), *cells("b", {64: 1001}), *cells("c", {64: 700}))
    figures = ask(lab)
    assert figures["answer"]["sentence"].startswith("b 23.0 and a 23.0 are level")
    assert [row["tier"] for row in figures["ranking"]["rows"]] == ["1–2", "1–2", "3"]


def test_nobody_is_also_behind_where_the_lead_is_open(lab):
    noisy = CellSpec("c", rates=(100.0, 300.0, 140.0))
    make_run(lab, *cells("a", {64: 1000}), *cells("b", {64: 1002}), noisy)
    told = answer(lab)
    assert told["sentence"].startswith("b 23.0 and a 23.0 are level")
    assert "aside" not in told


def test_a_noisy_last_server_that_may_be_the_best_leaves_it_open(lab):
    noisy = CellSpec("c", rates=(700.0, 1100.0, 800.0))
    make_run(lab, *cells("a", {64: 1000}), *cells("b", {64: 900}), noisy)
    told = answer(lab)
    assert "Take" not in told["sentence"]
    assert "aside" not in told
    texts = [reason["text"] for reason in told["trust"]["reasons"]]
    text = "The noise is larger than the difference between a 23.0 and c 23.0: "
    assert any(each.startswith(text) for each in texts)


def test_a_server_without_the_figure_is_said_aside(lab):
    silent = CellSpec("c", rates=[1000 * share for share in NEAR], p50_us=None)
    make_run(lab, *cells("a", {64: 1000}, p50_us=400.0), *cells("b", {64: 1000}), silent)
    told = answer(lab, "metric=p99")
    assert told["sentence"].startswith("Take a 23.0 at 64 connections")
    aside = "Not compared: c 23.0. Latency p99 is unknown. Run wrk with --latency."
    assert told["aside"] == aside


def test_several_servers_without_figures_are_named_once(lab):
    silent = CellSpec("c", rates=[1000 * share for share in NEAR], p50_us=None)
    failing = CellSpec("d", rates=[1000 * share for share in NEAR], error_rate=0.5)
    servers = (*cells("a", {64: 1000}, p50_us=400.0), *cells("b", {64: 1000}))
    make_run(lab, *servers, silent, failing)
    aside = "Not compared: d 23.0, c 23.0. The ranking gives each reason."
    assert answer(lab, "metric=p99")["aside"] == aside


def test_an_asked_baseline_that_is_too_noisy_is_not_beaten(lab):
    noisy = cells("base", {64: 900}, spread=250)
    make_run(lab, *cells("a", {64: 1600}), *cells("b", {64: 1000}), *noisy)
    base = next(row["id"] for row in ask(lab)["series"] if row["server"] == "base")
    told = answer(lab, f"baseline={base}")
    assert told["sentence"] == "Too noisy to rank a 23.0 and base 23.0 at 64 connections"
    assert told["trust"]["level"] == "noisy"


def test_by_a_latency_the_rate_stands_second(lab):
    fast = cells("fast", {64: 1000}, p50_us=400.0)
    make_run(lab, *fast, *cells("slow", {64: 1010}))
    told = answer(lab, "metric=p99")["sentence"]
    assert told == "Take fast 23.0 at 64 connections: p99 792 µs at 1,000 req/s, in this run"


@pytest.mark.parametrize("text", ["metric=cpu_per_1k", "metric=max", "metric=error_rate"])
def test_by_a_metric_that_does_not_decide_the_headline_answers(lab, text):
    make_run(lab, *cells("fast", {64: 1600}), *cells("slow", {64: 1000}))
    figures = ask(lab, text)
    told = figures["answer"]
    assert ": ".join(filter(None, (told["sentence"], told["margin"]))) == figures["finding"]


def test_with_a_limit_the_place_is_the_best_load_that_keeps_it(lab):
    """At 64 connections both are over the limit; at 8 one is."""
    fast = cells("fast", {1: 500, 8: 900, 64: 1600}, p50_us=40_000.0)
    slow = [
        *cells("slow", {8: 600}, p50_us=30_000.0),
        *cells("slow", {64: 1000}, p50_us=30_000.0),
    ]
    make_run(lab, *fast, *slow)
    figures = ask(lab, "limit=10000")
    ranking = figures["ranking"]
    assert ranking["x"] == 8
    first, second = ranking["rows"]
    assert (first["label"], first["tier"]) == ("fast 23.0", "1")
    assert "over_limit" not in first
    assert second["over_limit"] == "p99 99 ms > 10 ms"
    assert second["tier"] is None
    assert second["ratio"]["value"] < 1
    told = figures["answer"]["sentence"]
    assert told == "Take fast 23.0 at 8 connections: 900 req/s at p99 1.76 ms, in this run"
    margin = "Only fast 23.0 keeps p99 under 10 ms at 8 connections"
    assert figures["answer"]["margin"] == margin
    assert figures["answer"]["trust"]["level"] == "solid"


def test_a_winner_that_may_be_over_the_limit_asks_for_care(lab):
    """One trial has no interval, so nothing is certain."""
    make_run(lab, CellSpec("fast", rates=(1600.0,)), *cells("slow", {64: 1000}, p50_us=30_000.0))
    trust = answer(lab, "limit=10000")["trust"]
    assert trust["level"] == "care"
    texts = [reason["text"] for reason in trust["reasons"]]
    assert any(text.startswith("p99 of fast 23.0 may be over 10 ms: ") for text in texts)


def test_an_asked_place_stays_and_a_limit_that_nobody_keeps_is_said(lab):
    fast = cells("fast", {8: 900, 64: 1600}, p50_us=40_000.0)
    make_run(lab, *fast, *cells("slow", {8: 600, 64: 1000}, p50_us=30_000.0))
    figures = ask(lab, "limit=10000&at=64")
    assert figures["finding"] == "No series keeps p99 under 10 ms at 64 connections"
    assert {row["tier"] for row in figures["ranking"]["rows"]} == {None}


def test_hosts_are_compared_but_not_taken(lab):
    make_run(lab, *cells("nginx", {64: 1000}))
    make_run(lab, *cells("nginx", {64: 2000}), host={**MACHINE, "name": "bench-2", "cores": 8})
    figures = ask(lab)
    assert figures["answer"]["sentence"] == figures["finding"]


def test_a_difference_within_noise_is_too_noisy_and_says_what_would_decide(lab):
    make_run(
        lab, *cells("a", {64: 1000}, spread=4), *cells("b", {64: 1010}, spread=4, checks=["spread"])
    )
    told = answer(lab)
    assert told["sentence"] == "Too noisy to rank b 23.0 and a 23.0 at 64 connections"
    assert told["margin"].startswith("1.01× [0.9")
    assert told["trust"]["level"] == "noisy"
    noise, spread = told["trust"]["reasons"]
    text = "The noise is larger than the difference between b 23.0 and a 23.0: a difference of "
    assert noise["text"].startswith(text)
    assert (
        "to each series (enough 2 times in 3, if the difference is as measured)" in noise["remedy"]
    )
    assert noise["check"] is None
    assert spread["check"] == "spread"
    assert spread["text"].endswith("(1 of 2 load points).")
    assert spread["remedy"]


def test_level_servers_are_a_solid_answer(lab):
    make_run(lab, *cells("a", {64: 1000}), *cells("b", {64: 1002}))
    told = answer(lab)
    assert told["sentence"] == "b 23.0 and a 23.0 are level at 64 connections, in this run"
    assert told["margin"].endswith("], within the threshold of 2 %")
    assert told["trust"]["level"] == "solid"


def test_a_lead_that_may_be_too_small_asks_for_care(lab):
    make_run(lab, *cells("a", {64: 1000}, spread=3), *cells("b", {64: 1020}, spread=3))
    trust = answer(lab)["trust"]
    assert trust["level"] == "care"
    assert trust["reasons"][0]["text"].startswith("The lead of b 23.0 over a 23.0 may be too small")


def test_unlike_series_are_not_comparable_also_by_request(lab):
    make_run(lab, *cells("a", {64: 1000}))
    make_run(lab, *cells("b", {64: 1600}, tool="k6"), host={**MACHINE, "name": "x", "cores": 8})
    for text in ("", "override=1"):
        told = answer(lab, text)
        assert told["trust"]["level"] == "not_comparable"
        assert "Take" not in told["sentence"]
        assert told["trust"]["reasons"][0]["remedy"] == "Choose one tool."
    assert answer(lab)["sentence"] == "These series cannot be ranked"
    assert answer(lab)["margin"].startswith("Load tool differs: k6, wrk")


def test_one_panel_of_several_that_is_too_noisy_asks_for_care(lab):
    other = {"name": "other", "method": "GET", "path": "/o", "payload_bytes": 13, "keepalive": True}
    make_run(
        lab,
        *cells("a", {64: 1000}),
        *cells("b", {64: 1600}),
        *cells("a", {64: 1000}, workload=other, spread=9),
        *cells("b", {64: 1010}, workload=other, spread=9),
    )
    told = answer(lab, "facet=workload")
    leaders = "In this run, by workload: hello: b 23.0 leads; other: too noisy to rank"
    assert told["sentence"] == leaders
    finding = ask(lab, "facet=workload")["finding"]
    assert told["margin"] == finding.replace(", in this run", "")
    assert told["trust"]["level"] == "care"
    assert told["trust"]["reasons"][0]["text"].startswith("The noise is larger")


def test_a_trend_is_not_judged_by_the_ranking_of_its_last_version(lab):
    for version in ("1.0", "1.1", "1.2"):
        make_run(lab, *cells("a", {64: 1000}, spread=9, version=version))
    assert answer(lab, "x=version&view=trend&series=server")["trust"]["level"] != "noisy"


@pytest.mark.parametrize("axis", ["version", "date"])
def test_a_trend_is_of_one_server_also_where_servers_are_to_make_no_series(lab, axis):
    """Another server from some day on is no change of a server."""
    for day in range(1, 8):
        server = "old" if day < 5 else "new"
        rate = 1000 if day < 5 else 500
        specs = cells(server, {64: rate}, version=f"1.{day}")
        make_run(lab, *specs, started_at=STARTED.replace(day=day))
    figures = ask(lab, f"x={axis}&view=trend&series=workload")
    assert {series["server"] for series in figures["series"]} == {"old", "new"}
    assert figures["changes"] == []
    assert "old" in figures["finding"]
    assert "new" in figures["finding"]


def test_reasons_are_told_the_most_harmful_first():
    reasons = (
        Reason("unknown here", "Add it.", Harm.UNKNOWN),
        Reason("some warn", "Look.", Harm.WARNS, 0.1, "some"),
        Reason("all warn", "Look.", Harm.WARNS, 1.0, "all"),
        Reason("it differs", "Measure alike.", Harm.DIFFERS, panel="json"),
        Reason("it is wrong", "Mend it.", Harm.WITHHOLDS),
    )
    trust = judge_trust(Comparability("caveats", (), reasons))
    texts = [reason.text for reason in trust.reasons]
    told = ["It is wrong.", "json: It differs.", "All warn.", "Some warn.", "Unknown here."]
    assert texts == told
    assert trust.more == 0


def test_what_differs_together_is_a_reason():
    comparability = Comparability("caveats", (), (), confounded=("kernel", "version"))
    (reason,) = judge_trust(comparability).reasons
    assert reason.text == "These differ together: kernel, version."
    assert reason.remedy
