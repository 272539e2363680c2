"""The page of two runs or versions, and the way to it from a list."""

import re
from datetime import timedelta

import pytest

from backend.analysis.pages.pair import differences
from backend.runs.models import Run, Server
from backend.testing.rows import STARTED, CellSpec, make_run
from backend.web.tests.pages import html_of


@pytest.fixture
def two(scene):
    workspace = scene.own.workspace
    a = make_run(workspace, CellSpec("caddy", version="1.0", rates=(2000.0, 2003.0, 1997.0)))
    b = make_run(
        workspace,
        CellSpec("caddy", version="1.1", rates=(1000.0, 1002.0, 998.0)),
        started_at=STARTED + timedelta(days=1),
    )
    return a, b


def test_what_was_ticked_leads_to_the_pair_the_older_first(owner, two):
    a, b = two
    ticked = {"action": "compare", "run": [str(b.pk), str(a.pk)]}
    response = owner.post("/w/own-lab/runs/ticked", ticked)
    assert response["Location"] == f"/w/own-lab/compare/pair?a={a.pk}&b={b.pk}"


def test_ticked_versions_lead_to_their_pair(owner, two):
    old, new = Server.objects.filter(name="caddy").order_by("created_at")
    page = html_of(owner.get(f"/w/own-lab/servers/{old.pk}"))
    assert f'name="server" value="{new.pk}" form="ticked-versions"' in page
    response = owner.get(f"/w/own-lab/compare/pair?server={new.pk}&server={old.pk}")
    assert response["Location"] == f"/w/own-lab/compare/pair?a={old.pk}&b={new.pk}"
    html = html_of(owner.get(response["Location"]))
    assert ">caddy 1.1 serves 0.5" in html


@pytest.mark.parametrize("count", [1, 3])
def test_another_number_than_two_is_explained(owner, scene, two, count):
    runs = [*two, scene.run][:count]
    ticked = {"action": "compare", "run": [str(run.pk) for run in runs]}
    response = owner.post("/w/own-lab/runs/ticked", ticked)
    assert response.status_code == 400
    assert f"{count} run" in html_of(response)
    assert "expected two. Go back and tick two." in html_of(response)


def test_the_page_says_what_changed_what_differs_and_the_figures(owner, two):
    a, b = two
    html = html_of(owner.get(f"/w/own-lab/compare/pair?a={a.pk}&b={b.pk}"))
    assert ">caddy 1.1 serves 0.5" in html
    assert '<th scope="row"> Version<p class="hint">This is what is compared.</p>' in html
    assert f'href="/r/{a.pk}">caddy 1.0 · hello · wrk</a>' in html
    assert 'pair-regressed" title="beyond noise and threshold' in html
    assert f"/w/own-lab/compare/pair?a={b.pk}&amp;b={a.pk}" in html


def test_single_trials_have_no_interval_and_are_not_called_noisy(owner, scene):
    workspace = scene.own.workspace
    a, b = (
        make_run(workspace, CellSpec("caddy", version=version, rates=(rate,)))
        for version, rate in (("2.0", 2000.0), ("2.1", 1000.0))
    )
    html = html_of(owner.get(f"/w/own-lab/compare/pair?a={a.pk}&b={b.pk}"))
    heading = re.search(r"<h1>(.*?)</h1>", html)
    assert heading is not None
    assert heading[1].startswith("Too few trials to compare caddy 2.1 and caddy 2.0")
    assert heading[1].endswith(" at 64 connections")
    advice = "one trial each gives no interval, so measure at least 2 more of each"
    assert re.search(f'<p class="margin">0.500×; {advice}', html)
    assert '<span aria-hidden="true">◇</span>' in html
    assert "Too few trials" in html
    assert "no interval" in html
    assert "noisy" not in html


def test_the_chip_opens_what_is_listed_below(owner, two, scene):
    a, b = two
    html = html_of(owner.get(f"/w/own-lab/compare/pair?a={a.pk}&b={b.pk}"))
    assert '<summary class="trust-chip status-' in html
    other = make_run(scene.own.workspace, CellSpec("caddy", version="1.2", tool="ab"))
    html = html_of(owner.get(f"/w/own-lab/compare/pair?a={a.pk}&b={other.pk}"))
    assert '<summary class="trust-chip status-error"><span aria-hidden="true">■</span>' in html
    assert "Choose one tool." in html
    answer = owner.get(f"/api/v1/compare/pair?a={a.pk}&b={other.pk}").json()
    count = len(answer["trust"]["reasons"])
    assert f"Checks ({count})" in html
    assert (f"All {count} checks" if count > 1 else "See the check") in html


def test_every_table_of_figures_is_headed_by_its_series(owner, two):
    a, b = two
    html = html_of(owner.get(f"/w/own-lab/compare/pair?a={a.pk}&b={b.pk}"))
    assert "A: caddy 1.0 · B: caddy 1.1" in html


def test_the_page_says_how_many_differences_it_leaves_out(owner, two, monkeypatch):
    a, b = two
    for run, count in ((a, 1), (b, 2)):
        Run.objects.filter(pk=run.pk).update(facts={"server": dict.fromkeys("xyz", count)})
    address = f"/w/own-lab/compare/pair?a={a.pk}&b={b.pk}"
    assert "not listed" not in html_of(owner.get(address))
    # The version is the first.
    monkeypatch.setattr(differences, "MAX_ROWS", 2)
    assert "2 more differences are not listed." in " ".join(html_of(owner.get(address)).split())


def test_the_api_answers_the_same(owner, two):
    a, b = two
    answer = owner.get(f"/api/v1/compare/pair?a={a.pk}&b={b.pk}").json()
    assert answer["finding"].startswith("caddy 1.1 serves 0.5")
    assert answer["pairs"][0]["rows"][0]["ratio"]["verdict"] == "regressed"
    assert {row["name"] for row in answer["differences"]} == {"version"}


@pytest.mark.parametrize("query", ["", "?a=1&b=2", "?a=00000000-0000-0000-0000-000000000000"])
def test_a_link_that_names_no_pair_is_explained(owner, scene, query):
    response = owner.get(f"/w/own-lab/compare/pair{query}")
    assert response.status_code == 400
    assert "expected the id of a run or a server" in html_of(response)
