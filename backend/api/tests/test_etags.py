"""ETags: an answer that did not change is 304, and a run is corrected only as it was read."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


@pytest.fixture
def owner(scene):
    client = Client()
    client.force_login(scene.own.user)
    return client


def test_an_answer_that_did_not_change_is_304_without_a_body(api, scene):
    for path in (f"/api/v1/runs/{scene.run.pk}", f"/api/v1/compare?run={scene.run.pk}"):
        first = api.get(path)
        again = api.get(path, headers={"if-none-match": first["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again["ETag"] == first["ETag"]
        assert again["Cache-Control"] == first["Cache-Control"] == "private, no-store"


def test_an_answer_that_changed_is_sent_whole(api, scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    tag = api.get(path)["ETag"]
    body = {"notes": "Another cable."}
    assert api.patch(path, body, content_type="application/json").status_code == 200
    again = api.get(path, headers={"if-none-match": tag})
    assert again.status_code == 200
    assert again["ETag"] != tag


def test_a_reader_who_lost_access_gets_no_304(api, scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    tag = api.get(path)["ETag"]
    foreign = Client(headers=scene.foreign.headers)
    assert foreign.get(path, headers={"if-none-match": tag}).status_code == 404
    assert Client().get(path, headers={"if-none-match": tag}).status_code == 401


def edit(client, path, tag, **body):
    headers = {"if-match": tag}
    return client.patch(path, body, content_type="application/json", headers=headers)


def test_a_run_is_corrected_only_as_it_was_read(api, owner, scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    tag = api.get(path)["ETag"]
    first = edit(owner, path, tag, version="2.0")
    assert first.status_code == 200
    assert first["ETag"] == api.get(path)["ETag"]
    refused = edit(api, path, tag, version="3.0", notes="Another cable.")
    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (412, "changed-meanwhile")
    assert problem["current"] == {"version": ["2.0"], "notes": [""]}
    (correction,) = problem["corrections"]
    assert (correction["value"], correction["author"]) == ("2.0", scene.own.user.username)
    assert api.get(path).json()["notes"] == ""
    assert problem["etag"] == first["ETag"]
    assert edit(api, path, problem["etag"], version="3.0").status_code == 200


@pytest.mark.parametrize("form", ["{}", "W/{}", '"another", {}', "*"])
def test_each_form_of_a_tag_that_holds_is_taken(api, scene, form):
    path = f"/api/v1/runs/{scene.run.pk}"
    tag = api.get(path)["ETag"]
    assert edit(api, path, form.format(tag), notes="A cable.").status_code == 200


def test_a_tag_that_a_proxy_marked_as_compressed_is_taken(api, scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    tag = api.get(path)["ETag"]
    assert edit(api, path, f'{tag[:-1]}-gzip"', notes="A cable.").status_code == 200


def test_a_condition_without_a_tag_is_refused(api, scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    refused = edit(api, path, "3f2a", notes="A cable.")
    assert (refused.status_code, refused.json()["code"]) == (400, "bad-if-match")
    assert api.get(path).json()["notes"] == ""


def test_a_condition_that_would_be_ignored_is_refused(api, scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    refused = api.delete(path, headers={"if-match": api.get(path)["ETag"]})
    assert (refused.status_code, refused.json()["code"]) == (400, "condition-not-taken")
    assert api.get(path).status_code == 200


def test_who_may_only_read_learns_nothing_by_a_condition(scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    foreign = Client(headers=scene.foreign.headers)
    assert edit(foreign, path, '"3f2a"', notes="A cable.").status_code == 404
