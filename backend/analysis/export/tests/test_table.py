"""The tables of a comparison: the rows of each view, and what travels with every row."""

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.export.comparability_text import comparability_text
from backend.analysis.export.table import table_of
from backend.analysis.figures import plain_figures
from backend.analysis.kept_figures import read_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.testing.figures import make_figures
from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db
JSON = {**HELLO, "name": "json", "path": "/json"}


def records(figures, view=None):
    table = table_of(read_figures(figures), view)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def asked(text, *cells):
    """The figures of a question over these cells and no others."""
    lab = make_workspace("lab")
    make_run(lab, *cells)
    return plain_figures(compare(CompareQuery.parse(text), workspace_ids=[lab.pk]))


def pair(rate=1000.0, **fields):
    """Two servers under loads of 1 and 8, the second twice as fast."""
    return [
        CellSpec(
            name, connections=load, rates=(r * load, r * load * 1.01, r * load * 0.99), **fields
        )
        for name, r in (("slow", rate), ("fast", 2 * rate))
        for load in (1, 8)
    ]


def test_the_table_has_a_row_for_each_point_and_the_same_numbers():
    lab = make_workspace("lab")
    make_run(lab, CellSpec(connections=1), CellSpec(connections=8, p50_us=None))
    figures = plain_figures(compare(CompareQuery(), workspace_ids=[lab.pk]))
    first, second = records(figures)
    assert (first["tier"], second["tier"]) == (None, "1")
    assert (first["connections"], second["connections"]) == (1, 8)
    point = figures["series"][0]["points"][0]
    assert first["throughput_rps_low"] == point["metrics"]["throughput"]["low"]
    assert second["p99_us"] is None


def test_outcome_reasons_and_what_is_left_out_travel_with_every_row(monkeypatch):
    lab = make_workspace("lab")
    monkeypatch.setattr("backend.analysis.grouping.series.MAX_SERIES", 1)
    make_run(lab, *(CellSpec(name, trial_checks=["error-rate-high"]) for name in ("a", "b")))
    figures = plain_figures(compare(CompareQuery(), workspace_ids=[lab.pk]))
    assert figures["truncated"]
    rows = records(figures)
    said = {(row["outcome"], row["reasons"], row["truncated"]) for row in rows}
    reasons = "; ".join(figures["outcome"]["reasons"])
    assert said == {("caveats", reasons, figures["truncated"])}
    assert reasons


def test_a_row_of_a_panel_says_the_outcome_of_its_panel():
    lab = make_workspace("lab")
    make_run(lab, CellSpec("a"), CellSpec("b"), CellSpec("a", workload=JSON))
    make_run(lab, CellSpec("b", workload=JSON), host={**MACHINE, "cpu_model": "EPYC"})
    figures = plain_figures(compare(CompareQuery.parse("facet=workload"), workspace_ids=[lab.pk]))
    said = {(row["panel"], row["outcome"], row["confounded"]) for row in records(figures)}
    assert said == {
        ("hello", "comparable", None),
        ("json", "not_comparable", "server, processor"),
    }
    assert "these differ together: server, processor" in comparability_text(
        make_figures(outcome=figures["panels"][1]["outcome"])
    )


def test_what_an_older_version_froze_is_overridden_by_its_query():
    figures = {"outcome": {"status": "not_comparable", "reasons": ["loop differs"]}, "query": ""}
    assert comparability_text(make_figures(**figures)) == "not comparable: loop differs"
    assert comparability_text(make_figures(**{**figures, "query": "override=1"})) == (
        "ranked although not comparable: loop differs"
    )
    caveats = {"status": "caveats", "reasons": list("abcde"), "overridden": False}
    assert (
        comparability_text(make_figures(outcome=caveats))
        == "Use with care: 5 warnings – a; b; c; and 2 more"
    )


def test_the_place_of_a_series_stands_where_it_is_ranked():
    figures = asked("metric=p99", *pair())
    rows = records(figures)
    ranked = {row["server"]: row for row in rows if row["connections"] == 8}
    assert {row["ranked_by"] for row in ranked.values()} == {"p99"}
    for one in figures["ranking"]["rows"]:
        row = ranked[one["label"].split()[0]]
        assert (row["tier"], row["verdict"]) == (one["tier"], one["ratio"]["verdict"])
        assert [row["ratio"], row["ratio_low"], row["ratio_high"]] == [
            one["ratio"][part] for part in ("value", "low", "high")
        ]
    columns = ("ranked_by", "tier", "ratio_to", "ratio", "verdict", "why")
    others = [row for row in rows if row["connections"] == 1]
    assert {row[column] for row in others for column in columns} == {None}


def test_panels_are_ranked_each_for_itself():
    figures = asked("facet=workload", *pair(), *pair(workload=JSON))
    ranked = [row for row in records(figures) if row["tier"]]
    assert sorted((row["panel"], row["server"], row["tier"]) for row in ranked) == [
        ("hello", "fast", "1"),
        ("hello", "slow", "2"),
        ("json", "fast", "1"),
        ("json", "slow", "2"),
    ]
    assert records({**figures, "query": "view=nines"})[0]["panel"] == "hello"


