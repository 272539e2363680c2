"""Searching from pages outside of a workspace: what the viewer may read in any of theirs."""

import pytest
from django.test import Client

from backend.accounts.models import Membership, Role
from backend.library.loading import SLUG
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
        assert 'data-palette="/search" data-searches="all you may read"' in html, path
    html = html_of(owner.get("/w/own-lab/runs"))
    assert 'data-palette="/w/own-lab/search" data-searches="this workspace"' in html


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
    (server, *others) = results_of(stranger, "tornado")
    assert (server["kind"], server["title"]) == ("server", "tornado 23.0")
    assert stranger.get(server["url"]).status_code == 200
    assert others[-1]["title"] == "Search “tornado” in Explore"
    assert stranger.get(others[-1]["url"]).status_code == 200
    assert ("page", "Explore") in found(stranger)
    assert ("page", "Glossary") in found(stranger, "glossary")


def test_an_empty_search_leads_to_the_workspaces_and_pages(owner, scene):
    assert found(owner)[0] == ("workspace", "Own-Lab")
    for result in results_of(owner):
        assert owner.get(result["url"]).status_code == 200, result
    assert ("page", "Workspaces and account") not in found(Client())


def test_hostile_words_find_nothing_and_break_nothing(owner):
    for words in ("%", "_", "\\", "' or 1=1", "x" * 5000, "\u202e", "<script>"):
        assert owner.get("/search", {"q": words}).status_code == 200
