"""The settings of a workspace, and what the command palette finds."""

import pytest
from django.test import Client

from backend.accounts.models import Workspace
from backend.analysis.query.factors import DEFAULT_MUST_MATCH, FACTORS, HOST_FACTORS
from backend.sharing.edits import revoke
from backend.sharing.models import Visibility
from backend.testing.rows import CellSpec, make_run
from backend.testing.scenes import make_result_set
from backend.web.tests.pages import html_of

URL = "/w/own-lab/settings"
GOOD = {"relevant_percent": "5", "min_trials": "4", "must_match": ["cpu", "kernel"]}


def test_exports_say_in_short_what_stays_here(owner, scene):
    """Each kind of data that stays is told to who asks for it."""
    html = html_of(owner.get("/w/own-lab/exports"))
    short, _, rest = html.partition("<details")
    assert "People and secrets stay here" in short
    assert "Heartbeats of runs" not in short
    assert f"All {rest.count('<li>')} kinds of data that stay here" in rest


def test_what_must_match_by_default_are_the_axes_of_the_machines():
    axes = {factor.id for factor in FACTORS if factor.rule == "axis"} - {"tool"}
    assert set(DEFAULT_MUST_MATCH) == axes
    assert axes < set(HOST_FACTORS)


@pytest.mark.parametrize(
    ("form", "fields", "sentence"),
    [
        ("delete", {"confirm": "own-lub"}, "The text does not match; expected “own-lab”."),
        ("rename", {"name": " ", "slug": "own-lab"}, "The name is empty; expected 1 to 120"),
        ("rename", {"name": "Typed", "slug": "new"}, "Nothing was saved."),
    ],
)
def test_a_refused_form_stays_with_its_reason_and_what_was_typed(
    owner, scene, form, fields, sentence
):
    response = owner.post(f"/w/own-lab/{form}", fields)
    html = html_of(response)
    assert response.status_code == 400
    assert sentence in html
    assert f'action="/w/own-lab/{form}"' in html
    for text in fields.values():
        assert f'value="{text}"' in html
    workspace = Workspace.objects.get(pk=scene.own.workspace.pk)
    assert (workspace.slug, workspace.name) == ("own-lab", scene.own.workspace.name)


def test_settings_are_shown_and_saved(owner, scene):
    html = owner.get(URL).content.decode()
    assert 'value="2"' in html
    assert html.count(" checked") == len(DEFAULT_MUST_MATCH)
    assert owner.post(URL, GOOD).status_code == 302
    workspace = scene.own.workspace
    workspace.refresh_from_db()
    assert workspace.relevant_share == 0.05
    assert workspace.min_trials == 4
    assert workspace.must_match == ["cpu", "kernel"]
    assert "Saved." in owner.get(URL).content.decode()


def test_nothing_must_match_is_a_choice_too(owner, scene):
    owner.post(URL, {"relevant_percent": "2", "min_trials": "3"})
    scene.own.workspace.refresh_from_db()
    assert scene.own.workspace.must_match == []


def test_the_defaults_are_no_choice(owner, scene):
    owner.post(URL, GOOD)
    owner.post(URL, {**GOOD, "must_match": [*reversed(DEFAULT_MUST_MATCH)]})
    scene.own.workspace.refresh_from_db()
    assert scene.own.workspace.must_match is None


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("relevant_percent", "-1", "expected 0 to 50%"),
        ("relevant_percent", "nan", "expected 0 to 50%"),
        ("relevant_percent", "51", "expected 0 to 50%"),
        ("relevant_percent", "", "expected 0 to 50%"),
        ("min_trials", "1", "a whole number from 2 to 50"),
        ("min_trials", "1e3", "a whole number from 2 to 50"),
        ("min_trials", "9" * 40, "a whole number from 2 to 50"),
        ("must_match", "workload", "There is no fact “workload”"),
        ("must_match", "<b>", "There is no fact “&lt;b&gt;”"),
    ],
)
def test_a_bad_setting_is_named_and_nothing_saved(owner, scene, field, value, said):
    response = owner.post(URL, {**GOOD, field: value})
    assert response.status_code == 400
    assert said in response.content.decode()
    scene.own.workspace.refresh_from_db()
    assert scene.own.workspace.relevant_share == 0.02
    assert scene.own.workspace.must_match is None


def found(client, q):
    results = client.get("/w/own-lab/search", {"q": q}).json()["results"]
    return [(one["kind"], one["title"]) for one in results]


def test_the_palette_finds_each_kind(owner, scene):
    make_result_set(scene.own.workspace, Visibility.PRIVATE)
    run = "other-server 1.0 and secret-server 1.0 · hello · wrk"
    assert found(owner, "secret") == [
        ("server", "secret-server 1.0"),
        ("run", run),
        ("result set", "secret-title"),
    ]
    assert ("host", "bench-1") in found(owner, "BENCH")
    assert ("workload", "hello") in found(owner, "hello")
    assert ("run", run) in found(owner, str(scene.run.pk)[:8])
    assert found(owner, "no such thing at all") == []


def test_the_palette_finds_a_result_set_under_its_link_of_today(owner, scene):
    kept = make_result_set(scene.own.workspace, Visibility.PRIVATE)
    revoke(kept)
    results = owner.get("/w/own-lab/search", {"q": "secret-title"}).json()["results"]
    assert [one["url"] for one in results] == [kept.path]


def test_an_empty_search_lists_the_pages_one_may_open(owner, scene):
    titles = [title for _, title in found(owner, "")]
    assert {"Compare", "Upload", "Settings", "API"} <= set(titles)
    viewer = Client()
    viewer.force_login(scene.viewer)
    assert not {"Upload", "Settings"} & {title for _, title in found(viewer, "")}
    for result in owner.get("/w/own-lab/search").json()["results"]:
        # That page comes with sharing.
        if not result["url"].endswith("/result-sets"):
            assert owner.get(result["url"], follow=True).status_code == 200, result


def test_another_workspaces_things_are_not_found(owner, scene):
    make_run(scene.foreign.workspace, CellSpec(server="foreign-server"))
    assert found(owner, "foreign") == []


def test_hostile_words_find_nothing_and_break_nothing(owner):
    for words in ("%", "_", "\\", "' or 1=1", "x" * 5000, "\u202e", "<script>"):
        assert owner.get("/w/own-lab/search", {"q": words}).status_code == 200
