"""For how many days a workspace keeps raw output: the setting, and what is shown afterwards."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from backend.accounts.models import Act, AuditEvent
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace.scopes import Scope
from backend.ingest.models import Upload
from backend.ingest.removing.retention import remove_due_output
from backend.sharing.edits import withdraw
from backend.storage import storage
from backend.web.tests.pages import html_of, keep

URL = "/w/own-lab/settings/raw-output"
API = "/api/v1/workspaces/own-lab"


@pytest.fixture
def old(scene):
    """The upload of the scene, received 40 days ago."""
    forty_days_ago = timezone.now() - timedelta(days=40)
    Upload.objects.filter(pk=scene.upload.pk).update(received_at=forty_days_ago)
    return scene.upload


@pytest.fixture
def admin(scene):
    asked = TokenRequest("Settings", [Scope.ADMIN, Scope.RUNS_READ])
    _, clear = make_token(scene.own.user, scene.own.workspace, asked)
    return Client(headers={"authorization": f"Bearer {clear}"})


def days_of(scene):
    scene.own.workspace.refresh_from_db()
    return scene.own.workspace.raw_kept_days


def test_the_page_says_how_much_would_go_and_asks_once_more(owner, scene, old):
    html = html_of(owner.post(URL, {"days": "30"}))
    assert "1 file of 1 upload" in html
    assert "Keep raw output for 30 days" in html
    assert days_of(scene) is None
    assert owner.post(URL, {"days": "30", "is_confirmed": "yes"}).status_code == 302
    assert days_of(scene) == 30
    event = AuditEvent.objects.get(act=Act.WORKSPACE_SETTINGS)
    assert event.detail == {"raw_kept_days": {"was": None, "is": 30}}
    assert "Raw output is removed 30 days after" in html_of(owner.get("/w/own-lab/settings"))


def test_where_nothing_would_go_the_setting_is_saved_at_once(owner, scene, old):
    owner.post(URL, {"days": "50"})
    assert days_of(scene) == 50
    owner.post(URL, {"days": ""})
    assert days_of(scene) is None


@pytest.mark.parametrize("days", ["0", "-1", "36501", "x", "٣", "1" * 5000])
def test_other_days_are_refused_with_what_is_expected(owner, scene, days):
    response = owner.post(URL, {"days": days})
    assert response.status_code == 400
    assert "expected a whole number from 1 to 36500, or nothing" in html_of(response)
    assert days_of(scene) is None


def test_the_api_says_how_much_would_go_and_asks_once_more(admin, scene, old):
    answer = admin.patch(API, {"raw_kept_days": 30}, content_type="application/json")
    assert answer.status_code == 409
    assert (answer.json()["files"], answer.json()["uploads"]) == (1, 1)
    assert days_of(scene) is None
    confirmed = {"raw_kept_days": 30, "is_confirmed": True}
    answer = admin.patch(API, confirmed, content_type="application/json")
    assert answer.json()["raw_kept_days"] == 30
    assert admin.get(API).json() == answer.json()
    assert days_of(scene) == 30


def test_the_api_changes_the_other_settings_and_leaves_out_what_is_not_said(admin, scene):
    changed = {"min_trials": 5, "relevant_share": 0.1, "must_match": ["kernel", "cpu"]}
    answer = admin.patch(API, changed, content_type="application/json").json()
    assert answer == {**answer, **changed, "must_match": ["cpu", "kernel"], "raw_kept_days": None}
    answer = admin.patch(API, {"must_match": None}, content_type="application/json").json()
    assert (answer["min_trials"], answer["relevant_share"]) == (5, 0.1)
    scene.own.workspace.refresh_from_db()
    assert scene.own.workspace.must_match is None


@pytest.mark.parametrize(
    "wrong", [{"raw_kept_days": 0}, {"raw_kept_days": "30"}, {"must_match": ["colour"]}]
)
def test_the_api_refuses_other_values(admin, scene, wrong):
    assert admin.patch(API, wrong, content_type="application/json").status_code == 400
    assert days_of(scene) is None


@pytest.fixture
def removed(owner, scene, old):
    owner.post(URL, {"days": "30", "is_confirmed": "yes"})
    assert remove_due_output() == 1


def test_pages_and_answers_say_when_and_why_it_went(owner, admin, scene, removed):
    today = f"{timezone.now():%Y-%m-%d}"
    for path in (f"/r/{scene.run.pk}", f"/t/{scene.trial.pk}"):
        html = html_of(owner.get(path))
        assert f"on {today}, kept 30 days by this workspace's setting" in html, path
        assert f"/a/{scene.artefact.pk}/raw" not in html, path
    trial = admin.get(f"/api/v1/trials/{scene.trial.pk}").json()
    (artefact,) = trial["artefacts"]
    assert artefact["removed_at"].startswith(today)
    assert (artefact["kept_days"], artefact["sha256"]) == (30, scene.artefact.sha256)
    assert trial["throughput"] is not None


def test_the_bytes_are_answered_with_410_and_the_reason(owner, admin, scene, removed):
    for client, path in (
        (owner, f"/a/{scene.artefact.pk}"),
        (owner, f"/a/{scene.artefact.pk}/raw"),
        (admin, f"/api/v1/artefacts/{scene.artefact.pk}/raw"),
    ):
        answer = client.get(path)
        assert answer.status_code == 410, path
        assert b"kept 30 days by this workspace" in answer.content, path


def test_a_frozen_result_set_keeps_the_raw_output_of_its_runs_until_it_is_withdrawn(
    owner, scene, old
):
    frozen = keep(scene)
    assert owner.post(URL, {"days": "30"}).status_code == 302
    assert days_of(scene) == 30
    assert remove_due_output() == 0
    assert storage().has(scene.artefact.sha256)
    withdraw(frozen, "The cable was loose.")
    assert remove_due_output() == 1
    assert not storage().has(scene.artefact.sha256)
