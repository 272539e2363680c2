"""Any field as the axis, as what makes series, and as panels."""

from datetime import timedelta

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.grouping.grouping import load_axis
from backend.analysis.loading.facets import facets
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.fields import AXES, FIELDS, GROUPING
from backend.analysis.query.metrics import METRICS
from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

BIG = {**HELLO, "name": "big", "path": "/big", "payload_bytes": 10_000}
OTHER = {**MACHINE, "name": "bench-2", "cpu_model": "EPYC"}


@pytest.fixture
def lab():
    return make_workspace("lab")


def ask(workspace, text=""):
    return plain_figures(compare(CompareQuery.parse(text), workspace_ids=[workspace.pk]))


def count(workspace, text=""):
    found = facets(CompareQuery.parse(text), workspace_ids=[workspace.pk])
    return found["total"], {
        field["id"]: {value["value"]: value["count"] for value in field["values"]}
        for field in found["fields"]
    }


def test_versions_are_an_axis_in_their_order(lab):
    for version in ("1.10", "1.9", "2.0"):
        make_run(lab, CellSpec("a", version=version), CellSpec("b", version=version))
    figures = ask(lab, "x=version")
    assert figures["x"]["kind"] == "category"
    assert figures["x"]["values"] == ["1.9", "1.10", "2.0"]
    assert [series["label"] for series in figures["series"]] == ["a", "b"]
    assert [point["x"] for point in figures["series"][0]["points"]] == ["1.9", "1.10", "2.0"]
    assert {series["load"] for series in figures["series"]} == {"64 connections"}
    assert figures["ranking"]["x"] == "2.0"
    assert ask(lab, "x=version&at=1.10")["ranking"]["x"] == "1.10"


def test_the_loads_make_series_where_they_are_not_the_axis(lab):
    make_run(lab, *[CellSpec("a", version=v, connections=c) for v in "12" for c in (1, 8)])
    figures = ask(lab, "x=version")
    assert sorted(series["load"] for series in figures["series"]) == [
        "1 connection",
        "8 connections",
    ]
    assert len({series["label"] for series in figures["series"]}) == 2


@pytest.mark.parametrize("axis", ["version", "date", "host"])
def test_series_held_at_different_loads_are_not_ranked(lab, axis):
    make_run(lab, *[CellSpec("a", version=v, connections=c) for v in "12" for c in (8, 64, 128)])
    figures = ask(lab, f"x={axis}&version=2")
    outcome = figures["outcome"]
    assert (outcome["status"], outcome["differing"]) == ("not_comparable", ["connections"])
    assert outcome["reasons"] == ["number of connections differs: 8, 64, 128; choose one load"]
    assert figures["ranking"] is None
    assert ask(lab, f"x={axis}&version=2&connections=64")["ranking"]


def test_offered_rates_off_the_axis_must_match(lab):
    rates = [400.0, 800.0, 1600.0]
    make_run(lab, *[CellSpec("a", loop="open", rate_rps=rate) for rate in rates])
    outcome = ask(lab, "x=version")["outcome"]
    assert (outcome["status"], outcome["differing"]) == ("not_comparable", ["rate"])
    assert outcome["reasons"] == [
        "offered rate differs: 400 req/s, 800 req/s, 1,600 req/s; choose one load"
    ]


@pytest.mark.parametrize(
    ("loads", "axis"),
    [
        # wrk2 -c 50 -R …: the load point of an open loop is what was offered.
        ([("open", 50, 400.0), ("open", 50, 800.0)], "rate"),
        ([("open", 50, 400.0)], "rate"),
        ([("open", None, 400.0)], "rate"),
        ([("unknown", None, 400.0)], "rate"),
        # One rate over more and more connections.
        ([("open", 8, 400.0), ("open", 64, 400.0)], "connections"),
        ([("closed", 8, None), ("closed", 64, None)], "connections"),
        ([("closed", 8, 400.0), ("closed", 8, 800.0)], "connections"),
        ([("open", 50, 400.0), ("closed", 50, None)], "connections"),
        ([("open", 50, None)], "connections"),
        ([], "connections"),
    ],
)
def test_a_sweep_is_over_the_load_of_its_loops(loads, axis):
    assert load_axis(loads) == axis


