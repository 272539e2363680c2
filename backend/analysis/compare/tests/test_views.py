"""What a comparison derives from its points: curves, knees, capacity, ratios, changes."""

from dataclasses import replace
from statistics import geometric_mean

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.export.table import table_of
from backend.analysis.figures import plain_figures
from backend.analysis.kept_figures import read_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Cell
from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

JSON = {**HELLO, "name": "json", "path": "/json", "payload_bytes": 1_000}
LOADS = {1: 1000.0, 8: 7000.0, 64: 20_000.0, 256: 20_050.0, 512: 20_020.0}


@pytest.fixture
def lab():
    return make_workspace("lab")


def ask(workspace, text=""):
    return plain_figures(compare(CompareQuery.parse(text), workspace_ids=[workspace.pk]))


def around(rate):
    return (rate, rate * 1.002, rate * 0.998)


def sweep(name="a", **more):
    return [
        CellSpec(name, connections=c, rates=around(rate), p50_us=100.0 * c, **more)
        for c, rate in LOADS.items()
    ]


def test_curves_are_those_of_the_merged_histograms_at_the_ranked_load(lab):
    make_run(lab, CellSpec("a"), CellSpec("b", computed=False), CellSpec("a", connections=1))
    curves = ask(lab)["curves"]
    assert curves["at"] == 64
    (curve,) = curves["series"]
    assert curve["count"] == 600
    percents = [percent for percent, _ in curve["points"]]
    assert percents[0] == 50
    # Ten of 600 requests remain beyond p98.3.
    assert 97 < percents[-1] <= 98.34


def test_a_curve_that_was_not_stored_is_read_from_the_histogram(lab):
    make_run(lab, CellSpec("a"))
    stored = ask(lab)["curves"]
    Cell.objects.update(curve=None)
    assert ask(lab)["curves"] == stored


def test_cells_of_several_runs_have_one_curve(lab):
    make_run(lab, CellSpec("a"))
    make_run(lab, CellSpec("a"))
    (curve,) = ask(lab)["curves"]["series"]
    assert curve["count"] == 1200


def test_without_histograms_there_are_no_curves(lab):
    make_run(lab, CellSpec("a", computed=False))
    assert ask(lab)["curves"] is None


def test_the_knee_of_a_sweep_and_its_sentence(lab):
    make_run(lab, *sweep())
    figures = ask(lab, "view=tradeoff")
    (knee,) = figures["knees"]
    assert knee["x"] == 64
    assert knee["throughput"] == pytest.approx(geometric_mean(around(20_000)))
    assert figures["finding"].startswith("a 23.0 saturates at 64 connections")


def test_the_highest_load_under_a_limit(lab):
    make_run(lab, *sweep())
    figures = ask(lab, "limit=2000")
    (row,) = figures["capacity"]["rows"]
    assert figures["capacity"]["limit_us"] == 2000
    assert row["x"] == 64
    assert figures["finding"].startswith("With p99 under 2 ms: a 23.0 serves 20,000")
    assert figures["finding"].endswith("requests/s at 64 connections")
    # A chosen load, or another metric, is answered by the sentence of the ranking.
    assert ask(lab, "limit=2000&at=8")["finding"].startswith("a 23.0 serves 7,000")
    assert "answers 99 % of its requests" in ask(lab, "limit=2000&metric=p99")["finding"]
    assert ask(lab)["capacity"] is None


def test_a_series_whose_points_are_of_different_versions_has_no_knee(lab):
    cells = sweep()
    make_run(lab, *[replace(cell, version="1" if at < 3 else "2") for at, cell in enumerate(cells)])
    asked = "series=server&view=tradeoff&limit=2000"
    figures = ask(lab, asked)
    assert (figures["knees"], figures["capacity"]["rows"]) == ([], [])
    assert figures["finding"].startswith("These series cannot be ranked: version differs along")
    assert len(ask(lab, f"{asked}&override=1")["knees"]) == 1


def test_workloads_are_compared_each_on_its_own(lab):
    cells = [
        CellSpec(name, workload=load, rates=around(rate))
        for load, scale in ((HELLO, 1), (JSON, 0.5))
        for name, rate in (("a", 1000 * scale), ("b", 2000 * scale))
    ]
    make_run(lab, *cells)
    figures = ask(lab)
    assert figures["ranking"] is None
    ratios = figures["ratios"]
    assert (ratios["rows"], ratios["columns"]) == (["a 23.0", "b 23.0"], ["hello", "json"])
    assert [cell["value"] for cell in ratios["cells"][1]] == pytest.approx([2, 2], rel=0.01)
    assert ratios["means"][1]["value"] == pytest.approx(2, rel=0.01)
    based = ask(lab, f"baseline={figures['series'][2]['id']}")["ratios"]
    assert based["baseline"]["label"] == "b 23.0"


