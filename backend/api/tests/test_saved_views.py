"""Saved views through the API: saving, listing, changing, deleting."""

import pytest
from django.test import Client

from backend.sharing.models import SavedView
from backend.sharing.saved_views import MAX_VIEWS
from backend.testing.scenes import make_saved_view

VIEWS = "/api/v1/views"


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


def save(api, **asked):
    return api.post(VIEWS, asked, content_type="application/json")


def change(api, view, **asked):
    return api.patch(f"{VIEWS}/{view['id']}", asked, content_type="application/json")


def names_of_defaults(api):
    return [view["name"] for view in api.get(VIEWS).json()["views"] if view["is_default"]]


def test_a_view_keeps_the_canonical_query_and_leads_to_it(api):
    body = save(api, name="Nightly", query="metric=p99&logy=0&workspace=own-lab").json()
    assert (body["name"], body["query"], body["is_default"]) == ("Nightly", "metric=p99", False)
    assert body["url"] == "/w/own-lab/compare?metric=p99"
    assert body["author"] == "own-lab"
    assert api.get(VIEWS).json()["views"] == [body]


def test_views_are_listed_by_name(api):
    for name in ("b", "a"):
        save(api, name=name, query="")
    assert [view["name"] for view in api.get(VIEWS).json()["views"]] == ["a", "b"]


def test_one_view_at_most_is_the_default(api):
    first = save(api, name="first", query="", is_default=True).json()
    second = save(api, name="second", query="", is_default=True).json()
    assert names_of_defaults(api) == ["second"]
    assert change(api, first, is_default=True).json()["is_default"] is True
    assert names_of_defaults(api) == ["first"]
    change(api, first, is_default=False)
    assert names_of_defaults(api) == []
    assert change(api, second, name="third").json()["name"] == "third"


def test_what_is_left_out_stays(api):
    view = save(api, name="a", query="metric=p99", is_default=True).json()
    assert change(api, view, name=" b ").json() == {**view, "name": "b"}
    changed = change(api, view, query="metric=p50").json()
    assert (changed["name"], changed["query"]) == ("b", "metric=p50")


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ({"name": "", "query": ""}, 400, "name"),
        ({"name": "a" * 121, "query": ""}, 400, "name"),
        ({"name": "a", "query": "metric=fast"}, 400, "metric"),
        ({"name": "secret-view", "query": ""}, 409, "Choose another name"),
    ],
)
def test_what_is_refused_is_named_and_nothing_is_saved(api, scene, asked, status, says):
    make_saved_view(scene.own.workspace)
    answer = save(api, **asked)
    assert (answer.status_code, SavedView.objects.count()) == (status, 1)
    assert says in answer.content.decode()


def test_a_name_is_free_in_another_workspace(api, scene):
    make_saved_view(scene.foreign.workspace, is_default=True)
    assert save(api, name="secret-view", query="", is_default=True).status_code == 201


def test_a_workspace_has_so_many_views(api, scene):
    SavedView.objects.bulk_create(
        SavedView(workspace=scene.own.workspace, name=str(n)) for n in range(MAX_VIEWS)
    )
    answer = save(api, name="one more", query="")
    assert answer.status_code == 409
    assert "Delete one first" in answer.content.decode()


def test_deleting(api):
    view = save(api, name="a", query="").json()
    assert api.delete(f"{VIEWS}/{view['id']}").status_code == 204
    assert api.get(VIEWS).json()["views"] == []
    assert api.delete(f"{VIEWS}/{view['id']}").status_code == 404


def test_only_writers_save_and_delete(scene):
    view = make_saved_view(scene.own.workspace)
    viewer, foreign = Client(), Client(headers=scene.foreign.headers)
    viewer.force_login(scene.viewer)
    # A token names its own workspace alone.
    for client, status in ((viewer, 404), (foreign, 400)):
        assert save(client, name="a", query="", workspace="own-lab").status_code == status
        assert client.delete(f"{VIEWS}/{view.pk}").status_code == 404
    assert list(SavedView.objects.all()) == [view]
