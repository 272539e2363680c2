"""Searching from pages outside of a workspace: what the viewer may read in any of theirs."""

import pytest
from django.test import Client

from backend.accounts.models import Membership, Role
from backend.library.loading import SLUG
from backend.library.study import read_studies
from backend.sharing.models import Visibility
from backend.testing.rows import CellSpec, make_run, make_workspace
from backend.testing.scenes import make_result_set
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db


def results_of(client, q=""):
    return client.get("/search", {"q": q}).json()["results"]


def found(client, q=""):
    return [(each["kind"], each["title"]) for each in results_of(client, q)]


def test_the_palette_of_a_page_outside_of_a_workspace_searches_everywhere(owner, stranger, scene):
    for client, path in ((owner, "/workspaces"), (stranger, "/"), (stranger, "/explore")):
        html = html_of(client.get(path))
        assert (
            'data-palette="/search" data-searches="your workspaces and what is public"' in html
        ), path
    html = html_of(owner.get("/w/own-lab/runs"))
    assert (
        'data-palette="/w/own-lab/search" data-searches="this workspace and what is public"' in html
    )


def test_members_find_each_kind_in_all_of_their_workspaces(owner, scene):
    Membership.objects.create(
        user=scene.own.user, workspace=scene.foreign.workspace, role=Role.VIEWER
    )
    make_run(scene.foreign.workspace, CellSpec(server="secret-sister"))
    make_result_set(scene.own.workspace, Visibility.PRIVATE)
    results = {each["title"]: each for each in results_of(owner, "secret")}
    assert {each["kind"] for each in results.values()} == {"server", "run", "result set", "page"}
    sister = results["secret-sister 23.0"]
    assert sister["hint"] == "Foreign-Lab"
    assert owner.get(sister["url"]).status_code == 200
    assert results["secret-server 1.0"]["hint"] == "Own-Lab"
    assert ("workspace", "Foreign-Lab") in found(owner, "foreign")


def test_what_is_anothers_is_not_found(owner, stranger, scene):
    make_run(scene.foreign.workspace, CellSpec(server="foreign-server"))
    make_result_set(scene.foreign.workspace, Visibility.PRIVATE)
    kinds = {"page"}
    assert {kind for kind, _ in found(owner, "foreign")} == kinds
    for words in ("secret", "foreign", "lab", "hello", "bench-1"):
        assert {kind for kind, _ in found(stranger, words)} <= kinds, words


def test_everyone_finds_servers_of_the_library_and_public_pages(stranger):
    library = make_workspace(SLUG)
    library.is_public = True
    library.save()
    make_run(library, CellSpec(server="tornado"))
    results = results_of(stranger, "tornado")
    titles = {(each["kind"], each["title"]) for each in results}
    # On the shelf of the library, and measured in its workspace.
    assert {("server", "Tornado"), ("server", "tornado 23.0")} <= titles
    assert {each["group"] for each in results} == {"Public"}
    for each in results:
        assert stranger.get(each["url"]).status_code == 200, each
    assert results[-1]["title"] == "Search “tornado” in Explore"
    assert ("page", "Explore") in found(stranger)
    assert ("page", "Glossary") in found(stranger, "glossary")


def test_what_is_public_is_a_group_of_its_own_also_in_a_workspace(owner, stranger, scene):
    make_result_set(scene.own.workspace, Visibility.PUBLIC)
    foreign = make_result_set(scene.foreign.workspace, Visibility.PUBLIC)
    foreign.title = "secret-sister"
    foreign.save(update_fields=["title"])
    results = owner.get("/w/own-lab/search", {"q": "secret"}).json()["results"]
    groups = {(each["title"], each["group"]) for each in results}
    # That of the workspace stands among its results, and once.
    assert {("secret-title", ""), ("secret-server 1.0", ""), ("secret-sister", "Public")} <= groups
    assert len(groups) == len(results)
    titles = {title for _, title in found(stranger, "secret")}
    assert {"secret-title", "secret-sister"} <= titles
    assert "secret-server 1.0" not in titles
    # Its workspace stays unnamed: it is not public.
    assert not any("foreign" in str(each).lower() for each in results)


def test_studies_are_found_by_title_and_author(stranger):
    (study, *_) = results_of(stranger, read_studies()[0].author)
    assert (study["kind"], study["title"]) == ("study", read_studies()[0].title)
    page = html_of(stranger.get(study["url"]))
    assert f'id="{study["url"].partition("#")[2]}"' in page


def test_an_empty_search_leads_to_the_workspaces_and_pages(owner, scene):
    assert found(owner)[0] == ("workspace", "Own-Lab")
    for result in results_of(owner):
        assert owner.get(result["url"]).status_code == 200, result
    assert ("page", "Workspaces and account") not in found(Client())


def test_hostile_words_find_nothing_and_break_nothing(owner):
    for words in ("%", "_", "\\", "' or 1=1", "x" * 5000, "\u202e", "<script>"):
        assert owner.get("/search", {"q": words}).status_code == 200
