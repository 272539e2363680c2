"""The public directory: what is listed, search, pages, and no private name."""

import pytest

from backend.accounts.models import Workspace
from backend.ingest.removing.trash import trash_run
from backend.sharing.models import Visibility
from backend.testing.scenes import make_result_set, make_shared_run
from backend.web.tests.pages import html_of


@pytest.fixture
def public_set(scene):
    made = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    scene.own.workspace.result_sets.filter(pk=made.pk).update(title="Caddy against nginx")
    return made


def test_public_result_sets_are_found_by_every_word(stranger, public_set):
    for query in ("", "caddy", "NGINX caddy"):
        assert "Caddy against nginx" in html_of(stranger.get("/explore", {"q": query}))
    html = html_of(stranger.get("/explore", {"q": "caddy apache"}))
    assert "No public result set has these words" in html
    assert f"/s/{public_set.link}" in html_of(stranger.get("/explore"))


def test_the_private_workspace_of_a_public_set_is_not_named(stranger, public_set, scene):
    (entry,) = stranger.get("/api/v1/explore").json()["entries"]
    assert entry["workspace"] is None
    assert "Own-Lab" not in html_of(stranger.get("/explore"))
    # Nor can its name be guessed by a search.
    assert stranger.get("/api/v1/explore?q=own-lab").json()["entries"] == []
    scene.own.workspace.is_public = True
    scene.own.workspace.save()
    (entry,) = stranger.get("/api/v1/explore?q=own-lab").json()["entries"]
    assert entry["workspace"] == "Own-Lab"


@pytest.mark.parametrize("visibility", [Visibility.PRIVATE, Visibility.UNLISTED])
def test_what_is_not_public_is_not_listed(stranger, owner, scene, visibility):
    make_result_set(scene.own.workspace, visibility)
    for client in (stranger, owner):
        assert client.get("/api/v1/explore").json()["entries"] == []


def test_workspaces_are_listed_where_they_are_public(stranger, scene):
    asked = "/api/v1/explore?kind=workspaces"
    assert stranger.get(asked).json()["entries"] == []
    Workspace.objects.filter(slug="own-lab").update(is_public=True)
    (entry,) = stranger.get(f"{asked}&q=own").json()["entries"]
    assert (entry["title"], entry["url"]) == ("Own-Lab", "/w/own-lab/")
    assert "Own-Lab" in html_of(stranger.get("/explore?kind=workspaces"))


def test_public_runs_are_found_by_their_names(stranger, scene):
    shared = make_shared_run(scene.own.workspace, Visibility.PUBLIC)
    make_shared_run(scene.own.workspace, Visibility.UNLISTED)
    asked = "/api/v1/explore?kind=runs"
    for query in ("", "&q=secret-server", "&q=wrk+HELLO"):
        (entry,) = stranger.get(asked + query).json()["entries"]
        assert (entry["id"], entry["url"]) == (str(shared.link), f"/shared/runs/{shared.link}")
        assert entry["title"] == "other-server 1.0 and secret-server 1.0 · hello · wrk"
        assert entry["workspace"] is None
    assert f"/shared/runs/{shared.link}" in html_of(stranger.get("/explore?kind=runs"))
    for query in ("&q=nginx", "&q=own-lab", "&q=secret-notes"):
        assert stranger.get(asked + query).json()["entries"] == []
    trash_run(shared.run, by=None)
    assert stranger.get(asked).json()["entries"] == []


def test_pages_of_runs_follow_each_other(stranger, scene):
    rows = [make_shared_run(scene.own.workspace, Visibility.PUBLIC) for _ in range(3)]
    first = stranger.get("/api/v1/explore?kind=runs&limit=2").json()
    second = stranger.get(first["next"]).json()
    ids = [entry["id"] for page in (first, second) for entry in page["entries"]]
    assert ids == [str(row.link) for row in reversed(rows)]
    assert second["next"] is None


def test_pages_follow_each_other(stranger, scene):
    made = {str(make_result_set(scene.own.workspace, Visibility.PUBLIC).link) for _ in range(5)}
    seen, path = [], "/api/v1/explore?limit=2"
    while path:
        page = stranger.get(path).json()
        seen += [entry["id"] for entry in page["entries"]]
        path = page["next"]
    assert (len(seen), set(seen)) == (5, made)


@pytest.mark.parametrize(
    "query", ["kind=people", "q=" + "x" * 101, "q=%00", "after=nonsense", "limit=0"]
)
def test_a_bad_question_is_refused(stranger, db, query):
    assert stranger.get(f"/api/v1/explore?{query}").status_code == 400


@pytest.mark.parametrize("query", ["kind=people", "q=" + "x" * 101, "after=nonsense"])
def test_a_bad_question_of_the_page_is_refused(stranger, db, query):
    refused = stranger.get(f"/explore?{query}")
    assert refused.status_code == 400
    assert 'Or start again from <a href="/explore">/explore</a>.' in html_of(refused)


def test_percent_and_underscore_are_text(stranger, public_set):
    assert stranger.get("/api/v1/explore?q=%25").json()["entries"] == []
    assert stranger.get("/api/v1/explore?q=_").json()["entries"] == []
