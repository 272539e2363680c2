"""The pages of the library, before and after it is loaded."""

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from backend.accounts.models import Workspace
from backend.library.loading import SLUG, load_library, result_set_id, today_name
from backend.library.shelf import find_shelved, read_shelf
from backend.library.study import read_studies
from backend.library.summary import today_texts
from backend.library.today import rows_of
from backend.sharing.models import ResultSet, Visibility
from backend.sharing.newer_runs import count_newer_runs
from backend.testing.rows import CellSpec, make_run
from backend.web.home import library

pytestmark = pytest.mark.django_db


def workspace_of_library():
    return Workspace.objects.get(slug=SLUG)


def page_at(path):
    response = Client().get(path)
    assert response.status_code == 200, path
    return response.content.decode()


def test_every_study_answers_who_won_and_what_was_wrong():
    page = page_at("/library/").replace("&#x27;", "'")
    for study in read_studies():
        assert study.title in page
        assert study.won in page
        assert study.saturation in page
        assert study.wrong[0] in page


def test_every_server_has_a_row_and_a_page():
    index = page_at("/library/")
    for server in read_shelf():
        path = f"/library/servers/{server.slug}"
        assert path in index
        page = page_at(path)
        assert server.name in page
        assert all(study.title in page for study in server.named_in)


def test_a_server_that_nobody_has_says_so():
    page = page_at("/library/servers/friendlyflow")
    assert "No." in page
    assert "Google Code" in page


def test_a_page_shows_figures_features_and_versions():
    page = page_at("/library/servers/tornado")
    assert "7,400 requests/s at a rate of 7,400" in page
    assert "Apache" in page
    assert "pip install tornado==0.2" in page


def test_the_page_of_a_server_has_its_figures_then_and_today_with_the_noise_of_the_machine(
    monkeypatch,
):
    monkeypatch.setattr(library, "noise_text", lambda study: f"Noise of {study.name}.")
    page = page_at("/library/servers/tornado").replace("&#x27;", "'")
    shown = 0
    for study in read_studies():
        rows = [row for row in rows_of(study) if row.server_name == "Tornado"]
        named = study in find_shelved("tornado").named_in
        figures = [row.current.text for row in rows if row.current]
        assert all((text in page) == named for text in figures)
        assert (f"Noise of {study.name}." in page) == named
        shown += named * len(figures)
    assert shown


def test_an_unknown_server_is_404():
    assert Client().get("/library/servers/kamaelia").status_code == 404


def test_a_library_that_is_not_loaded_has_no_dead_links():
    assert "/s/" not in page_at("/library/")
    assert "/w/library/" not in page_at("/library/")
    assert "/w/library/" not in page_at("/library/servers/tornado")


def test_a_loaded_library_links_to_its_result_sets_and_comparisons():
    loaded = load_library([study for study in read_studies() if study.name.startswith("scaling")])
    index = page_at("/library/")
    assert loaded.paths["scaling-twisted-2013"] in index
    assert 'href="/w/library/"' in index
    server = page_at("/library/servers/nginx")
    assert loaded.paths["scaling-twisted-2013"] in server
    assert "/w/library/compare?server=nginx" in server
    # Visitors read what the page leads to.
    assert Client().get("/w/library/compare?server=nginx").status_code == 200
    assert Client().get(loaded.paths["scaling-twisted-2013"]).status_code == 200


def test_the_workspace_of_the_library_leads_to_the_answers_of_its_studies():
    for slug, leads in ((SLUG, True), ("lab", False)):
        workspace = Workspace.objects.create(slug=slug, name=slug, is_public=True)
        make_run(workspace, CellSpec("caddy"))
        page = page_at(f"/w/{slug}/")
        assert (">All answers and servers</a>" in page) is leads
        assert all((escape(study.won) in page) is leads for study in read_studies())


def test_a_study_shows_what_the_same_test_says_today():
    page = page_at("/library/").replace("&#x27;", "'")
    for study in read_studies():
        assert all(text in page for text in today_texts(study))
        assert f"{study.title}: figures then and today" in page
        for row in rows_of(study):
            for figure in (row.then, row.old, row.current):
                assert figure is None or figure.text in page


