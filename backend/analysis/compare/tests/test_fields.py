"""Any field as filter, axis, series or facet; counts of what can be chosen; override."""

from datetime import UTC, datetime, timedelta

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.grouping.grouping import load_axis
from backend.analysis.loading.facets import facets
from backend.analysis.loading.validation import UnknownValue
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.fields import AXES, FIELDS, GROUPING
from backend.analysis.query.metrics import METRICS
from backend.runs.dismissals import dismiss
from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

BIG = {**HELLO, "name": "big", "path": "/big", "payload_bytes": 10_000}
OTHER = {**MACHINE, "name": "bench-2", "cpu_model": "EPYC"}
LARGER = {**HELLO, "payload_bytes": 10_000}


@pytest.fixture
def lab():
    return make_workspace("lab")


def ask(workspace, text=""):
    return compare(CompareQuery.parse(text), workspace_ids=[workspace.pk])


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
    assert outcome["reasons"] == ["offered rate differs: 400, 800, 1600; choose one load"]


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


def two_machines(lab):
    """Versions 1.x on one machine only, 2.x on another."""
    for number in range(10):
        newer = number > 4
        rate = 1550.0 if newer else 1000.0
        version = f"{1 + newer}.{number % 5}"
        spec = CellSpec("delta", version=version, rates=(rate, rate + 1, rate - 1))
        day = datetime(2026, 3, 1 + number, tzinfo=UTC)
        make_run(lab, spec, host=OTHER if newer else MACHINE, started_at=day)


@pytest.mark.parametrize(
    ("text", "confounded", "differing"),
    [
        ("x=version", ["version", "processor"], "cpu"),
        ("x=date", ["version", "processor"], "cpu"),
        ("x=host&version=1.2&version=2.2", ["server host", "version"], "version"),
        ("x=connections", ["version", "processor"], "version"),
    ],
)
def test_nothing_but_the_axis_may_differ_along_a_series(lab, text, confounded, differing):
    two_machines(lab)
    asked = f"server=delta&series=server&{text}"
    figures = ask(lab, asked)
    outcome = figures["outcome"]
    assert outcome["status"] == "not_comparable"
    assert differing in outcome["differing"]
    assert figures["ranking"] is None
    assert figures["changes"] == []
    assert "×" not in figures["finding"]
    assert outcome["confounded"] == confounded


def test_a_reason_says_what_differs_along_the_axis(lab):
    two_machines(lab)
    (reason, *_) = ask(lab, "series=server&x=host&version=1.2&version=2.2")["outcome"]["reasons"]
    assert reason == "version differs along the axis (server host): 1.2, 2.2; choose one version"


def test_what_the_axis_covers_may_differ_along_it_and_one_thing_over_the_days(lab):
    for number in range(10):
        day = datetime(2026, 3, 1 + number, tzinfo=UTC)
        make_run(lab, CellSpec("delta", version=f"1.{number}"), started_at=day)
    for axis in ("version", "date"):
        outcome = ask(lab, f"series=server&x={axis}")["outcome"]
        assert outcome["status"] == "comparable"
        assert outcome["intent"] == "only the version differs"


def test_the_things_of_one_server_that_differ_together_are_named(lab):
    make_run(lab, CellSpec("cf", version="1", configuration={"workers": 2}))
    make_run(lab, CellSpec("cf", version="2", configuration={"workers": 4}))
    outcome = ask(lab)["outcome"]
    assert outcome["status"] == "caveats"
    assert outcome["differing"] == ["version", "configuration"]
    assert outcome["confounded"] == ["version", "configuration"]
    assert outcome["reasons"] == [
        "version differs: 1, 2",
        "configuration differs: workers=2, workers=4",
    ]


def test_what_differs_together_in_every_panel_is_named_above_them(lab):
    for workers, version in ((2, "1"), (4, "2")):
        more = {"version": version, "configuration": {"workers": workers}}
        make_run(lab, *[CellSpec("cf", workload=load, **more) for load in (HELLO, BIG)])
    outcome = ask(lab, "facet=workload")["outcome"]
    assert outcome["confounded"] == ["version", "configuration"]
    assert outcome["reasons"][0] == "version differs: 1, 2"


def test_payload_is_an_axis_of_numbers_over_workloads(lab):
    make_run(lab, CellSpec("a"), CellSpec("a", workload=BIG))
    figures = ask(lab, "x=payload")
    assert figures["x"]["values"] == [13, 10_000]
    (series,) = figures["series"]
    assert len(series["points"]) == 2
    assert figures["outcome"]["status"] == "comparable"