def test_an_open_sweep_that_states_connections_is_one_series_over_the_rate(lab):
    open_loop = {"loop": "open", "connections": 50, "tool": "wrk2"}
    rates = (400.0, 800.0, 1600.0)
    make_run(lab, *[CellSpec(name, rate_rps=rate, **open_loop) for name in "ab" for rate in rates])
    figures = ask(lab)
    assert figures["x"]["field"] == "rate"
    assert figures["x"]["values"] == [400, 800, 1600]
    assert [series["label"] for series in figures["series"]] == ["a 23.0", "b 23.0"]
    assert figures["outcome"]["status"] == "comparable"
    assert figures["ranking"]["x"] == 1600


def test_payload_is_an_axis_of_numbers_over_workloads(lab):
    make_run(lab, CellSpec("a"), CellSpec("a", workload=BIG))
    figures = ask(lab, "x=payload")
    assert figures["x"]["values"] == [13, 10_000]
    (series,) = figures["series"]
    assert len(series["points"]) == 2
    assert figures["outcome"]["status"] == "comparable"


def test_facets_divide_into_panels_each_with_its_own_verdict(lab):
    cells = [CellSpec(name, workload=load) for name in "ab" for load in (HELLO, BIG)]
    make_run(lab, *cells)
    assert ask(lab)["outcome"]["status"] == "not_comparable"
    figures = ask(lab, "facet=workload")
    assert [panel["value"] for panel in figures["panels"]] == ["big", "hello"]
    assert {panel["outcome"]["status"] for panel in figures["panels"]} == {"comparable"}
    assert all(len(panel["series"]) == 2 and panel["ranking"] for panel in figures["panels"])
    assert figures["ranking"] is None
    assert figures["finding"].startswith("By workload: big: ")


def test_series_may_be_made_of_fewer_fields_and_mixtures_are_refused(lab):
    make_run(lab, CellSpec("a"), CellSpec("b"))
    (series,) = ask(lab, "series=version")["series"]
    assert series["points"][0]["trials"] == 6
    outcome = ask(lab, "series=version")["outcome"]
    assert outcome["status"] == "not_comparable"
    assert outcome["reasons"][0].startswith("points mix different servers")
    assert ask(lab, "series=server")["outcome"]["status"] == "comparable"


@pytest.mark.parametrize("field", GROUPING)
def test_every_field_can_make_series(lab, field):
    make_run(lab, CellSpec("a", configuration={"workers": 2}))
    assert len(ask(lab, f"series={field}")["series"]) == 1


@pytest.mark.parametrize("field", GROUPING)
def test_every_field_can_be_a_facet(lab, field):
    make_run(lab, CellSpec("a", configuration={"workers": 2}))
    (panel,) = ask(lab, f"facet={field}")["panels"]
    assert panel["value"]


def test_panels_by_load_date_and_label_hold_what_they_say(lab):
    for build, rate in (("7", 100.0), ("8", 200.0)):
        cells = [CellSpec("a", connections=load, rates=(rate,) * 3) for load in (8, 64)]
        run = make_run(lab, *cells)
        run.labels = {"build": build, "os": "linux"}
        run.save(update_fields=["labels"])
    answer = ask(lab, "facet=label")
    panels = answer["panels"]
    assert [panel["value"] for panel in panels] == ["build:7", "build:8"]
    assert answer["finding"].startswith("build:7: ")
    rates = [panel["ranking"]["rows"][0]["value"] for panel in panels]
    assert rates == pytest.approx([100.0, 200.0])
    by_load = ask(lab, "facet=connections&x=label")
    assert [panel["value"] for panel in by_load["panels"]] == ["8", "64"]
    assert by_load["x"]["values"] == ["build:7, os:linux", "build:8, os:linux"]


