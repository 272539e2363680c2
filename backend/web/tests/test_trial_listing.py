"""The page of a large run lists its trials in pages, each of which needs no script."""

import re
from collections import defaultdict

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from backend.ingest.listing.listed_artefacts import TrialFiles
from backend.links import run_link, shared_run_link
from backend.runs.models import Trial
from backend.sharing.models import SharedRun, Visibility
from backend.testing.rows import CellSpec, make_run
from backend.web.runs import run_page, trial_listing, trials
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db
PER_PAGE = 5
# Read itself, not measured.
DETAIL = re.compile(r"SELECT.*(?<!\")\b(?:command|resources|server_tail)\b(?!\")")
UNKNOWN_POINT = "0864a7c4-3164-49ce-a2d0-8c08f4e949e8"


@pytest.fixture
def run(scene, monkeypatch):
    """Twelve trials in order: seven at 8 connections and five at 64."""
    monkeypatch.setattr(trial_listing, "TRIALS_PER_PAGE", PER_PAGE)
    monkeypatch.setattr(trials, "TRIALS_PER_PAGE", PER_PAGE)
    used = {"server_cpu_s": 1.5}
    return make_run(
        scene.own.workspace,
        CellSpec("caddy", connections=8, rates=(100.0,) * 7, warmups=0, resources=used),
        CellSpec("caddy", connections=64, rates=(200.0,) * 5, warmups=0, resources=used),
        in_turn=False,
    )


@pytest.fixture
def shared(run):
    return shared_run_link(SharedRun.objects.create(run=run, visibility=Visibility.PUBLIC).link)


def listed(html):
    """The numbers of the trials in the table, those with a command and those with their use."""
    return (
        [int(text) for text in re.findall(r'<tr id="row-[^>]*>\s*<th[^>]*"(\d+)">', html)],
        [int(text) for text in re.findall(r'id="trial-[^>]*>\s*<summary>\s*<strong>#(\d+)', html)],
        [int(text) for text in re.findall(r'<tr id="used-[^>]*>\s*<th[^>]*"(\d+)">', html)],
    )


def test_every_trial_is_on_a_page_that_the_first_page_leads_to(owner, run):
    address = run_link(run.pk)
    first = html_of(owner.get(address))
    assert listed(first) == ([0, 1, 2, 3, 4],) * 3
    assert "Trials 1 to 5 of 12." in first
    pages = sorted(set(re.findall(r'href="(\?page=\d)#trials"', first)))
    assert pages == ["?page=1", "?page=2", "?page=3"]
    each = [listed(html_of(owner.get(address + query)))[0] for query in pages]
    assert each == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11]]


def test_a_row_of_the_summary_leads_to_its_trials(owner, run):
    response = owner.get(run_link(run.pk))
    html = html_of(response)
    assert "load-point-trial" not in html
    point = response.context["summary"][1]["cell"]
    assert f'href="?point={point}#trials"' in html
    of_point = html_of(owner.get(f"{run_link(run.pk)}?point={point}"))
    assert listed(of_point)[0] == [7, 8, 9, 10, 11]
    assert "All 12 trials" in of_point
    point = response.context["summary"][0]["cell"]
    rest = html_of(owner.get(f"{run_link(run.pk)}?point={point}&page=2"))
    assert listed(rest)[0] == [5, 6]
    assert f'href="?point={point}&amp;page=1#trials"' in rest


def test_the_head_of_the_page_counts_every_trial(owner, run):
    run.trials_planned = 20
    run.save()
    html = html_of(owner.get(f"{run_link(run.pk)}?page=3"))
    assert "12 of 20 planned trials" in html
    assert ">12 trials</span></h1>" in html


def test_a_link_to_one_trial_opens_its_page(owner, run):
    trial = Trial.objects.get(run=run, ordinal=6)
    page = html_of(owner.get(f"/t/{trial.pk}"))
    link = f"{run_link(run.pk)}?trial={trial.pk}#trial-{trial.pk}"
    assert f'href="{link}"' in page
    assert f'id="trial-{trial.pk}"' in html_of(owner.get(link))