def test_the_hardware_as_axis_forbids_no_comparison_of_servers(lab):
    for host in (MACHINE, OTHER):
        make_run(lab, CellSpec("a"), CellSpec("b", rates=(1620.0, 1600.0, 1640.0)), host=host)
    assert ask(lab)["outcome"]["status"] == "not_comparable"
    figures = ask(lab, "x=host")
    assert figures["x"]["values"] == ["bench-1", "bench-2"]
    assert figures["outcome"]["status"] == "comparable"
    assert figures["ranking"]["rows"][0]["label"] == "b 23.0"


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
        run.labels = {"build": build}
        run.save(update_fields=["labels"])
    panels = ask(lab, "facet=label")["panels"]
    assert [panel["value"] for panel in panels] == ["build:7", "build:8"]
    assert [panel["ranking"]["rows"][0]["value"] for panel in panels] == [100.0, 200.0]
    by_load = ask(lab, "facet=connections&x=label")
    assert [panel["value"] for panel in by_load["panels"]] == ["8", "64"]
    assert by_load["x"]["values"] == ["build:7", "build:8"]


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
        assert [row["value"] for row in rows] == [300.0, 200.0, 100.0]


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


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("version=1.0", {"a"}),
        ("version=unknown", {"c"}),
        ("configuration=workers%3D4", {"b"}),
        ("payload=10000", {"b"}),
        ("payload=10000&connections=64", set()),
        ("loop=open", {"c"}),
        ("client=bench-1", {"a", "b", "c"}),
        ("tool_version=4.1.0", {"a", "b", "c"}),
        ("connections=8", {"b"}),
        ("connections=8.0&connections=64", {"a", "b"}),
        ("rate=100", {"c"}),
        ("connections=unknown", {"c"}),
        ("label=build:7", {"a", "b", "c"}),
        ("since=2026-03-02&until=2026-03-02", {"a", "b", "c"}),
        ("since=2026-03-03", set()),
        ("until=2026-03-01", set()),
    ],
)
def test_filters(lab, text, left):
    run = make_run(
        lab,
        CellSpec("a", version="1.0"),
        CellSpec("b", configuration={"workers": 4}, workload=BIG, connections=8),
        CellSpec("c", version=None, loop="open", connections=None, rate_rps=100.0),
    )
    run.labels = {"build": "7"}
    run.save()
    found = {
        series["server"]
        for x in ("connections", "rate")
        for series in ask(lab, f"{text}&x={x}")["series"]
    }
    assert found == left


def test_counts_are_under_every_filter_but_their_own(lab):
    make_run(lab, CellSpec("a"), CellSpec("b", tool="ab"), CellSpec("b", connections=8))
    total, counts = count(lab, "server=a&tool=wrk")
    assert total == {"cells": 1, "trials": 3, "runs": 1}
    assert counts["server"] == {"a": 3, "b": 3}
    assert counts["tool"] == {"wrk": 3, "ab": 0}
    assert counts["connections"] == {"8": 0, "64": 3}
    assert counts["rate"] == {"unknown": 3}


def test_counts_of_labels_and_settings(lab):
    first = make_run(lab, CellSpec("a", configuration={"workers": 4, "tls": True}))
    first.labels = {"build": "7"}
    first.save()
    make_run(lab, CellSpec("b"))
    _, counts = count(lab, "label=build:7")
    assert counts["label"] == {"build:7": 3}
    # What the label leaves nothing of is there to be dimmed.
    assert counts["configuration"] == {"tls=True": 3, "workers=4": 3, "unknown": 0}
    assert counts["server"] == {"a": 3, "b": 0}
    assert count(make_workspace("empty"))[0] == {"cells": 0, "trials": 0, "runs": 0}


def test_an_override_ranks_what_is_not_comparable_and_says_so(lab):
    make_run(lab, CellSpec("a"))
    make_run(lab, CellSpec("b"), host=OTHER)
    plain, forced = ask(lab), ask(lab, "override=1")
    assert plain["ranking"] is None
    assert not plain["outcome"]["overridden"]
    assert forced["ranking"]
    assert forced["outcome"]["status"] == "not_comparable"
    assert forced["outcome"]["overridden"]
    assert forced["finding"].startswith("Not comparable, ranked by request: ")
    assert "override=1" in forced["links"]["page"]
    make_run(lab2 := make_workspace("fair"), CellSpec("a"), CellSpec("b"))
    assert not ask(lab2, "override=1")["outcome"]["overridden"]


@pytest.mark.parametrize(
    ("host", "version", "intent", "confounded"),
    [
        ({"kernel": "Linux 6.12"}, "23.0", "only the kernel differs", []),
        ({"cpu_model": "EPYC"}, "23.0", "only the processor differs", []),
        ({"cpu_model": "EPYC", "cores": 64}, "23.0", "only the machine differs", []),
        ({}, "24.0", "only the version differs", []),
        ({"kernel": "Linux 6.12"}, "24.0", None, ["version", "kernel"]),
    ],
)
def test_what_a_comparison_is_about_is_detected(lab, host, version, intent, confounded):
    make_run(lab, CellSpec("a"))
    make_run(lab, CellSpec("a", version=version), host={**MACHINE, **host})
    outcome = ask(lab)["outcome"]
    assert outcome["intent"] == intent
    assert outcome["confounded"] == confounded