def test_nines_are_percentiles():
    figures = asked("view=nines", *pair())
    rows = records(figures)
    curves = {curve["series"]: curve for curve in figures["curves"]["series"]}
    assert len(rows) == sum(len(curve["points"]) for curve in curves.values())
    first = curves[figures["series"][0]["id"]]
    got = [row for row in rows if row["series"] == figures["series"][0]["label"]]
    assert [[row["percent"], row["latency_us"]] for row in got] == first["points"]
    assert {(row["connections"], row["count"]) for row in got} == {(8, first["count"])}
    assert {row["outcome"] for row in rows} == {figures["outcome"]["status"]}
    assert records({**figures, "query": ""}, "nines") == rows


def test_ratios_are_servers_by_workloads():
    figures = asked("view=ratios", *pair(), *pair(workload=JSON))
    rows = records(figures)
    ratios = figures["ratios"]
    assert [(row["server"], row["workload"]) for row in rows] == [
        (server, workload) for server in ratios["rows"] for workload in ratios["columns"]
    ]
    fast = next(label for label in ratios["rows"] if label.startswith("fast"))
    [row] = [row for row in rows if (row["server"], row["workload"]) == (fast, "json")]
    cell = ratios["cells"][ratios["rows"].index(fast)][ratios["columns"].index("json")]
    assert [row["ratio"], row["ratio_low"], row["ratio_high"], row["verdict"], row["why"]] == [
        cell[part] for part in ("value", "low", "high", "verdict", "why")
    ]
    assert (row["connections"], row["metric"], row["mean_over"]) == (8, "throughput", "hello, json")
    assert row["ratio_to"] == ratios["baseline"]["label"]
    old = {key: ratios[key] for key in ("baseline", "rows", "columns", "cells")}
    older = records({**figures, "ratios": old})
    assert [one["ratio"] for one in older] == [one["ratio"] for one in rows]
    assert {(one["connections"], one["mean_ratio"]) for one in older} == {(None, None)}


@pytest.mark.parametrize("view", ["nines", "ratios"])
def test_a_view_without_anything_to_show_gives_the_rows_of_the_sweep(view):
    figures = asked(f"view={view}", CellSpec("sync", computed=False))
    assert records(figures) == records(figures, "sweep")
    assert len(records(figures)) == 1


def test_a_limit_adds_the_capacity():
    figures = asked("limit=1000000", *pair())
    for row in records(figures):
        assert (row["limit_us"], row["capacity_connections"]) == (1_000_000, 8)
        rate = next(
            point["metrics"]["throughput"]["value"]
            for one in figures["series"]
            for point in one["points"]
            if (one["label"], point["x"]) == (row["series"], 8)
        )
        assert row["capacity_throughput_rps"] == rate
        assert row["capacity_why"].startswith("p99 ")
    assert "limit_us" not in records({**figures, "capacity": None})[0]


def test_a_tradeoff_adds_the_knees():
    figures = asked("view=tradeoff", *pair())
    assert {row["knee_why"] for row in records(figures)} == {one["why"] for one in figures["knees"]}
    assert "knee_why" not in records(figures, "sweep")[0]


def test_a_trend_adds_its_changes():
    rates = {f"1.{n}": 1000.0 if n < 6 else 2000.0 for n in range(12)}
    cells = [
        CellSpec("sync", version=version, rates=(rate, rate * 1.01, rate * 0.99))
        for version, rate in rates.items()
    ]
    figures = asked("view=trend&x=version", *cells)
    [change] = figures["changes"]
    [row] = [row for row in records(figures) if row["change"] is not None]
    assert (row["x_version"], row["change_verdict"]) == (change["x"], change["verdict"])
    assert (row["throughput_rps_before"], row["throughput_rps_after"]) == (
        change["before"],
        change["after"],
    )
    assert (row["change"], row["change_low"]) == (change["ratio"], change["low"])


def test_a_figure_says_how_to_read_it():
    (row,) = records(asked("", CellSpec()))
    assert row["throughput_rps_interval"] == "95 % interval within this run"
    assert row["p50_us_step"] is None


def test_a_latency_rounded_to_zero_is_below_the_step_and_not_zero():
    figures = asked("", CellSpec())
    metrics = figures["series"][0]["points"][0]["metrics"]
    metrics["p50"] |= {"value": 0.0, "low": 0.0, "high": 1_000.0, "step": 1_000.0}
    (row,) = records(figures)
    assert [row[f"p50_us{end}"] for end in ("", "_low", "_high", "_below", "_step")] == [
        *(None, None, 1_000.0, 1_000.0, 1_000.0)
    ]
    assert row["p99_us_below"] is None


def test_what_could_not_be_read_has_its_row_and_its_reason():
    figures = asked("", CellSpec("a"))
    (series,) = figures["series"]
    gone = {"label": "b 1", "x": 64, "trials": 3, "reason": "Segmentation fault."}
    figures["not_read"] = [{**gone, "series": "b"}, {**gone, "series": series["id"], "trials": 1}]
    shown, missing = records(figures)
    assert (shown["not_read_trials"], shown["not_read_why"]) == (1, "Segmentation fault.")
    assert shown["throughput_rps"] is not None
    assert (missing["series"], missing["connections"], missing["not_read_trials"]) == ("b 1", 64, 3)
    assert missing["throughput_rps"] is None
    assert missing["outcome"] == "comparable"


def test_the_mean_of_ratios_has_its_verdict_and_scope():
    rows = records(asked("view=ratios", *pair(), *pair(workload=JSON)))
    assert {(row["mean_verdict"], row["mean_scope"]) for row in rows} == {
        ("regressed", "in this run"),
        ("unchanged", None),
    }
