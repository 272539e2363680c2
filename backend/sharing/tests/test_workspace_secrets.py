"""Before a workspace is opened, its runs are searched for secrets that members typed."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from django.test import Client

from backend.accounts.credentials import token_format
from backend.accounts.models import Workspace
from backend.accounts.workspace.turns import payer_of_workspace
from backend.accounts.workspace.workspace_links import is_unlisted, make_link
from backend.accounts.workspace.workspaces import change_settings
from backend.ingest.removing.trash import trash_run
from backend.runs.amending.dismissals import dismiss, fired_in
from backend.runs.amending.editing import correct
from backend.runs.models import Dismissal, Run
from backend.sharing import workspace_secrets
from backend.sharing.secret_check import SecretShared
from backend.sharing.workspace_secrets import SearchTooLong, SecretsInWorkspace
from backend.testing.rows import CellSpec, make_run
from backend.testing.scenes import make_scene

pytestmark = pytest.mark.django_db
SECRET = "started with password=hunter2hunter2"
ADDRESS = "/w/own-lab/settings/readers"
FORM = {"is_public": "1"}


@pytest.fixture
def scene(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    return make_scene()


@pytest.fixture
def workspace(scene):
    return scene.own.workspace


def publish(scene):
    change_settings(scene.own.workspace, {"is_public": True})


def share_by_link(scene):
    make_link(scene.own.user, scene.own.workspace)


WAYS = pytest.mark.parametrize("open_it", [publish, share_by_link])


@pytest.fixture
def owner(scene):
    client = Client()
    client.force_login(scene.own.user)
    return client


def is_public(workspace):
    return Workspace.objects.get(pk=workspace.pk).is_public


def note(run, text):
    Run.objects.filter(pk=run.pk).update(notes=text)


def test_a_workspace_without_secrets_becomes_public(workspace, scene):
    note(scene.run, "The cable was loose.")
    change_settings(workspace, {"is_public": True})
    assert is_public(workspace)


@WAYS
def test_a_workspace_with_a_secret_stays_as_it_is(workspace, scene, open_it):
    note(scene.run, SECRET)
    with pytest.raises(SecretsInWorkspace) as refused:
        open_it(scene)
    assert refused.value.members["runs"] == [
        {"id": str(scene.run.pk), "url": f"/r/{scene.run.pk}", "field": "notes"}
    ]
    assert "hunter2" not in str(refused.value)
    assert not is_public(workspace)
    assert not is_unlisted(workspace)


@pytest.mark.parametrize("place", ["labels", "corrections", "dismissals"])
def test_every_text_of_members_is_searched(workspace, scene, place):
    run, token = scene.run, token_format.new_token("api")
    if place == "labels":
        Run.objects.filter(pk=run.pk).update(labels={"key": token})
    elif place == "corrections":
        correct(run.pk, {"version": SECRET}, author=scene.own.user)
    else:
        dismiss(run, sorted(fired_in(run))[0], author=scene.own.user, reason="known")
        Dismissal.objects.update(reason=f"asked with {token}")
    with pytest.raises(SecretsInWorkspace) as refused:
        change_settings(workspace, {"is_public": True})
    assert [row.place for row in refused.value.runs] == [place]


def test_runs_are_searched_in_batches_and_a_few_are_listed(workspace, monkeypatch):
    monkeypatch.setattr(workspace_secrets, "BATCH", 2)
    monkeypatch.setattr(workspace_secrets, "MOST_LISTED", 3)
    for _ in range(5):
        note(make_run(workspace, CellSpec()), SECRET)
    with pytest.raises(
        SecretsInWorkspace, match="At least 3 runs of this workspace hold"
    ) as refused:
        change_settings(workspace, {"is_public": True})
    assert len(refused.value.runs) == 3


def test_a_search_without_end_opens_nothing(workspace, monkeypatch):
    monkeypatch.setattr(workspace_secrets, "MOST_S", -1.0)
    with pytest.raises(SearchTooLong):
        change_settings(workspace, {"is_public": True})
    assert not is_public(workspace)


def test_a_search_ends_in_time_within_a_batch(workspace, monkeypatch):
    monkeypatch.setattr(workspace_secrets, "PIECE", 10)
    monkeypatch.setattr(workspace_secrets, "MOST_S", 3.0)
    clock = iter(range(1000))
    monkeypatch.setattr(workspace_secrets.time, "monotonic", lambda: float(next(clock)))
    for _ in range(5):
        note(make_run(workspace, CellSpec()), "quiet " * 5)
    with pytest.raises(SearchTooLong):
        change_settings(workspace, {"is_public": True})
    assert next(clock) < 10


def test_an_owner_has_one_workspace_searched_at_a_time(workspace, scene, owner):
    with ThreadPoolExecutor(1) as thread, ExitStack() as held:
        thread.submit(
            held.enter_context, workspace_secrets.SEARCHES.take(payer_of_workspace(workspace.pk))
        ).result()
        answer = owner.patch(
            "/api/v1/workspaces/own-lab", {"is_public": True}, content_type="application/json"
        )
        assert (answer.status_code, answer["retry-after"]) == (429, "10")
        assert "workspace of yours" in answer.json()["detail"]
        assert owner.post("/w/own-lab/link").status_code == 429
        thread.submit(held.close).result()
    assert not is_public(workspace)
    publish(scene)


def test_other_settings_of_a_public_workspace_are_saved_without_a_search(workspace, scene):
    change_settings(workspace, {"is_public": True})
    note(scene.run, SECRET)
    change_settings(workspace, {"is_public": True, "min_trials": 5})
    assert Workspace.objects.get(pk=workspace.pk).min_trials == 5


@WAYS
def test_a_run_of_an_open_workspace_takes_no_secret(scene, open_it):
    open_it(scene)
    with pytest.raises(SecretShared):
        correct(scene.run.pk, {"notes": SECRET}, author=scene.own.user)
    correct(scene.run.pk, {"notes": "The cable was loose."}, author=scene.own.user)


def test_the_settings_page_lists_the_runs_with_links(owner, workspace, scene):
    note(scene.run, SECRET)
    refused = owner.post(ADDRESS, FORM)
    html = refused.content.decode()
    assert refused.status_code == 400
    assert "1 run of this workspace holds what looks like a secret" in html
    assert f'<a href="/r/{scene.run.pk}">' in html
    assert "hunter2" not in html
    note(scene.run, "")
    assert owner.post(ADDRESS, FORM).status_code == 302
    assert is_public(workspace)


def test_a_refused_link_says_why_on_the_settings_page(owner, scene):
    note(scene.run, SECRET)
    refused = owner.post("/w/own-lab/link")
    assert refused.status_code == 400
    assert f'<a href="/r/{scene.run.pk}">' in refused.content.decode()


def test_the_api_names_the_runs(owner, scene):
    note(scene.run, SECRET)
    refused = owner.patch(
        "/api/v1/workspaces/own-lab", {"is_public": True}, content_type="application/json"
    )
    assert refused.status_code == 400
    assert refused.json()["runs"][0]["field"] == "notes"
    assert owner.post("/api/v1/workspaces/own-lab/link").status_code == 400


def test_a_run_from_the_trash_brings_no_secret_into_an_open_workspace(scene, owner):
    note(scene.run, SECRET)
    trash_run(scene.run, by=scene.own.user)
    publish(scene)
    answer = owner.post(f"/r/{scene.run.pk}/restore", follow=True)
    assert "Make the workspace private, restore the run and edit it." in answer.content.decode()
    assert Run.with_trash.get(pk=scene.run.pk).trashed_at is not None
    change_settings(scene.own.workspace, {"is_public": False})
    owner.post(f"/r/{scene.run.pk}/restore")
    assert Run.objects.filter(pk=scene.run.pk).exists()


def test_no_long_text_is_searched_at_once(scene, monkeypatch):
    searched = []
    monkeypatch.setattr(workspace_secrets, "PIECE", 100)
    search = workspace_secrets.refuse_secrets
    monkeypatch.setattr(
        workspace_secrets,
        "refuse_secrets",
        lambda place, text: searched.append(len(text)) or search(place, text),
    )
    for _ in range(5):
        note(make_run(scene.own.workspace, CellSpec("nginx")), "quiet " * 10)
    workspace_secrets.refuse_secrets_of_workspace(scene.own.workspace)
    assert len(searched) > 2
    assert max(searched) < 110
