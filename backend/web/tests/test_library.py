"""The pages of the library, before and after it is loaded."""

import re

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from backend.accounts.models import Workspace
from backend.library.envelopes import TODAY
from backend.library.loading import SLUG, load_library, result_set_id, today_name
from backend.library.shelf import read_shelf
from backend.library.study import read_studies
from backend.library.today import answer_today
from backend.runs.models import Run
from backend.sharing.models import ResultSet, Visibility
from backend.sharing.newer_runs import count_newer_runs
from backend.testing.rows import CellSpec, make_run

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


def scaling_study():
    return next(study for study in read_studies() if study.name.startswith("scaling"))


def answers_of(study, servers=()):
    run = Run.objects.get(labels__study=study.name, labels__part=TODAY)
    answers = answer_today(study, run, servers=servers, viewer="test")
    assert answers
    return answers


def assert_told(answers, page):
    for each in answers:
        assert f'href="{escape(each.url)}"' in page
        assert escape(each.answer.sentence) in page


def test_a_study_and_its_servers_say_today_what_their_comparisons_answer():
    study = scaling_study()
    assert "Today" not in page_at("/library/")
    loaded = load_library([study])
    for path in ("/library/", loaded.paths[study.name], loaded.paths[today_name(study.name)]):
        assert_told(answers_of(study), page_at(path))
    assert_told(answers_of(study, ("Twisted",)), page_at("/library/servers/twisted"))
    # The address is that of a page that a visitor may open.
    assert {Client().get(each.url).status_code for each in answers_of(study)} == {200}


def test_a_study_draws_the_first_series_that_its_comparison_ranks():
    study = scaling_study()
    load_library([study])
    page = page_at("/library/")
    (plot,) = re.findall(r'<figure class="today-plot">.*?</figure>', page, re.DOTALL)
    first, *_ = answers_of(study)
    assert f"{first.workload} {first.place}" in plot
    assert re.findall(r"<bdi>(.*?)</bdi>", plot) == [row.label for row in first.ranked[:5]]
    dots = [float(x) for x in re.findall(r'd="M([\d.]+) 4h0"', plot)]
    values = [row.value for row in first.ranked[:5]]
    # All on one scale from 0, and within it with their intervals.
    scales = [dot / value for dot, value in zip(dots, values, strict=True)]
    assert scales == pytest.approx([scales[0]] * len(scales), rel=0.01)
    assert max(float(x) for x in re.findall(r"4H([\d.]+)", plot)) == 100


def test_a_viewer_who_may_not_read_the_runs_of_the_library_is_told_nothing_of_them():
    study = scaling_study()
    load_library([study])
    (first, *_) = answers_of(study)
    Workspace.objects.filter(slug=SLUG).update(is_public=False)
    page = page_at("/library/")
    assert escape(study.won) in page
    assert escape(first.answer.sentence) not in page
    assert "/w/library/" not in page


def test_a_page_that_was_asked_for_before_compares_nothing(monkeypatch):
    load_library([scaling_study()])
    first = page_at("/library/")

    def compare(*_, **__):
        raise AssertionError("compared again")

    monkeypatch.setattr("backend.library.today.compare_as_json", compare)
    assert page_at("/library/").count("/w/library/compare?") == first.count("/w/library/compare?")


def test_a_loaded_library_leads_to_the_figures_of_today_with_their_evidence():
    loaded = load_library([study for study in read_studies() if study.name.startswith("scaling")])
    path = loaded.paths[today_name("scaling-twisted-2013")]
    assert path in page_at("/library/")
    page = page_at(path)
    assert "then and today" in page
    assert "As published" in page


def test_the_page_of_a_study_answers_before_its_figures():
    (study,) = (study for study in read_studies() if study.name == "scaling-twisted-2013")
    loaded = load_library([study])
    for name in (study.name, today_name(study.name)):
        page = page_at(loaded.paths[name]).replace("&#x27;", "'")
        answers = page[: page.index('id="chart"')]
        assert study.won in answers
        assert study.saturation in answers
        assert all(fault in answers for fault in study.wrong)
        assert_told(answers_of(study), page[: page.index('id="chart"')])
        leads_to_today = (
            f'href="{loaded.paths[today_name(study.name)]}">All figures, published and today'
            in answers
        )
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


def test_the_set_of_a_study_names_no_best_figure_of_what_cannot_be_ranked():
    (study,) = (study for study in read_studies() if study.name == "landshark-2010")
    path = load_library([study]).paths[study.name]
    why = "These series cannot be ranked"
    page = page_at(path)
    framed = page_at(path.replace("/s/", "/embed/"))
    assert f"{why}: request path differs" in page, "the card of a pasted link"
    assert why in framed[: framed.index("</h1>")]
    for told in (page, framed):
        assert "Highest throughput" not in told
