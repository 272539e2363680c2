"""What members read of what staff took down: one state on every page, in lists and in the API."""

import json

import pytest
from django.test import Client

from backend.accounts.models import Membership, Role, Workspace
from backend.accounts.takedown_models import Takedown, Thing
from backend.sharing.models import SharedRun, Visibility
from backend.sharing.run_sharing import refuse_secrets_of_shared
from backend.sharing.secret_check import SecretShared
from backend.storage import storage
from backend.testing.scenes import make_result_set

pytestmark = pytest.mark.django_db
REASON = "It shows an address of a person"
TAG = '<span class="tag tag-error">taken down</span>'
OPEN = "Everyone may read"


@pytest.fixture
def scene(scene, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    yield scene
    storage.cache_clear()


@pytest.fixture
def result_set(scene):
    return make_result_set(scene.own.workspace, Visibility.PUBLIC)


@pytest.fixture
def member(scene):
    client = Client()
    client.force_login(scene.own.user)
    return client


@pytest.fixture
def open_workspace(scene):
    workspace = scene.own.workspace
    workspace.is_public = True
    workspace.save()
    return workspace


def take_down(kind, thing_id, workspace, **fields):
    return Takedown.objects.create(
        kind=kind, thing_id=thing_id, workspace=workspace, reason=REASON, **fields
    )


def text_of(client, path):
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def read(scene, path):
    answer = Client(headers=scene.own.headers).get(path)
    assert answer.status_code == 200, answer.content
    return json.loads(answer.content)


def test_a_result_set_is_said_to_be_taken_down(scene, result_set, member):
    takedown = take_down(Thing.RESULT_SET, result_set.pk, scene.own.workspace, is_legal=True)

    page = text_of(member, result_set.path)
    assert TAG in page
    assert "Everyone may read it" not in page
    assert "because the operator took down the result set" in page
    assert "for legal reasons" in " ".join(page.split())
    for path in ("/w/own-lab/", "/w/own-lab/result-sets"):
        assert TAG in text_of(member, path), path

    listed = read(scene, "/api/v1/result-sets")["result_sets"]
    alone = read(scene, f"/api/v1/result-sets/{result_set.link}")
    for answer in (alone, next(each for each in listed if each["id"] == alone["id"])):
        assert answer["taken_down"]["takedown"] == str(takedown.pk)
        assert answer["taken_down"]["kind"] == "result set"
        assert answer["readers"].startswith("Only members of the workspace may read it")
    refused = json.loads(Client().get(f"/api/v1/result-sets/{result_set.link}").content)
    assert answer["taken_down"].items() <= refused.items()


def test_a_shared_run_is_said_to_be_taken_down(scene, member):
    SharedRun.objects.create(run=scene.run, visibility=Visibility.PUBLIC)
    take_down(Thing.RUN, scene.run.pk, scene.own.workspace)

    page = text_of(member, f"/r/{scene.run.pk}")
    assert TAG in page
    assert "because the operator took down the run" in page
    assert OPEN not in page
    sharing = read(scene, f"/api/v1/runs/{scene.run.pk}/sharing")
    assert sharing["visibility"] == "public"
    assert sharing["effective_visibility"] == "private"
    assert sharing["taken_down"]["reason"] == REASON


def test_a_run_that_its_workspace_shows_is_not_said_to_be_private(scene, member, open_workspace):
    SharedRun.objects.create(run=scene.run, visibility=Visibility.PUBLIC)
    take_down(Thing.RUN, scene.run.pk, open_workspace)

    assert Client().get(f"/r/{scene.run.pk}").status_code == 200
    sharing = read(scene, f"/api/v1/runs/{scene.run.pk}/sharing")
    assert sharing["effective_visibility"] == "public"
    assert sharing["why"] == "Everyone may read it, because the workspace is public."


def test_every_page_of_a_workspace_says_that_it_is_taken_down(
    scene, result_set, member, open_workspace
):
    take_down(Thing.WORKSPACE, open_workspace.pk, open_workspace)

    names = ("compare", "runs", "servers", "hosts", "workloads", "result-sets", "tokens", "members")
    pages = [f"/w/own-lab/{name}" for name in ("", *names, "settings")]
    for path in (*pages, f"/r/{scene.run.pk}", result_set.path):
        page = text_of(member, path)
        assert page.count(REASON) == 1, path
        assert OPEN not in page.replace("Everyone may read the runs and compare them", ""), path
    for path in ("/w/own-lab/result-sets", f"/r/{scene.run.pk}", result_set.path, "/workspaces"):
        assert TAG in text_of(member, path), path
    (row,) = read(scene, "/api/v1/workspaces")["workspaces"]
    for answer in (
        row,
        read(scene, "/api/v1/workspaces/own-lab"),
        read(scene, f"/api/v1/runs/{scene.run.pk}/sharing"),
        read(scene, f"/api/v1/result-sets/{result_set.link}"),
    ):
        assert answer["taken_down"]["kind"] == "workspace"


def test_the_choice_of_workspaces_says_which_is_taken_down(scene, member, open_workspace):
    other = Workspace.objects.create(slug="second", name="Second")
    Membership.objects.create(user=scene.own.user, workspace=other, role=Role.OWNER)
    take_down(Thing.WORKSPACE, open_workspace.pk, open_workspace)

    assert text_of(member, "/").count(TAG) == 1


def test_what_stands_has_no_takedown(scene, result_set, member, open_workspace):
    for path in ("/w/own-lab/", result_set.path, f"/r/{scene.run.pk}", "/workspaces"):
        assert TAG not in text_of(member, path), path
    assert read(scene, f"/api/v1/result-sets/{result_set.link}")["taken_down"] is None
    assert read(scene, "/api/v1/workspaces/own-lab")["taken_down"] is None


def test_a_secret_is_refused_while_a_shared_run_is_taken_down(scene):
    """Else the restored run would show it."""
    SharedRun.objects.create(run=scene.run, visibility=Visibility.PUBLIC)
    take_down(Thing.RUN, scene.run.pk, scene.own.workspace)
    scene.run.notes = "Authorization: Bearer lsu_0123456789abcdef0123456789abcdef"
    scene.run.save()

    with pytest.raises(SecretShared):
        refuse_secrets_of_shared(scene.run)