def test_a_dismissed_finding_is_no_caveat_but_shown(lab):
    run = make_run(lab, CellSpec("a", trial_checks=["same-host"]), CellSpec("b"))
    make_run(lab, CellSpec("a"), CellSpec("b"))
    assert ask(lab)["outcome"]["status"] == "caveats"
    dismiss(run, "same-host", reason="both are pinned to cores of their own", author=None)
    figures = ask(lab)
    assert figures["outcome"]["status"] == "comparable"
    (check,) = figures["checks"]
    assert (check["id"], check["count"]) == ("same-host", 0)
    (dismissed,) = check["dismissed"]
    assert dismissed["run"] == str(run.pk)
    assert dismissed["reason"] == "both are pinned to cores of their own"


def test_a_finding_stands_where_it_was_not_dismissed(lab):
    runs = [make_run(lab, CellSpec("a", trial_checks=["same-host"])) for _ in range(2)]
    dismiss(runs[0], "same-host", reason="pinned", author=None)
    (check,) = (one for one in ask(lab)["checks"] if one["id"] == "same-host")
    assert (check["count"], len(check["dismissed"])) == (3, 1)


def test_a_workspace_says_which_facts_of_the_hosts_must_match(lab):
    make_run(lab, CellSpec("a"))
    make_run(lab, CellSpec("b"), host=OTHER)
    assert ask(lab)["outcome"]["status"] == "not_comparable"
    lab.must_match = []
    lab.save()
    assert ask(lab)["outcome"]["status"] == "caveats"
    make_run(strict := make_workspace("strict"), CellSpec("a"))
    make_run(strict, CellSpec("b"), host={**MACHINE, "kernel": "Linux 6.12"})
    assert ask(strict)["outcome"]["status"] == "caveats"
    strict.must_match = ["kernel"]
    strict.save()
    assert ask(strict)["outcome"]["status"] == "not_comparable"


def test_a_label_whose_key_has_a_colon_is_found_as_its_facet_says(lab):
    run = make_run(lab, CellSpec("a"))
    run.labels = {"a:b": "c", "a": "x"}
    run.save(update_fields=["labels"])
    for text in ("a:b:c", "a:x"):
        figures = ask(lab, f"label={text}")
        assert len(figures["runs"]) == 1, text
    with pytest.raises(UnknownValue):
        ask(lab, "label=a:c")


def test_a_value_that_no_link_may_hold_is_not_offered(lab):
    make_run(lab, CellSpec("a", configuration={"long": "x" * 400, "short": "y"}))
    answer = facets(CompareQuery.parse(""), workspace_ids=[lab.pk], only=["configuration"])
    (field,) = answer["fields"]
    assert [one["value"] for one in field["values"]] == ["short=y"]
    assert field["more"] == 1


@pytest.mark.parametrize("text", ["limit=1000", "view=tradeoff"])
def test_the_sentence_of_a_view_keeps_that_nothing_may_be_compared(lab, text):
    loads = (1, 8, 64)
    make_run(lab, *[CellSpec("a", connections=load) for load in loads])
    other = {**HELLO, "name": "other"}
    make_run(lab, *[CellSpec("b", connections=load, workload=other) for load in loads])
    assert "cannot be ranked" in ask(lab, text)["finding"]
    assert ask(lab, f"{text}&override=1")["finding"].startswith("Not comparable, shown by request")


ELSEWHERE = {**HELLO, "path": "/other", "name": "other"}
NEWER_KERNEL = {**MACHINE, "kernel": "6.12"}


