"""Where there are too many series, the best by the asked metric are shown, never by name."""

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.grouping.series import MAX_SERIES
from backend.analysis.query.compare_query import CompareQuery
from backend.testing.rows import HELLO, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    return make_workspace("lab")


def ask(workspace, text=""):
    return plain_figures(compare(CompareQuery.parse(text), workspace_ids=[workspace.pk]))


def servers(figures):
    return {series["server"] for series in figures["series"]}


def around(rate):
    return (rate, 1.01 * rate, 0.99 * rate)


def cells(count, *, first=1_000.0, step=10.0, **more):
    """Servers s00, s01 …, each `step` requests/s faster than the one before."""
    return [
        CellSpec(f"s{n:02}", rates=around(first + step * n), warmups=0, **more)
        for n in range(count)
    ]


def test_the_slowest_are_left_out_and_the_fastest_wins_whatever_its_name(lab):
    make_run(lab, *cells(45), CellSpec("zebra", rates=around(9_000.0), warmups=0))
    figures = ask(lab)
    assert len(figures["series"]) == MAX_SERIES
    assert servers(figures) == {f"s{n:02}" for n in range(6, 45)} | {"zebra"}
    assert figures["ranking"]["rows"][0]["label"].startswith("zebra")
    assert "the best 40 of 46 series are compared" in figures["truncated"]


def test_the_ranking_lists_also_those_that_are_too_many_to_compare(lab):
    make_run(lab, *cells(45))
    ranking = ask(lab)["ranking"]
    labels = [row["label"] for row in ranking["beyond"]]
    assert labels == [f"s{n:02} 23.0" for n in (4, 3, 2, 1, 0)]
    assert {row["why"] for row in ranking["beyond"]} == {
        "Not among the best 40, so it is not compared."
    }
    assert all(row["low"] < row["value"] < row["high"] for row in ranking["beyond"])
    assert {(row["tier"], row["ratio"]) for row in ranking["beyond"]} == {(None, None)}
    best = min(row["value"] for row in ranking["rows"])
    assert max(row["value"] for row in ranking["beyond"]) < best


def test_figures_of_another_tool_are_not_listed_among_the_others(lab):
    make_run(lab, *cells(45), *cells(2, first=10.0, tool="ab", version="24.0"))
    assert "beyond" not in ask(lab)["ranking"]


def test_up_to_forty_series_have_nobody_beyond(lab):
    make_run(lab, *cells(40))
    assert "beyond" not in ask(lab)["ranking"]


def test_a_lower_latency_is_better(lab):
    specs = [
        CellSpec(f"s{n:02}", p50_us=5_000.0 - 50 * n, rates=around(1_000.0), warmups=0)
        for n in range(42)
    ]
    make_run(lab, *specs)
    assert servers(ask(lab, "metric=p50")) == {f"s{n:02}" for n in range(2, 42)}


def test_a_server_whose_figures_are_withheld_takes_no_place_of_one_that_is_ranked(lab):
    bad = [
        CellSpec(f"a{n:02}", rates=around(9_000.0), trial_checks=["error-rate-high"], warmups=0)
        for n in range(10)
    ]
    make_run(lab, *bad, *cells(MAX_SERIES))
    assert servers(ask(lab)) == {f"s{n:02}" for n in range(MAX_SERIES)}


def test_the_first_at_every_load_stays(lab):
    slow_later = CellSpec("tortoise", connections=8, rates=around(5_000.0), warmups=0)
    make_run(
        lab,
        *cells(45),
        *cells(45, connections=8),
        slow_later,
        CellSpec("tortoise", rates=around(10.0), warmups=0),
    )
    assert "tortoise" in servers(ask(lab))


def test_the_asked_baseline_stays(lab):
    make_run(lab, *cells(45))
    slowest = next(
        series["id"] for series in ask(lab, "server=s00")["series"] if series["server"] == "s00"
    )
    assert "s00" not in servers(ask(lab))
    assert "s00" in servers(ask(lab, f"baseline={slowest}"))


def test_panels_share_the_room(lab):
    other = {**HELLO, "name": "json", "path": "/json"}
    make_run(lab, *cells(45), *cells(45, workload=other))
    figures = ask(lab, "facet=workload")
    counts = [len(panel["series"]) for panel in figures["panels"]]
    assert counts == [MAX_SERIES // 2, MAX_SERIES // 2]


def test_as_many_as_there_is_room_for_are_all_shown(lab):
    make_run(lab, *cells(MAX_SERIES))
    figures = ask(lab)
    assert len(figures["series"]) == MAX_SERIES
    assert not figures["truncated"]