def test_a_workload_that_may_not_be_compared_has_no_ratios(lab):
    other = {**MACHINE, "name": "bench-2", "cpu_model": "EPYC"}
    make_run(lab, CellSpec("a"), CellSpec("b"), CellSpec("a", workload=JSON))
    make_run(lab, CellSpec("b", workload=JSON), host=other)
    filters = "server=a&server=b&view=ratios"
    ratios = ask(lab, filters)["ratios"]
    json = ratios["columns"].index("json")
    assert all(row[json] is None or row[json]["value"] is None for row in ratios["cells"])


def test_the_outcome_of_a_table_of_ratios_is_that_of_each_workload(lab):
    make_run(lab, *[CellSpec(name, workload=load) for name in "ab" for load in (HELLO, JSON)])
    assert ask(lab)["outcome"]["status"] == "not_comparable"
    figures = ask(lab, "view=ratios")
    assert figures["outcome"]["status"] == "comparable"
    assert "relative to a 23.0" in figures["finding"]
    other = {**MACHINE, "name": "bench-2", "cpu_model": "EPYC"}
    make_run(lab, CellSpec("c", workload=JSON), host=other)
    partly = ask(lab, "view=ratios")["outcome"]
    assert partly["status"] == "caveats"
    assert partly["reasons"][0].startswith("json: processor of the server host differs")
    make_run(lab, CellSpec("c"), host=other)
    assert ask(lab, "view=ratios")["outcome"]["status"] == "not_comparable"
    forced = ask(lab, "view=ratios&override=1")["outcome"]
    assert (forced["status"], forced["overridden"]) == ("not_comparable", True)


def test_a_change_over_versions_is_found(lab):
    for number in range(12):
        rate = 1000.0 if number < 6 else 1300.0
        make_run(lab, CellSpec("a", version=f"1.{number}", rates=around(rate + number % 3)))
    figures = ask(lab, "x=version")
    (change,) = figures["changes"]
    assert change["x"] == "1.6"
    assert change["ratio"] == pytest.approx(1.3, rel=0.01)
    assert figures["finding"].startswith("a improved with version 1.6")
    assert ask(lab)["changes"] == []


def test_changes_between_what_may_not_be_compared_are_withheld(lab):
    for number in range(12):
        rate = 1000.0 if number < 6 else 1300.0
        specs = [
            CellSpec("a", version=f"1.{number}", workload=load, rates=around(rate + number % 3))
            for load in (HELLO, JSON)
        ]
        make_run(lab, *specs)
    plain, forced = ask(lab, "x=version"), ask(lab, "x=version&override=1")
    assert plain["outcome"]["status"] == "not_comparable"
    assert plain["changes"] == []
    assert plain["finding"].startswith("These series cannot be ranked: workload differs")
    assert "×" not in plain["finding"]
    assert len(forced["changes"]) == 2
    assert forced["finding"].startswith("Not comparable, but shown anyway: a ")
    # Each panel is a comparison of its own.
    assert len(ask(lab, "x=version&facet=workload")["changes"]) == 2


def test_many_places_of_two_workloads_have_a_table_of_ratios(lab):
    for load, places in ((HELLO, range(1, 61)), (JSON, range(61, 71))):
        cells = [CellSpec(name, workload=load, connections=c) for name in "ab" for c in places]
        make_run(lab, *cells)
    assert ask(lab)["ratios"]["rows"] == ["a 23.0", "b 23.0"]


def test_ratios_are_said_where_no_workload_is_common_to_all(lab):
    make_run(lab, CellSpec("a"), CellSpec("b"), CellSpec("a", workload=JSON))
    figures = ask(lab, "view=ratios")
    assert figures["outcome"]["status"] == "comparable"
    assert figures["finding"].startswith("Throughput relative to a 23.0. No geometric mean")


def test_nothing_is_ranked_across_workloads_where_ratios_are_asked_for(lab):
    make_run(lab, *[CellSpec(name, workload=load) for name in "ab" for load in (HELLO, JSON)])
    for text in ("view=ratios", "view=ratios&override=1"):
        figures = ask(lab, text)
        assert figures["ranking"] is None
        assert figures["outcome"] == figures["ratios"]["outcome"]
    swept = ask(lab)
    assert swept["outcome"]["status"] == "not_comparable"
    assert swept["ratios"]["outcome"]["status"] == "comparable"
    assert {
        row[table_of(read_figures(swept), "ratios").columns.index("outcome")]
        for row in table_of(read_figures(swept), "ratios").rows
    } == {"comparable"}
