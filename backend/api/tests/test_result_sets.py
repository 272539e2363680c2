"""Result sets through the API: keeping, listing, changing, and what is gone."""

import hashlib
import uuid

import pytest
from django.test import Client

from backend.ingest.quota.stored_sums import recount, stored_bytes
from backend.sharing.models import ResultSet, Visibility
from backend.testing.scenes import make_measured_run, make_result_set


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


def keep(api, **asked):
    return api.post("/api/v1/result-sets", asked, content_type="application/json")


def kept(api, scene, **asked):
    body = {"query": f"run={scene.run.pk}", "title": "T", **asked}
    return keep(api, **body).json()


def change(api, id_, **asked):
    return api.patch(f"/api/v1/result-sets/{id_}", asked, content_type="application/json")


def post(api, id_, what, **asked):
    path = f"/api/v1/result-sets/{id_}/{what}"
    return api.post(path, asked, content_type="application/json")


def test_frozen_by_default(api, scene):
    body = kept(api, scene, notes="why", visibility="public")
    assert (body["kind"], body["state"], body["notes"]) == ("frozen", "current", "why")
    assert body["author"] == "own-lab"
    assert body["newer_runs"] == 0
    for name in ("url", "json_url", "csv_url", "png_url", "badge_url", "embed_url"):
        assert Client().get(body[name]).status_code == 200, name
    document = Client().get(body["json_url"]).content
    assert hashlib.sha256(document).hexdigest() == body["sha256"]


def test_a_snapshot_counts_and_finds_no_room_in_a_full_workspace(
    api, scene, settings, django_capture_on_commit_callbacks
):
    recount()
    before = stored_bytes(scene.own.workspace.pk)
    with django_capture_on_commit_callbacks(execute=True):
        kept(api, scene)
    made = ResultSet.objects.get()
    size = len(made.snapshot) + len(made.query)
    assert stored_bytes(scene.own.workspace.pk) == before + size
    assert recount() == 0

    settings.WORKSPACE_MAX_BYTES = before + 2 * size - 1
    refused = keep(api, query=f"run={scene.run.pk}")
    assert refused.status_code == 507
    assert "This workspace is full" in refused.json()["detail"]
    assert ResultSet.objects.count() == 1


def test_notes_and_queries_count_and_find_no_room_in_a_full_workspace(
    api, scene, settings, django_capture_on_commit_callbacks
):
    """Each live set kept 40 KB of notes, of which 0 bytes were counted."""
    recount()
    before = stored_bytes(scene.own.workspace.pk)
    with django_capture_on_commit_callbacks(execute=True):
        body = kept(api, scene, kind="live", query="metric=p99", notes="é" * 100)
    address = f"/api/v1/result-sets/{body['id']}"
    assert stored_bytes(scene.own.workspace.pk) == before + len("metric=p99") + 200
    with django_capture_on_commit_callbacks(execute=True):
        assert api.patch(address, {"notes": "e"}, "application/json").status_code == 200
    assert stored_bytes(scene.own.workspace.pk) == before + len("metric=p99") + 1
    assert recount() == 0

    settings.WORKSPACE_MAX_BYTES = before + 100
    assert api.patch(address, {"notes": "e" * 100}, "application/json").status_code == 507
    assert keep(api, kind="live", query="metric=p99", notes="e" * 100).status_code == 507
    assert ResultSet.objects.get().notes == "e"


def test_live(api, scene):
    body = kept(api, scene, kind="live", query="metric=p99")
    assert (body["kind"], body["sha256"], body["query"]) == ("live", None, "metric=p99")
    assert body["embed_url"] is None
    make_measured_run(scene.own.workspace)
    assert api.get(f"/api/v1/result-sets/{body['id']}").json()["newer_runs"] == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "melted"),
        ("visibility", "everybody"),
        ("expires_at", "soon"),
        ("notes", "x" * 10_001),
        ("notes", "a\x00b"),
        ("title", "x" * 201),
        ("query", "nonsense=1"),
        ("query", "server=nobody"),
    ],
)
def test_what_is_not_taken(api, scene, field, value):
    answer = keep(api, **{"query": "", field: value})
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert not ResultSet.objects.exists()


