"""An answer that decides nothing is never called solid."""

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.testing.rows import HELLO, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

NEAR, FAR = (1000.0, 1002.0, 998.0), (1000.0, 1200.0, 800.0)
JSON = {**HELLO, "name": "json", "path": "/json"}


@pytest.fixture
def lab():
    return make_workspace("lab")


def answer(workspace, text=""):
    query = CompareQuery.parse(text)
    return plain_figures(compare(query, workspace_ids=[workspace.pk]))["answer"]


def trust(workspace, text=""):
    return answer(workspace, text)["trust"]


def first_reason(workspace, text):
    judged = trust(workspace, text)
    assert judged["level"] == "care"
    return judged["reasons"][0]["text"]


@pytest.mark.parametrize("metric", ["max", "p99"])
def test_figures_that_cannot_be_ranked(lab, metric):
    make_run(lab, *(CellSpec(name, rates=NEAR, p50_us=None, computed=False) for name in "ab"))
    assert first_reason(lab, f"metric={metric}") == "The figure of a 23.0 cannot be compared."


def test_series_without_a_common_load(lab):
    make_run(lab, CellSpec("a", connections=8, rates=NEAR), CellSpec("b", rates=NEAR))
    assert first_reason(lab, "") == "Only b 23.0 was measured at this load."


def test_error_rates_unless_nothing_failed(lab):
    make_run(lab, CellSpec("a"), CellSpec("b"))
    assert trust(lab, "metric=error_rate")["level"] == "solid"
    make_run(lab, CellSpec("c", error_rate=0.004))
    texts = [reason["text"] for reason in trust(lab, "metric=error_rate")["reasons"]]
    assert "Error rates are compared without allowing for noise." in texts


def test_panels_of_one_series_each(lab):
    make_run(lab, CellSpec("a", rates=NEAR), CellSpec("b", rates=NEAR, workload=JSON))
    text = "Each panel has one series, so no series are compared."
    assert text in [reason["text"] for reason in trust(lab, "facet=workload")["reasons"]]
    assert trust(lab, "facet=workload")["level"] == "care"


def test_ratios_are_judged_by_their_own_verdicts(lab):
    servers = [CellSpec(name, rates=FAR, workload=w) for name in "ab" for w in (HELLO, JSON)]
    make_run(lab, *servers)
    judged = trust(lab, "view=ratios")
    assert judged["level"] == "noisy"
    assert judged["reasons"][0]["text"].startswith("The noise is larger than the difference")


@pytest.mark.parametrize(
    "text", ["", "facet=workload", "view=ratios", "facet=workload&view=ratios"]
)
def test_single_trials_are_too_few_and_not_noisy(lab, text):
    specs = [
        CellSpec(name, rates=(rate,), workload=workload)
        for name, rate in (("a", 1000.0), ("b", 2000.0), ("c", 3000.0))
        for workload in (HELLO, JSON)
    ]
    make_run(lab, *(specs if text else specs[::2]))
    told = answer(lab, text)
    assert told["trust"]["level"] == "few_trials"
    assert "oo few trials to" in told["sentence"]
    reasons = [reason for reason in told["trust"]["reasons"] if "too few trials" in reason["text"]]
    assert {reason["remedy"] for reason in reasons} == {
        "One trial each gives no interval, so measure at least 2 more of each."
    }
    assert "nois" not in str(told)


def test_clear_ratios_are_solid(lab):
    fast = tuple(2 * rate for rate in NEAR)
    specs = [
        CellSpec(name, rates=rates, workload=workload)
        for name, rates in (("a", NEAR), ("b", fast))
        for workload in (HELLO, JSON)
    ]
    make_run(lab, *specs)
    assert trust(lab, "view=ratios")["level"] == "solid"