def test_readers_of_the_link_reach_trials_on_other_pages(run, shared):
    Trial.objects.filter(run=run, ordinal__in=(1, 9)).update(error="Connection refused")
    ids = [str(pk) for pk in Trial.objects.filter(run=run).values_list("pk", flat=True)]
    html = html_of(Client().get(shared))
    assert listed(html)[0] == [0, 1, 2, 3, 4]
    assert f'href="#trial-{ids[1]}"' in html
    assert f'href="?trial={ids[9]}#trial-{ids[9]}"' in html
    assert listed(html_of(Client().get(f"{shared}?trial={ids[9]}")))[0] == [5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    "query", ["page=x", "page=0", "page=-1", f"point={UNKNOWN_POINT}", "point=x", "trial=x"]
)
def test_what_the_run_does_not_have_is_left_out_of_account(owner, run, query):
    response = owner.get(f"{run_link(run.pk)}?{query}")
    assert response.status_code == 200
    assert listed(html_of(response))[0] in ([0, 1, 2, 3, 4], [10, 11])


def test_a_small_run_has_every_trial_on_one_page_whatever_is_asked(owner, scene):
    address = run_link(scene.run.pk)
    whole = html_of(owner.get(address))
    assert "pager" not in whole
    assert whole.count("load-point-trial") == 12
    link = f"{address}#trial-{scene.trial.pk}"
    assert f'href="{link}"' in html_of(owner.get(f"/t/{scene.trial.pk}"))
    point = scene.trial.cell_id
    assert listed(html_of(owner.get(f"{address}?page=2&point={point}"))) == listed(whole)


def test_files_are_read_of_the_listed_trials_alone(owner, run, monkeypatch):
    asked = []
    monkeypatch.setattr(
        run_page, "artefacts_of_trials", lambda ids: asked.extend(ids) or defaultdict(TrialFiles)
    )
    owner.get(run_link(run.pk))
    trials_of_page = Trial.objects.filter(run=run, ordinal__lt=PER_PAGE).order_by("ordinal")
    assert asked == [str(trial.pk) for trial in trials_of_page]


def test_the_summary_of_many_load_points_is_in_pages_that_lead_to_each_other(
    scene, owner, run, shared, monkeypatch
):
    """1,000 load points had 1,000 rows of the page, however few trials it listed."""
    monkeypatch.setattr(trial_listing, "LOAD_POINTS_PER_PAGE", 1)
    for client, address in ((owner, run_link(run.pk)), (Client(), shared)):
        first = client.get(address)
        html = html_of(first)
        assert [row["connections"] for row in first.context["summary"]] == [8]
        assert html.count('<tbody class="load-point">') == 1
        assert "Load points 1 to 1 of 2." in " ".join(html.split())
        assert 'href="?points=2#results"' in html
        second = client.get(f"{address}?points=2")
        assert [row["connections"] for row in second.context["summary"]] == [64]
        assert 'href="?points=1#results"' in html_of(second)
        # The charts are of the whole run.
        assert first.context["charts"] == second.context["charts"] != []
    # Also where all trials fit on one page.
    monkeypatch.setattr(trial_listing, "TRIALS_PER_PAGE", 50)
    assert len(owner.get(f"{run_link(run.pk)}?points=2").context["summary"]) == 1


def test_few_load_points_have_no_pages(owner, run):
    response = owner.get(f"{run_link(run.pk)}?points=7")
    assert len(response.context["summary"]) == 2
    assert "Load points" not in html_of(response)


def test_details_are_read_of_the_listed_trials_alone(owner, run, shared):
    """Commands and resources of a trial may have megabytes."""
    rows = Trial.objects.filter(run=run, ordinal__lt=PER_PAGE)
    first = [str(pk) for pk in rows.values_list("pk", flat=True)]
    for client, address in ((owner, run_link(run.pk)), (Client(), shared)):
        with CaptureQueriesContext(connection) as asked:
            client.get(address)
        read = [each["sql"] for each in asked if DETAIL.search(each["sql"])]
        assert len(read) == 1
        assert all(pk in read[0] for pk in first)
        assert len(re.findall(r"[0-9a-f-]{36}", read[0])) == PER_PAGE