def test_the_list_holds_ones_own(api, scene):
    first, second = kept(api, scene), kept(api, scene, kind="live")
    make_result_set(scene.foreign.workspace, Visibility.PUBLIC)
    for path in ("/api/v1/result-sets", "/api/v1/result-sets?workspace=own-lab"):
        listed = api.get(path).json()["result_sets"]
        assert [one["id"] for one in listed] == [second["id"], first["id"]]
    assert api.get("/api/v1/result-sets?workspace=foreign-lab").status_code == 400
    assert Client().get("/api/v1/result-sets").status_code == 401


def test_a_long_list_comes_in_pages(api, scene):
    made = {make_result_set(scene.own.workspace, Visibility.PRIVATE).link for _ in range(52)}
    seen, link = [], "/api/v1/result-sets?workspace=own-lab"
    while link:
        page = api.get(link).json()
        seen += [uuid.UUID(one["id"]) for one in page["result_sets"]]
        link = page["next"]
    assert len(seen) == 52
    assert set(seen) == made


@pytest.mark.parametrize("cursor", ["0", "-1", "x", "²", "9" * 30])
def test_a_bad_cursor_of_the_list(api, cursor):
    answer = api.get(f"/api/v1/result-sets?after={cursor}")
    assert (answer.status_code, answer.json()["field"]) == (400, "after")


def test_changing_what_is_said_of_it(api, scene):
    body = kept(api, scene)
    changed = change(
        api, body["id"], notes="n", visibility="public", expires_at="2099-01-01T00:00Z"
    )
    assert changed.status_code == 200
    assert changed.json()["expires_at"] == "2099-01-01T00:00:00Z"
    assert changed.json()["sha256"] == body["sha256"]
    assert Client().get(body["url"]).status_code == 200
    renamed = change(api, body["id"], title="another").json()
    assert (renamed["title"], renamed["sha256"]) == ("another", body["sha256"])


def test_superseding(api, scene):
    older, newer = kept(api, scene), kept(api, scene)
    assert change(api, older["id"], superseded_by=newer["id"]).json()["state"] == "superseded"
    assert change(api, newer["id"], superseded_by=older["id"]).status_code == 409
    assert change(api, older["id"], superseded_by=str(uuid.uuid4())).status_code == 400
    foreign = make_result_set(scene.foreign.workspace, Visibility.PUBLIC)
    assert change(api, older["id"], superseded_by=str(foreign.link)).status_code == 400
    assert change(api, older["id"], superseded_by=None).json()["superseded_by"] is None


def test_withdrawing(api, scene):
    body = kept(api, scene, visibility="public")
    assert post(api, body["id"], "withdraw", reason="").status_code == 400
    withdrawn = post(api, body["id"], "withdraw", reason="wrong").json()
    assert (withdrawn["state"], withdrawn["withdrawn_reason"]) == ("withdrawn", "wrong")
    for client in (api, Client()):
        gone = client.get(f"/api/v1/result-sets/{body['id']}")
        assert gone.status_code == 410
        assert gone.json()["detail"] == "It was withdrawn: wrong"
        assert gone.json()["sha256"] == body["sha256"]
    assert change(api, body["id"], notes="x").status_code == 409
    assert post(api, body["id"], "withdraw", reason="again").status_code == 409
    [listed] = api.get("/api/v1/result-sets").json()["result_sets"]
    assert listed["state"] == "withdrawn"


def test_an_expired_one_can_be_given_more_time(api, scene):
    body = kept(api, scene, expires_at="2020-01-01T00:00Z")
    assert api.get(f"/api/v1/result-sets/{body['id']}").status_code == 410
    assert change(api, body["id"], expires_at=None).json()["state"] == "current"


def test_revoking(api, scene):
    body = kept(api, scene, visibility="unlisted")
    moved = post(api, body["id"], "revoke").json()
    assert moved["id"] != body["id"]
    assert moved["sha256"] == body["sha256"]
    for name in ("url", "json_url", "csv_url", "png_url", "badge_url", "embed_url"):
        assert Client().get(body[name]).status_code == 404, name
        assert Client().get(moved[name]).status_code == 200, name
    assert api.get(f"/api/v1/result-sets/{body['id']}").status_code == 404


def test_a_viewer_changes_nothing(scene):
    made = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    client = Client()
    client.force_login(scene.viewer)
    assert change(client, made.link, notes="x").status_code == 404
    assert Client().patch(f"/api/v1/result-sets/{made.link}").status_code == 401
