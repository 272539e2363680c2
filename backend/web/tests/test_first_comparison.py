"""Which comparison opens first: the largest group, everything, or the first steps."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from django.core.cache import caches
from django.test import Client

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.testing.rows import CellSpec, make_run
from backend.testing.scenes import make_saved_view
from backend.testing.uploads import make_tenant
from backend.web.tests.pages import html_of


@pytest.fixture(autouse=True)
def _nothing_kept():
    caches["process"].clear()


def test_a_comparison_of_nothing_teaches_the_first_steps(scene):
    tenant = make_tenant("third-lab")
    client = Client()
    client.force_login(tenant.user)
    html = client.get("/w/third-lab/compare").content.decode()
    assert "curl -H" in html
    assert "Share" not in html
    make_run(tenant.workspace, CellSpec())
    html = client.get("/w/third-lab/compare").content.decode()
    assert "data-compare" in html
    assert "Share" in html


def test_compare_opens_the_largest_group_and_offers_the_others(owner, scene):
    """The workload and the load tool of most servers, in their newest versions."""
    workspace = scene.own.workspace
    json = {"name": "json", "method": "GET", "path": "/json"}
    make_run(workspace, *(CellSpec(name, workload=json, version="1") for name in "abc"))
    make_run(workspace, *(CellSpec(name, workload=json, version="2") for name in "abc"))
    make_run(workspace, CellSpec("a", workload=json, tool="oha"))
    first = owner.get("/w/own-lab/compare/first")["Location"]
    query = dict(parse_qsl(urlsplit(first).query))
    assert (query["workload"], query["tool"], query["version"]) == ("json", "wrk", "2")
    finding = plain_figures(
        compare(CompareQuery.parse(urlsplit(first).query), workspace_ids=[workspace.pk])
    )
    assert len(finding["ranking"]["rows"]) == 3
    html = html_of(owner.get(first))
    assert "json · wrk · 3 servers" in html
    assert "json · oha · 1 server<" in html
    assert 'href="/w/own-lab/compare"><bdi>Everything' in html


def test_compare_opens_a_group_that_can_be_ranked_before_a_larger_one_that_cannot(owner, scene):
    workspace = scene.own.workspace
    mixed = [{"name": "mixed", "method": "GET", "path": f"/{name}"} for name in "abcd"]
    make_run(workspace, *(CellSpec(str(i), workload=each) for i, each in enumerate(mixed)))
    json = {"name": "json", "method": "GET", "path": "/json"}
    make_run(workspace, *(CellSpec(name, workload=json) for name in "abc"))
    first = owner.get("/w/own-lab/compare/first")["Location"]
    assert "workload=json" in first
    assert "mixed · wrk · 4 servers" in html_of(owner.get(first))


def test_compare_without_a_query_opens_the_largest_group_where_everything_is_too_much(
    owner, scene, monkeypatch
):
    workspace = scene.own.workspace
    json = {"name": "json", "method": "GET", "path": "/json"}
    make_run(workspace, *(CellSpec(name, workload=json) for name in "abc"))
    make_run(workspace, CellSpec("a", workload=json, tool="oha"))
    assert owner.get("/w/own-lab/compare").status_code == 200
    monkeypatch.setattr("backend.web.compare.compare.MAX_SERIES", 3)
    first = owner.get("/w/own-lab/compare/first")["Location"]
    assert "workload=json" in first
    assert owner.get("/w/own-lab/compare")["Location"] == first
    everything = "/w/own-lab/compare?workspace=own-lab"
    html = html_of(owner.get(everything))
    assert f'href="{everything}"><bdi>Everything' in html
    assert 'data-everything="workspace=own-lab"' in html
    assert f'href="{everything}"' in html_of(owner.get("/w/own-lab/servers"))
    assert make_saved_view(workspace, is_default=True).path == everything
    assert owner.get("/w/own-lab/compare/first")["Location"] == everything


def test_compare_opens_everything_where_all_can_be_compared(db):
    tenant = make_tenant("third-lab")
    client = Client()
    client.force_login(tenant.user)
    assert client.get("/w/third-lab/compare/first")["Location"] == "/w/third-lab/compare"
    make_run(tenant.workspace, CellSpec("a"), CellSpec("b"))
    assert client.get("/w/third-lab/compare/first")["Location"] == "/w/third-lab/compare"
    assert "Everything" not in html_of(client.get("/w/third-lab/compare"))