def test_how_it_was_measured_is_told_after_what_it_says():
    page = page_at("/library/")
    for section in page.split("What the same test says today")[1:]:
        figures, method = section.split("<summary>How it was measured today</summary>", 1)
        assert "Measured on" not in figures
        assert "<li>Measured on" in method[: method.index("</details>")]


def test_a_loaded_library_leads_to_the_figures_of_today_with_their_evidence():
    loaded = load_library([study for study in read_studies() if study.name.startswith("scaling")])
    path = loaded.paths[today_name("scaling-twisted-2013")]
    assert path in page_at("/library/")
    page = page_at(path)
    assert "then and today" in page
    assert "As published" in page
    versions = "Versions measured today"
    assert versions in page
    assert versions not in page_at(loaded.paths["scaling-twisted-2013"])


def test_the_page_of_a_study_answers_before_its_figures():
    (study,) = (study for study in read_studies() if study.name == "scaling-twisted-2013")
    loaded = load_library([study])
    for name in (study.name, today_name(study.name)):
        page = page_at(loaded.paths[name]).replace("&#x27;", "'")
        answers = page[: page.index('id="chart"')]
        assert study.won in answers
        assert study.saturation in answers
        assert all(fault in answers for fault in study.wrong)
        assert all(text in answers for text in today_texts(study))
        leads_to_today = f'href="{loaded.paths[today_name(study.name)]}">Then and today' in answers
        assert leads_to_today == (name == study.name)


def test_newer_runs_of_its_servers_do_not_outdate_a_study():
    (study,) = (study for study in read_studies() if study.name == "scaling-twisted-2013")
    loaded = load_library([study])
    workload = {"name": "40 bytes", "payload_bytes": 40, "keepalive": True}
    make_run(workspace_of_library(), CellSpec("nginx", workload=workload))
    row = ResultSet.objects.get(link=result_set_id(study.name))
    assert count_newer_runs([row])[row.pk] == 1
    assert "newer run" not in page_at(loaded.paths[study.name])
    assert "newer run" not in page_at("/w/library/result-sets")


@pytest.mark.parametrize(
    "closed", [{"withdrawn_at": timezone.now()}, {"visibility": Visibility.PRIVATE}]
)
def test_the_page_of_a_study_leads_to_no_closed_set_of_today(closed):
    (study,) = (study for study in read_studies() if study.name == "scaling-twisted-2013")
    loaded = load_library([study])
    today = loaded.paths[today_name(study.name)]
    assert today in page_at(loaded.paths[study.name])
    ResultSet.objects.filter(link=result_set_id(today_name(study.name))).update(**closed)
    assert Client().get(today).status_code in (404, 410)
    page = page_at(loaded.paths[study.name])
    assert today not in page
    assert "Then and today" not in page


@pytest.mark.parametrize(
    "closed",
    [
        {"withdrawn_at": timezone.now()},
        {"expires_at": timezone.now()},
        {"visibility": Visibility.PRIVATE},
    ],
    ids=["withdrawn", "expired", "private"],
)
def test_the_library_links_only_to_sets_that_a_visitor_may_open(closed):
    (study,) = (study for study in read_studies() if study.name == "scaling-twisted-2013")
    loaded = load_library([study])
    open_path, closed_path = loaded.paths[study.name], loaded.paths[today_name(study.name)]
    ResultSet.objects.filter(link=result_set_id(today_name(study.name))).update(**closed)
    page = page_at("/library/")
    assert open_path in page
    assert closed_path not in page
    ResultSet.objects.filter(link=result_set_id(study.name)).update(**closed)
    assert open_path not in page_at("/library/")
    assert open_path not in page_at("/library/servers/nginx")


def test_the_set_of_a_study_begins_with_its_best_figure_wherever_it_is_shown():
    (study,) = (study for study in read_studies() if study.name == "landshark-2010")
    path = load_library([study]).paths[study.name]
    best = "Highest throughput of 11 servers: fapws3 0.3, 7,170 requests/s at 100 connections"
    page = page_at(path)
    assert page.count(best) >= 2, "the answer, and the card of a pasted link"
    assert f"{best}. 3 trials each. Not ranked: request path differs" in page
    framed = page_at(path.replace("/s/", "/embed/"))
    assert best in framed[: framed.index("</h1>")]