def labelled_runs(lab, *builds, host=MACHINE):
    for build, rate in builds:
        cells = [CellSpec("a", connections=load, rates=(rate,) * 3) for load in (8, 64)]
        run = make_run(lab, *cells, host=host)
        run.labels = {"build": build} if build else {}
        run.save(update_fields=["labels"])


def test_a_label_makes_series_that_are_ranked(lab):
    labelled_runs(lab, ("7", 100.0), ("8", 200.0), ("", 300.0))
    for query, name in (("series=label", "{}"), ("series=label&series=server", "a ({})")):
        figures = ask(lab, query)
        named = [name.format(text) for text in ("build:7", "build:8", "no label")]
        assert sorted(series["label"] for series in figures["series"]) == sorted(named)
        assert figures["outcome"]["intent"] == "only the label differs"
        rows = figures["ranking"]["rows"]
        assert [row["value"] for row in rows] == pytest.approx([300.0, 200.0, 100.0])


def test_a_date_makes_series_over_loads(lab):
    first, second = (make_run(lab, CellSpec("a")) for _ in range(2))
    second.started_at = first.started_at + timedelta(days=1)
    second.save(update_fields=["started_at"])
    figures = ask(lab, "series=server&series=date")
    assert len(figures["series"]) == 2
    assert len({series["id"] for series in figures["series"]}) == 2
    assert figures["outcome"]["intent"] == "only the date differs"
    assert str(second.started_at.date()) in "".join(one["label"] for one in figures["series"])
    (pooled,) = ask(lab, "series=server")["series"]
    assert pooled["points"][0]["trials"] == 6


def test_labels_that_make_series_of_different_hosts_are_no_change_of_either(lab):
    labelled_runs(lab, ("7", 100.0))
    labelled_runs(lab, ("8", 200.0), host=OTHER)
    outcome = ask(lab, "series=server&series=label&series=host")["outcome"]
    assert "label" in outcome["confounded"]
    assert ask(lab, "series=server&series=host")["outcome"]["confounded"] == []


@pytest.mark.parametrize("axis", AXES)
def test_every_field_can_be_the_axis(lab, axis):
    make_run(lab, CellSpec("a", configuration={"workers": 2}, rate_rps=5.0))
    figures = ask(lab, f"x={axis}")
    known = 0 if axis in ("runtime", "label") else 1
    assert len(figures["x"]["values"]) == known
    assert figures["x"]["label"] == FIELDS[axis].label


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_answers_and_says_so_where_it_is_unknown(lab, metric):
    make_run(lab, CellSpec("a"), CellSpec("b"))
    figures = ask(lab, f"metric={metric}")
    assert all(
        metric in point["metrics"] for series in figures["series"] for point in series["points"]
    )
    assert figures["ranking"]["metric"] == metric
    assert figures["finding"]


def test_series_are_called_after_what_makes_them(lab):
    for host, versions in ((MACHINE, ("1.0", "1.1")), (OTHER, ("1.1", "2.0"))):
        make_run(lab, *[CellSpec("cv", version=version) for version in versions], host=host)
    labels = [series["label"] for series in ask(lab, "x=version")["series"]]
    assert labels == ["cv (bench-1)", "cv (bench-2)"]


def test_series_are_called_after_no_more_than_tells_them_apart(lab):
    long = {**HELLO, "name": "long", "path": "/long", "payload_bytes": 99}
    for host in (MACHINE, OTHER):
        make_run(lab, *[CellSpec("cv", workload=load) for load in (HELLO, long)], host=host)
    labels = {series["label"] for series in ask(lab)["series"]}
    assert labels == {
        f"cv 23.0 ({load}, {host})" for load in ("hello", "long") for host in ("bench-1", "bench-2")
    }


def test_no_two_sets_of_labels_read_the_same(lab):
    for labels in ({"a": "1, b:2"}, {"a": "1", "b": "2"}):
        run = make_run(lab, CellSpec("a"))
        run.labels = labels
        run.save(update_fields=["labels"])
    figures = ask(lab, "x=label")
    assert figures["x"]["values"] == ['"a:1, b:2"', "a:1, b:2"]
    assert len(ask(lab, "series=server&series=label")["series"]) == 2