@pytest.mark.parametrize(
    ("plan", "remedy"),
    [
        ("", "Add it to the upload, or measure with the agent."),
        ("a" * 64, "The plan asks for keep-alive, but the server closed its connections."),
    ],
)
def test_what_to_do_about_an_unknown_follows_from_who_measured(lab, plan, remedy):
    closing = CellSpec("b", rates=NEAR, workload={**HELLO, "keepalive": None})
    run = make_run(lab, CellSpec("a", rates=NEAR), closing)
    type(run).objects.filter(pk=run.pk).update(plan_sha256=plan)
    (reason,) = trust(lab)["reasons"]
    assert reason["text"] == "Keep-alive is unknown for some series."
    assert reason["remedy"].startswith(remedy)


def test_the_agent_is_not_advised_where_the_agent_could_not_read_a_host(lab):
    known, unknown = make_run(lab, CellSpec("a")), make_run(lab, CellSpec("b"), host=None)
    type(known).objects.update(plan_sha256="a" * 64)
    remedies = {reason["text"]: reason["remedy"] for reason in trust(lab)["reasons"]}
    told = remedies["Processor of the server host is unknown for some series."]
    assert told.startswith("The agent could not read it.")
    assert unknown.server_host is None


def test_a_trend_of_too_few_versions(lab):
    make_run(
        lab, *(CellSpec("a", rates=NEAR, version=version) for version in ("1.0", "1.1", "1.2"))
    )
    text = "There are too few versions to find lasting changes."
    assert first_reason(lab, "x=version&view=trend&series=server") == text


def test_a_saturation_point_that_is_open(lab):
    sweep = [CellSpec("a", connections=load, rates=FAR) for load in (1, 8, 64, 512)]
    make_run(lab, *sweep)
    text = "The saturation point of a 23.0 is open."
    assert first_reason(lab, "view=tradeoff") == text


def test_a_panel_of_one_series_names_it(lab):
    make_run(lab, CellSpec("a", rates=NEAR), CellSpec("b", rates=NEAR, workload=JSON))
    told = answer(lab, "facet=workload")["sentence"]
    assert told == "By workload: hello: only a 23.0 was measured; json: only b 23.0 was measured"


def test_a_panel_where_one_series_keeps_the_limit_names_it(lab):
    slow = CellSpec("b", rates=NEAR, p50_us=30_000.0)
    make_run(lab, CellSpec("a", rates=NEAR), slow, CellSpec("a", rates=NEAR, workload=JSON))
    told = answer(lab, "facet=workload&limit=10000&at=64")["sentence"]
    assert told.startswith("By workload: hello: only a 23.0 keeps the limit; json: only a 23.0 was")


def test_an_unknown_figure_is_named_with_the_option_that_prints_it(lab):
    make_run(lab, *(CellSpec(name, rates=NEAR, p50_us=None) for name in "ab"))
    told = answer(lab, "metric=p99")["sentence"]
    assert told.endswith("at 64 connections. Latency p99 is unknown. Run wrk with --latency")


def test_an_unknown_p99_does_not_break_a_limit(lab):
    make_run(lab, CellSpec("a", rates=NEAR), CellSpec("b", rates=NEAR, p50_us=None))
    for text in ("limit=10000", "limit=10000&at=64"):
        told = answer(lab, text)
        assert "Take" not in told["sentence"]
        assert "p99 of b 23.0 is unknown" in told["sentence"]
        assert "no measured load" not in told["sentence"]
        assert told["trust"]["level"] == "care"
        assert told["trust"]["reasons"][0]["text"] == "p99 of b 23.0 is unknown."


def test_a_limit_of_which_no_p99_is_known(lab):
    make_run(lab, *(CellSpec(name, rates=NEAR, p50_us=None) for name in "ab"))
    told = answer(lab, "limit=10000&at=64")
    known = "No series is known to keep p99 under 10 ms at 64 connections"
    assert told["sentence"] == f"{known}. p99 of a 23.0, b 23.0 is unknown"
    assert told["trust"]["level"] == "care"


def test_a_rival_that_may_keep_the_limit_asks_for_care(lab):
    near_limit = CellSpec("b", rates=FAR, p50_us=5_100.0)
    make_run(lab, CellSpec("a", rates=NEAR), near_limit)
    reason = first_reason(lab, "limit=10000")
    assert reason.startswith("p99 of b 23.0 may be under 10 ms: ")
