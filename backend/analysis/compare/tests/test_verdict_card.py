"""A headline claims no more than its trust, names what differs, and gives one advice."""

import re

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.testing.rows import HELLO, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

NEAR, FAR = (1.0, 1.002, 0.998), (1.0, 1.2, 0.8)
JSON = {**HELLO, "name": "json", "path": "/json"}


@pytest.fixture
def lab():
    return make_workspace("lab")


def ask(workspace, text=""):
    query = CompareQuery.parse(text)
    return plain_figures(compare(query, workspace_ids=[workspace.pk]))


def server(name, rate, shares=NEAR, **more):
    return CellSpec(name, rates=tuple(rate * share for share in shares), **more)


def numbers_of_trials(figures):
    """Every number of trials or runs to add that stands on the page."""
    answer, ranking = figures["answer"], figures["ranking"]
    panels = figures["panels"] or []
    rows = [
        row for each in (ranking, *(p["ranking"] for p in panels)) if each for row in each["rows"]
    ]
    texts = [answer["sentence"], answer["margin"] or "", figures["finding"]]
    texts += [panel["finding"] for panel in panels]
    texts += [reason["remedy"] for reason in answer["trust"]["reasons"]]
    texts += [row["ratio"]["why"] or "" for row in rows if row["ratio"]]
    return set(re.findall(r"(\d+) (?:more )?(?:trial|run)s? (?:to|of) each", " ".join(texts)))


@pytest.mark.parametrize("check", ["too-short", "development-mode"])
def test_no_server_is_recommended_where_its_trials_are_no_basis(lab, check):
    make_run(lab, server("fast", 1600, trial_checks=[check]), server("slow", 1000))
    figures = ask(lab)
    told = figures["answer"]
    assert told["sentence"].startswith("No basis for choosing a server: ")
    assert told["margin"] == figures["finding"]
    assert told["trust"]["level"] == "care"


def test_trials_that_are_no_basis_elsewhere_hide_no_winner(lab):
    """At a lower load, and of a series behind the runner-up."""
    low = server("fast", 900, connections=8, trial_checks=["too-short"])
    last = server("last", 500, trial_checks=["too-short"])
    make_run(lab, low, server("fast", 1600), server("slow", 1000), last)
    assert ask(lab)["answer"]["sentence"].startswith("Take fast 23.0 at 64 connections")


def test_panels_that_are_no_basis_recommend_nobody(lab):
    specs = [
        server(name, rate, workload=workload, trial_checks=["too-short"])
        for name, rate in (("a", 1000), ("b", 1600))
        for workload in (HELLO, JSON)
    ]
    make_run(lab, *specs)
    told = ask(lab, "facet=workload")["answer"]
    assert told["sentence"].startswith("No basis for choosing a server: measured for less than 2")


@pytest.mark.parametrize("text", ["view=ratios", "facet=workload", "facet=workload&view=ratios"])
def test_a_sentence_about_noise_alone_begins_with_it(lab, text):
    specs = [
        server(name, 1000, FAR, workload=workload) for name in "ab" for workload in (HELLO, JSON)
    ]
    make_run(lab, *specs)
    told = ask(lab, text)["answer"]
    assert told["trust"]["level"] == "noisy"
    assert "oo noisy to" in told["sentence"]


def test_a_tie_names_the_tail_that_differs(lab):
    make_run(lab, server("a", 1000, p50_us=400.0), server("b", 1002))
    figures = ask(lab)
    told = figures["answer"]
    assert told["sentence"] == "a 23.0 has the lower p99 at 64 connections; throughput is level"
    # In the direction of the rows, as the ratio of throughput.
    assert told["margin"].startswith("b 23.0 answers 99 % of its requests in 2.00×")
    assert ". Throughput 1.00× [" in told["margin"]
    assert told["trust"]["level"] == "solid"


def test_of_several_series_the_two_with_the_tie_are_named(lab):
    make_run(lab, server("a", 1000, p50_us=400.0), server("b", 1002), server("c", 500))
    told = ask(lab)["answer"]["sentence"]
    assert told.startswith("a 23.0 has a lower p99 than b 23.0 at 64 connections; ")


def test_noise_in_throughput_hides_no_tail(lab):
    make_run(lab, server("a", 1000, FAR, p50_us=400.0), server("b", 1002, FAR))
    told = ask(lab)["answer"]
    tie = "too noisy to rank by throughput"
    assert told["sentence"] == f"a 23.0 has the lower p99 at 64 connections; {tie}"
    # What would decide the tie is said once, by the trust.
    assert told["margin"].endswith(" or more would have been found")
    assert "trials" in told["trust"]["reasons"][0]["remedy"]
    assert told["trust"]["level"] == "care"


def test_a_tie_by_latency_names_the_throughput_that_differs(lab):
    """Both have a median of 800 µs: the rows make it shorter for more throughput."""
    make_run(lab, server("a", 1000, p50_us=800.0), server("b", 1600, p50_us=1280.0))
    told = ask(lab, "metric=p50")["answer"]["sentence"]
    assert told == "b 23.0 has the higher throughput at 64 connections; p50 is level"


def test_equal_tails_are_not_named(lab):
    make_run(lab, server("a", 1000), server("b", 1002))
    assert "p99" not in ask(lab)["answer"]["sentence"]


def test_an_open_comparison_gives_one_number_of_trials(lab):
    rates = {"a": 1000, "b": 1040, "c": 900, "d": 1010}
    make_run(lab, *(server(name, rate, (1.0, 1.08, 0.92)) for name, rate in rates.items()))
    figures = ask(lab)
    assert figures["answer"]["trust"]["level"] == "noisy"
    assert len(numbers_of_trials(figures)) == 1


def test_open_panels_give_the_number_that_settles_all_of_them(lab):
    specs = [
        server(name, 1000, shares, workload=workload)
        for name in "ab"
        for workload, shares in ((HELLO, (1.0, 1.03, 0.97)), (JSON, (1.0, 1.08, 0.92)))
    ]
    make_run(lab, *specs)
    (alone,) = numbers_of_trials(ask(lab, "workload=json"))
    (number,) = numbers_of_trials(ask(lab, "facet=workload"))
    assert int(number) >= int(alone)


def test_one_series_is_described_with_what_to_add(lab):
    make_run(lab, server("a", 1000))
    figures = ask(lab)
    told = figures["answer"]
    assert re.match(r"a 23.0 serves 1,000 requests/s \[.*\] at 64 connections$", told["sentence"])
    assert told["sentence"] == figures["finding"]
    how = "in the same run, with the workload hello and wrk at 64 connections"
    assert told["margin"] == f"To compare, measure another server or version {how}"


@pytest.mark.parametrize("axis", ["version", "date"])
def test_one_position_is_no_trend(lab, axis):
    make_run(lab, server("a", 1000, version="1.0"))
    told = ask(lab, f"x={axis}&view=trend&series=server")["answer"]["sentence"]
    assert told.startswith("No trend yet: a was measured ")
    assert told.endswith(" only, 1,000 requests/s")