def test_two_clients_of_one_host_are_no_point_and_may_be_series(lab):
    for client in ("d1", "d2"):
        make_run(lab, CellSpec("a"), client={**MACHINE, "name": client})
    for query in ("x=host", "series=server"):
        assert "points mix different client hosts" in ask(lab, query)["outcome"]["reasons"][0]
    figures = ask(lab, "x=host&series=server&series=client")
    assert len(figures["series"]) == 2
    assert figures["outcome"]["status"] == "caveats"


def test_what_is_named_makes_series_although_the_axis_would_cover_it(lab):
    make_run(lab, *[CellSpec("a", version=version) for version in "12"])
    mixed = ask(lab, "x=server")["outcome"]
    assert mixed["reasons"][0].startswith("points mix different versions; split them into series")
    figures = ask(lab, "x=server&series=version")
    assert [one["label"] for one in figures["series"]] == ["1", "2"]
    assert figures["outcome"]["status"] == "comparable"
    assert figures["outcome"]["intent"] == "only the version differs"


@pytest.mark.parametrize(
    ("field", "labels"),
    [
        ("version", ["caddy 2.7", "caddy 2.8"]),
        ("configuration", ["caddy workers=2", "caddy workers=4"]),
    ],
)
def test_versions_and_settings_of_one_server_are_called_after_it(lab, field, labels):
    for version, workers, rate in (("2.7", 2, 1000.0), ("2.8", 4, 1500.0)):
        rates = (rate, rate + 1, rate - 1)
        settings = {"workers": workers}
        make_run(lab, CellSpec("caddy", version=version, rates=rates, configuration=settings))
    figures = ask(lab, f"series={field}")
    assert [series["label"] for series in figures["series"]] == labels
    assert f"{labels[1]} serves 1.5" in figures["finding"]
    assert f"the requests of {labels[0]} at 64 connections" in figures["finding"]


def test_series_of_one_server_are_called_after_the_settings_that_not_all_of_them_have(lab):
    shared = {"backlog": 511, "workers": 3}
    for settings in ({"class": "sync", **shared}, {"class": "gevent", **shared}, shared):
        make_run(lab, CellSpec("gunicorn", version=None, configuration=settings))
    assert {series["label"] for series in ask(lab)["series"]} == {
        "gunicorn (class=sync)",
        "gunicorn (class=gevent)",
        "gunicorn",
    }


def test_a_version_that_is_unknown_is_called_after_its_server(lab):
    make_run(lab, CellSpec("caddy", version=None), CellSpec("caddy", version="2"))
    labels = {series["label"] for series in ask(lab, "series=version")["series"]}
    assert labels == {"caddy", "caddy 2"}


def test_labels_are_quoted_as_they_are_spelled(lab):
    for labels in ({"k": "a, b:c"}, {'"k': "a", "b": 'c"'}, {"k": "é, b"}):
        run = make_run(lab, CellSpec("a"))
        run.labels = labels
        run.save(update_fields=["labels"])
    places = ask(lab, "x=label")["x"]["values"]
    assert len(places) == 3
    assert '"k:é, b"' in places


def test_a_panel_says_where_it_was_measured_itself(lab):
    hello = [CellSpec(name, connections=load) for name in "ab" for load in (8, 64)]
    make_run(lab, *hello, *[CellSpec(name, workload=BIG, connections=8) for name in "ab"])
    big = next(one for one in ask(lab, "facet=workload&at=64")["panels"] if one["value"] == "big")
    assert big["finding"] == "Nothing was measured at 64 connections; there are measurements at 8"


def test_a_series_of_too_many_points_says_that_it_is_cut(lab, monkeypatch):
    monkeypatch.setattr("backend.analysis.grouping.series.MAX_POINTS", 2)
    make_run(lab, *[CellSpec("a", connections=connections) for connections in (1, 8, 64)])
    figures = ask(lab)
    assert figures["x"]["values"] == [1, 8]
    assert figures["truncated"] == (
        "Not everything is shown: the first 2 points of a series are shown."
    )