@pytest.mark.parametrize(
    ("query", "runs", "status", "said"),
    [
        # Two servers on two machines, asked from one client: the place says nothing of these.
        ("x=client", [("a", {}, MACHINE), ("b", {}, OTHER)], "not_comparable", "processor"),
        ("x=payload", [("a", {}, MACHINE), ("b", {"workload": ELSEWHERE}, MACHINE)], None, "path"),
        ("x=server", [("a", {}, MACHINE), ("a", {"version": "2"}, MACHINE)], None, "mix"),
        ("x=payload", [("a", {}, MACHINE), ("a", {"workload": ELSEWHERE}, MACHINE)], None, "mix"),
        ("x=workload", [("a", {}, MACHINE), ("a", {"workload": LARGER}, MACHINE)], None, "mix"),
        ("x=tool", [("a", {}, MACHINE), ("a", {"tool_version": "5"}, MACHINE)], None, "mix"),
        ("x=host", [("a", {}, MACHINE), ("a", {}, NEWER_KERNEL)], "caveats", "kernel"),
        ("x=host", [("a", {}, MACHINE), ("a", {}, {**MACHINE, "cores": 99})], None, "mix"),
        # What a place does say may differ along the axis.
        ("x=host", [("a", {}, MACHINE), ("a", {}, OTHER)], "comparable", ""),
        ("x=server", [("a", {}, MACHINE), ("b", {"version": "2"}, MACHINE)], "comparable", ""),
        ("x=payload", [("a", {}, MACHINE), ("a", {"workload": BIG}, MACHINE)], "comparable", ""),
    ],
)
def test_a_place_exempts_what_it_says_and_nothing_else(lab, query, runs, status, said):
    client = {**MACHINE, "name": "client"} if query == "x=client" else None
    for server, more, host in runs:
        make_run(lab, CellSpec(server, **more), host=host, client=client)
    outcome = ask(lab, query)["outcome"]
    assert outcome["status"] == (status or "not_comparable")
    assert said in " ".join(outcome["reasons"])


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


def test_what_only_crashed_counts_nothing(lab):
    make_run(lab, CellSpec("a"), CellSpec("crash", rates=(None, None)))
    total, counts = count(lab)
    assert counts["server"] == {"a": 3, "crash": 0}
    assert total == {"cells": 1, "trials": 3, "runs": 1}


def test_trials_of_several_runs_are_held_against_what_the_workspace_asks_for(lab):
    lab.min_trials = 10
    lab.save(update_fields=["min_trials"])
    for _ in range(2):
        make_run(lab, CellSpec("a"))
    assert "few-trials" in [check["id"] for check in ask(lab)["checks"]]
    for _ in range(2):
        make_run(lab, CellSpec("a"))
    assert "few-trials" not in [check["id"] for check in ask(lab)["checks"]]


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
    assert mixed["reasons"][0].startswith("points mix different versions; let them make series")
    figures = ask(lab, "x=server&series=version")
    assert [one["label"] for one in figures["series"]] == ["1", "2"]
    assert figures["outcome"]["status"] == "comparable"
    assert figures["outcome"]["intent"] == "only the version differs"


def test_who_did_not_say_where_the_client_ran_contradicts_nobody(lab):
    for same_host in (False, None):
        make_run(lab, CellSpec("a"), same_host=same_host)
    outcome = ask(lab, "x=host")["outcome"]
    assert outcome["status"] != "not_comparable"


def test_labels_are_quoted_as_they_are_spelled(lab):
    for labels in ({"k": "a, b:c"}, {'"k': "a", "b": 'c"'}, {"k": "é, b"}):
        run = make_run(lab, CellSpec("a"))
        run.labels = labels
        run.save(update_fields=["labels"])
    places = ask(lab, "x=label")["x"]["values"]
    assert len(places) == 3
    assert '"k:é, b"' in places


def test_a_version_that_changes_along_the_axis_is_told_beside_another_server(lab):
    old = [CellSpec("sync", version="1", connections=load) for load in (8, 16)]
    other = [CellSpec("nginx", connections=load) for load in (8, 16, 64)]
    make_run(lab, *old, CellSpec("sync", version="2", connections=64), *other)
    outcome = ask(lab, "series=server")["outcome"]
    assert outcome["status"] == "not_comparable"
    assert outcome["reasons"][0].startswith("version differs along the axis (connections)")
    assert outcome["intent"] is None


def test_what_changes_over_the_days_is_told_beside_another_server(lab):
    for day in range(8):
        version = "1" if day < 4 else "2"
        cells = CellSpec("sync", version=version), CellSpec("nginx", version="9")
        make_run(lab, *cells, started_at=datetime(2026, 3, 1 + day, tzinfo=UTC))
    outcome = ask(lab, "x=date&series=server")["outcome"]
    assert (outcome["status"], outcome["intent"]) == ("caveats", None)
    assert "version differs: 1, 2, 9" in outcome["reasons"]


def test_a_payload_of_nothing_is_a_place(lab):
    none = {**HELLO, "name": "none", "payload_bytes": 0}
    make_run(lab, CellSpec("a"), CellSpec("a", workload=none))
    assert ask(lab, "x=payload&at=0")["ranking"]["x"] == 0


def test_a_panel_says_where_it_was_measured_itself(lab):
    hello = [CellSpec(name, connections=load) for name in "ab" for load in (8, 64)]
    make_run(lab, *hello, *[CellSpec(name, workload=BIG, connections=8) for name in "ab"])
    big = next(one for one in ask(lab, "facet=workload&at=64")["panels"] if one["value"] == "big")
    assert big["finding"] == "Nothing was measured at 64 connections; measured are 8"
