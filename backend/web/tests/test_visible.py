"""How a request finds the workspace that it names: for how many statements, and for whom."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from backend.accounts.models import FormerSlug, Membership, Role, StaffAccess, User
from backend.accounts.workspace import workspaces
from backend.web.base import visible


def statements(client, path, status):
    with CaptureQueriesContext(connection) as made:
        assert client.get(path).status_code == status
    return [query["sql"] for query in made]


def test_a_foreign_and_a_missing_workspace_take_the_same_statements(owner, scene):
    foreign = statements(owner, "/w/foreign-lab/runs", 404)
    missing = statements(owner, "/w/missing-lab/runs", 404)
    # The session, its user, the user's roles, the workspace; the roles and the takedown of it.
    assert len(foreign) == len(missing) == 6
    named = [sql.replace("foreign-lab", "missing-lab") for sql in foreign]
    assert named[2:] == missing[2:]


@pytest.mark.parametrize("page", ["", "runs", "compare", "search?q=s", "settings", "result-sets"])
def test_a_page_reads_the_roles_of_its_viewer_once(page, owner):
    made = statements(owner, f"/w/own-lab/{page}", 200)
    assert len([sql for sql in made if '"accounts_membership"."user_id" =' in sql]) == 1


def test_a_visitor_without_an_account_has_no_roles_to_read(stranger, scene):
    # The workspace, and its takedown.
    assert len(statements(stranger, "/w/own-lab/runs", 404)) == 2


def test_a_slug_is_that_of_today_before_that_of_another_day(owner, scene):
    workspaces.rename(scene.own.workspace, name="Lab", slug="new-lab")
    response = owner.get("/w/own-lab/runs?q=x")
    assert (response.status_code, response["Location"]) == (302, "/w/new-lab/runs?q=x")
    assert owner.get("/w/new-lab/runs").status_code == 200
    FormerSlug.objects.create(slug="foreign-lab", workspace=scene.own.workspace)
    Membership.objects.create(
        user=scene.own.user, workspace=scene.foreign.workspace, role=Role.VIEWER
    )
    assert owner.get("/w/foreign-lab/runs").status_code == 200


def test_the_former_slug_of_a_foreign_workspace_says_nothing(owner, scene):
    workspaces.rename(scene.foreign.workspace, name="Lab", slug="moved-lab")
    assert owner.get("/w/foreign-lab/runs").status_code == 404
    assert owner.get("/w/moved-lab/runs").status_code == 404


def test_who_signs_in_during_a_request_is_asked_anew(scene):
    request = RequestFactory().get("/")
    request.session = {}
    request.user = AnonymousUser()
    assert not visible.is_own(request, scene.own.workspace)
    request.user = scene.own.user
    assert visible.is_own(request, scene.own.workspace)
    assert visible.may_own(request, scene.own.workspace)


def test_staff_reads_what_it_opened_and_changes_what_it_is_a_member_of(scene):
    staff = User.objects.create_user("op", is_staff=True)
    Membership.objects.create(user=staff, workspace=scene.foreign.workspace, role=Role.ADMIN)
    client = Client()
    client.force_login(staff)
    assert client.get("/w/own-lab/runs").status_code == 404
    for tenant in (scene.own, scene.foreign):
        StaffAccess.objects.create(
            user=staff, workspace=tenant.workspace, reason="4711", expires_at="2999-01-01T00:00Z"
        )
    assert client.get("/w/own-lab/runs").status_code == 200
    assert client.get("/w/own-lab/settings").status_code == 404
    assert client.get("/w/foreign-lab/settings").status_code == 200
