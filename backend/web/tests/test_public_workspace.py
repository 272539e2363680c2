"""A public workspace: everybody reads its runs, and only its members read the rest."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from backend.ingest.queue.worker import process
from backend.links import result_set_link
from backend.runs.models import Run
from backend.sharing.models import ResultSet, Visibility
from backend.testing.scenes import make_result_set
from backend.testing.uploads import make_tenant, make_upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    tenant = make_tenant("open-lab")
    tenant.workspace.is_public = True
    tenant.workspace.save(update_fields=["is_public"])
    return tenant


@pytest.fixture
def private_set(tenant):
    process(make_upload(tenant).pk)
    return make_result_set(tenant.workspace, Visibility.PRIVATE)


def status_of(path, client=None):
    return (client or Client()).get(path).status_code


def test_a_visitor_reads_runs_and_lists(tenant, private_set):
    run = Run.objects.get()
    pages = ["", "compare", "runs", "servers", "hosts", "workloads", "result-sets", "search?q=a"]
    assert {page: status_of(f"/w/open-lab/{page}") for page in pages} == dict.fromkeys(pages, 200)
    assert status_of(f"/r/{run.pk}") == 200
    assert status_of(f"/t/{run.trials.first().pk}") == 200


def test_a_visitor_changes_nothing_and_sees_no_agents_and_no_settings(tenant, private_set):
    for page in ("agents", "settings", "upload", "uploads", "trash", "views", "members"):
        assert status_of(f"/w/open-lab/{page}") == 404
    run = Run.objects.get()
    assert Client().post(f"/r/{run.pk}/delete").status_code == 404
    assert Client().post("/w/open-lab/tokens").status_code == 404
    assert b"/w/open-lab/agents" not in Client().get("/w/open-lab/runs").content


def test_only_members_are_led_to_members_and_tokens(tenant):
    other, own = Client(), Client()
    other.force_login(make_tenant("other-lab").user)
    own.force_login(tenant.user)
    for page in ("members", "tokens"):
        link = f'href="/w/open-lab/{page}"'
        assert link in own.get("/w/open-lab/").content.decode()
        assert link not in other.get("/w/open-lab/").content.decode()
        assert status_of(f"/w/open-lab/{page}", other) == 404


def test_a_visitor_reads_the_trials_of_a_point_and_a_pair(tenant, private_set):
    run = Run.objects.get()
    assert status_of(f"/api/v1/trials?cell={run.trials.first().cell_id}") == 200
    assert status_of(f"/api/v1/compare/pair?a={run.pk}&b={run.pk}") != 401


def test_a_visitor_sees_no_failed_upload(tenant, private_set):
    upload = make_upload(tenant, b"secret nonsense")
    process(upload.pk)
    assert status_of(f"/u/{upload.pk}") == 404
    assert status_of(f"/a/{upload.artefacts.get().pk}/raw") == 404
    assert str(upload.pk).encode() not in Client().get("/w/open-lab/").content


def test_an_owner_makes_a_workspace_public_in_its_settings(tenant):
    tenant.workspace.is_public = False
    tenant.workspace.save()
    owner, path = Client(), "/w/open-lab/settings/readers"
    owner.force_login(tenant.user)
    saved = owner.post(path, {"is_public": "1"}, follow=True).text
    assert "Saved. Everyone may read the runs, because the workspace is public." in saved
    assert status_of("/w/open-lab/") == 200
    # The other settings leave it as it is.
    owner.post("/w/open-lab/settings", {"relevant_percent": "2", "min_trials": "3"})
    assert status_of("/w/open-lab/") == 200
    owner.post(path)
    assert status_of("/w/open-lab/") == 404


def test_a_private_result_set_of_it_stays_private(tenant, private_set):
    assert status_of(result_set_link(private_set.link)) == 404
    for page in ("", "result-sets", "search?q=secret"):
        assert b"secret-title" not in Client().get(f"/w/open-lab/{page}").content


def test_the_title_of_a_result_set_that_is_gone_is_for_members(tenant):
    past = timezone.now() - timedelta(days=1)
    gone = {"secret-expired": {"expires_at": past}, "secret-withdrawn": {"withdrawn_at": past}}
    for title, fields in gone.items():
        result_set = make_result_set(tenant.workspace, Visibility.PUBLIC, **fields)
        ResultSet.objects.filter(pk=result_set.pk).update(title=title)
    member = Client()
    member.force_login(tenant.user)
    for page in ("result-sets", "search?q=secret"):
        to_member = member.get(f"/w/open-lab/{page}").content.decode()
        assert all(title in to_member for title in gone), page
    for page in ("", "result-sets", "search?q=secret"):
        to_visitor = Client().get(f"/w/open-lab/{page}").content.decode()
        assert not any(title in to_visitor for title in gone), page


def test_the_api_answers_a_comparison_that_names_it(tenant, private_set):
    assert status_of("/api/v1/compare?workspace=open-lab") == 200
    assert status_of("/api/v1/facets?workspace=open-lab") == 200
    assert status_of("/api/v1/compare") == 401
    assert status_of("/api/v1/compare?workspace=other") == 401


def test_a_comparison_of_ones_own_workspaces_leaves_it_out(tenant, private_set):
    other = make_tenant("own-lab")
    answer = Client().get("/api/v1/compare", headers=other.headers).json()
    assert answer["runs"] == []
    named = Client().get("/api/v1/compare?workspace=open-lab", headers=other.headers).json()
    assert len(named["runs"]) == 1


def test_it_is_no_workspace_of_a_visitor(tenant, private_set):
    assert b"open-lab" not in Client().get("/").content
