"""The page of a run: what it measured at a glance, in parts that need no script."""

import re

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.pages.run import describe_run
from backend.analysis.pages.run_summary import summarise_run
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Cell, Trial
from backend.testing.rows import HELLO, CellSpec, make_run
from backend.web.runs.small_charts import small_charts
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db
PARTS = ["results", "trials", "checks", "hosts", "reproduce"]


@pytest.fixture
def page(owner, scene):
    return owner.get(f"/r/{scene.run.pk}")


def rows_of(response):
    return response.context["summary"]


def test_every_part_is_on_the_page_and_has_a_link(page):
    html = html_of(page)
    nav = html[html.index('class="tab-list"') : html.index("</nav>", html.index("tab-list"))]
    assert re.findall(r'href="#([a-z]+)"', nav) == PARTS
    for part in PARTS:
        assert f'id="{part}"' in html
    assert not re.search(r'<section[^>]*class="tab-panel"[^>]* hidden', html)


def test_the_tab_of_checks_counts_those_that_fired(page, owner, scene):
    count = len(set(re.findall(r'id="check-([a-z0-9-]+)"', html_of(page))))
    assert count
    assert f">({count})</span>" in html_of(page)
    Trial.objects.filter(run=scene.run).update(checks=[])
    Cell.objects.filter(run=scene.run).update(checks=[])
    assert 'data-fresh="check-count"></span>' in html_of(owner.get(f"/r/{scene.run.pk}"))


def test_the_summary_has_a_row_for_each_server_and_load(page):
    rows = [(row["server"], row["connections"], row["counted"]) for row in rows_of(page)]
    assert rows == [
        ("other-server 1.0", 8, 3),
        ("other-server 1.0", 64, 3),
        ("secret-server 1.0", 8, 3),
        ("secret-server 1.0", 64, 3),
    ]


def test_its_figures_are_those_of_a_comparison(scene):
    run = make_run(
        scene.own.workspace,
        CellSpec("caddy", connections=8, rates=(100.0, 110.0, 132.0)),
        CellSpec("caddy", connections=64, rates=(200.0, 230.0, 260.0)),
    )
    own = [scene.own.workspace.pk]
    trials = describe_run(run.pk, workspace_ids=own)["trials"]
    summary = summarise_run(run.pk, trials, workspace_ids=own)
    (series,) = compare(CompareQuery.parse(f"run={run.pk}"), workspace_ids=own).series
    values = [point.metrics["throughput"].value for point in series.points]
    assert [row["figures"]["throughput"].value for row in summary] == values
    assert all(any(trial["warmup"] for trial in row["trials"]) for row in summary)


def test_the_rows_of_a_workload_stand_together_whatever_its_capitals(scene):
    cells = [
        CellSpec(server, workload=dict(HELLO, name=name))
        for server in ("caddy", "nginx")
        for name in ("json", "JSON")
    ]
    run, own = make_run(scene.own.workspace, *cells), [scene.own.workspace.pk]
    trials = describe_run(run.pk, workspace_ids=own)["trials"]
    summary = summarise_run(run.pk, trials, workspace_ids=own)
    assert [row["workload"] for row in summary] == ["JSON", "JSON", "json", "json"]


def test_a_load_point_without_a_figure_has_a_row_too(owner, scene):
    cell = Cell.objects.filter(run=scene.run).first()
    Trial.objects.filter(cell=cell).update(throughput_rps=None, error_rate=None, percentiles_us={})
    response = owner.get(f"/r/{scene.run.pk}")
    (row,) = [row for row in rows_of(response) if row["cell"] == str(cell.pk)]
    assert row["counted"] == 0
    assert len(row["trials"]) == 3
    assert response.status_code == 200


def test_small_charts_show_each_server_on_one_scale(page):
    charts = small_charts(rows_of(page))
    assert [chart.title for chart in charts] == ["other-server 1.0", "secret-server 1.0"]
    assert {chart.first_load for chart in charts} == {"8"}
    assert {chart.last_load for chart in charts} == {"64"}
    (highest,) = {chart.plots[0].highest for chart in charts}
    assert highest == max(row["figures"]["throughput"].value for row in rows_of(page))
    assert [len(plot.dots) for plot in charts[0].plots] == [2, 2]


def test_one_load_needs_no_chart(owner, scene):
    Cell.objects.filter(run=scene.run, connections=64).delete()
    response = owner.get(f"/r/{scene.run.pk}")
    assert small_charts(rows_of(response)) == []
    assert "small-chart" not in html_of(response)


def test_two_paths_of_one_name_are_two_rows_and_two_charts(owner, scene):
    paths = {"/a": (100.0, 200.0), "/b": (7000.0, 9000.0)}
    points = [
        CellSpec("caddy", workload={"name": "json", "path": path}, connections=load, rates=(rate,))
        for path, rates in paths.items()
        for load, rate in zip((8, 64), rates, strict=True)
    ]
    run = make_run(scene.own.workspace, *points)
    response = owner.get(f"/r/{run.pk}")
    rows = [(row["workload"], row["connections"]) for row in rows_of(response)]
    assert rows == [("json (/a)", 8), ("json (/a)", 64), ("json (/b)", 8), ("json (/b)", 64)]
    charts = small_charts(rows_of(response))
    assert [(chart.title, chart.plots[0].highest) for chart in charts] == [
        ("caddy 23.0 · json (/a)", 200),
        ("caddy 23.0 · json (/b)", 9000),
    ]
    names = {trial["workload"] for trial in response.context["trials"]}
    assert names == {"json (/a)", "json (/b)"}


def test_two_configurations_of_one_version_are_told_apart(owner, scene):
    run = make_run(
        scene.own.workspace,
        *(
            CellSpec("caddy", configuration={"workers": workers}, connections=load)
            for workers in (1, 2)
            for load in (8, 64)
        ),
    )
    response = owner.get(f"/r/{run.pk}")
    names = ["caddy 23.0 (workers=1)", "caddy 23.0 (workers=2)"]
    assert [chart.title for chart in small_charts(rows_of(response))] == names
    assert sorted({row["server"] for row in rows_of(response)}) == names
    assert sorted({trial["server"] for trial in response.context["trials"]}) == names


def test_many_facts_of_a_host_open_on_demand(owner, scene):
    scene.run.facts = {"server": {f"fact_{number}": number for number in range(40)}}
    scene.run.save()
    html = html_of(owner.get(f"/r/{scene.run.pk}"))
    assert re.search(r"<summary>\d+ more facts</summary>", html)


def test_a_run_leads_to_the_other_versions_of_its_server(owner, scene):
    workspace = scene.own.workspace
    run = make_run(workspace, CellSpec("caddy", version="1.27"))
    assert owner.get(f"/r/{run.pk}").context["versions_url"] == ""
    make_run(workspace, CellSpec("caddy", version="1.26"))
    address = owner.get(f"/r/{run.pk}").context["versions_url"]
    assert address == "/w/own-lab/compare?series=version&server=caddy&workload=hello"
    assert owner.get(address).status_code == 200
    two = make_run(workspace, CellSpec("caddy", version="1.27"), CellSpec("nginx"))
    assert owner.get(f"/r/{two.pk}").context["versions_url"] == ""
