"""An unlisted workspace: read by who opened its link, and by nobody once it is revoked."""

import re

import pytest
from django.test import Client

from backend.accounts.credentials.token_format import new_token
from backend.accounts.models import Act, AuditEvent, Role, WorkspaceLink
from backend.sharing.models import Visibility
from backend.sharing.workspace_deletion import delete_workspace
from backend.testing.scenes import make_result_set

READ = ["/w/own-lab/", "/w/own-lab/runs", "/w/own-lab/compare", "/w/own-lab/servers"]
MEMBERS_ONLY = ["agents", "members", "tokens", "settings", "audit", "uploads", "trash", "views"]


@pytest.fixture
def link(owner):
    page = owner.post("/w/own-lab/link").content.decode()
    (path,) = re.findall(r"http://127\.0\.0\.1:8000(/shared/\w+)", page)
    return path


def statuses(client, paths):
    return {path: client.get(path).status_code for path in paths}


def test_who_opens_the_link_reads_the_runs(link, scene):
    visitor = Client()
    paths = [*READ, f"/r/{scene.run.pk}", f"/t/{scene.trial.pk}"]
    paths += ["/api/v1/compare?workspace=own-lab", "/api/v1/facets?workspace=own-lab"]
    before = statuses(visitor, paths)
    assert set(before.values()) == {404, 401}
    opened = visitor.get(link)
    assert opened["Location"] == "/w/own-lab/"
    assert opened["Referrer-Policy"] == "no-referrer"
    assert statuses(visitor, paths) == dict.fromkeys(paths, 200)
    # Another browser has not opened it.
    assert statuses(Client(), paths) == before


def test_it_shows_nothing_of_the_members_and_changes_nothing(link, scene):
    visitor = Client()
    visitor.get(link)
    make_result_set(scene.own.workspace, Visibility.PRIVATE)
    for page in MEMBERS_ONLY:
        assert visitor.get(f"/w/own-lab/{page}").status_code == 404, page
    assert b"secret-title" not in visitor.get("/w/own-lab/result-sets").content
    assert visitor.post(f"/r/{scene.run.pk}/delete").status_code == 404
    assert visitor.get("/api/v1/runs").status_code == 401


@pytest.mark.parametrize("end", ["revoked", "replaced", "published", "deleted"])
def test_it_ends_also_for_browsers_that_opened_it(end, link, owner, scene):
    visitor = Client()
    visitor.get(link)
    if end == "deleted":
        delete_workspace(scene.own.workspace)
    elif end == "published":
        body = [{"token": link.rpartition("/")[2]}]
        assert visitor.post("/api/v1/leaked-tokens", body, "application/json").status_code == 204
        event = AuditEvent.objects.earliest("-at")
        assert event.detail == {"link": {"was": "unlisted", "is": "private"}}
    else:
        owner.post("/w/own-lab/link" + "/revoke" * (end == "revoked"))
    assert statuses(visitor, READ) == dict.fromkeys(READ, 404)
    assert visitor.get(link).status_code == 404
    assert visitor.get(f"/r/{scene.run.pk}").status_code == 404


def test_guesses_find_nothing(link):
    near = link[:-1] + ("0" if link[-1] != "0" else "1")
    for path in (near, f"/shared/{new_token('share')}", "/shared/x"):
        assert Client().get(path).status_code == 404


def test_the_token_is_not_stored(link):
    stored = WorkspaceLink.objects.get()
    secret = link.rpartition("_")[2]
    assert stored.lookup == secret[:8]
    assert secret.encode() not in bytes(stored.digest)


def test_the_settings_say_who_reads_and_why(link, owner):
    page = owner.get("/w/own-lab/settings").content.decode()
    assert "because the workspace is unlisted" in page
    owner.post("/w/own-lab/link/revoke")
    assert "because the workspace is private" in owner.get("/w/own-lab/settings").content.decode()


def test_who_shares_a_comparison_is_told_who_reads_its_runs(link, owner):
    """The page said that the runs stay private."""
    assert "because the workspace is unlisted" in owner.get("/w/own-lab/compare").content.decode()
    owner.post("/w/own-lab/link/revoke")
    assert "because the workspace is private" in owner.get("/w/own-lab/compare").content.decode()


def test_the_audit_log_has_it(link, owner):
    owner.post("/w/own-lab/link/revoke")
    owner.post("/w/own-lab/link/revoke")
    events = AuditEvent.objects.filter(act=Act.WORKSPACE_VISIBILITY).order_by("at")
    assert [event.detail["link"]["is"] for event in events] == ["unlisted", "private"]


def test_an_admin_makes_no_link(owner, scene):
    scene.own.user.memberships.update(role=Role.ADMIN)
    assert owner.post("/w/own-lab/link").status_code == 404
