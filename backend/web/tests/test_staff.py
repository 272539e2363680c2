"""Staff: what they see without asking, and what they leave behind when they read a workspace."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver
from django.utils import timezone

from backend.accounts.models import Act, AuditEvent, StaffAccess, User
from backend.web.staff.staff_site import staff_site

pytestmark = pytest.mark.django_db
REASON = "Support request 4711"
LISTS = ["", "accounts/user/", "accounts/workspace/", "accounts/staffaccess/"]
LISTS += ["accounts/auditevent/", "accounts/staffaccess/add/"]


@pytest.fixture
def staff():
    return User.objects.create_user(username="op", is_staff=True)


@pytest.fixture
def client(staff):
    client = Client()
    client.force_login(staff)
    return client


def opened(client, scene, reason=REASON):
    form = {"workspace": str(scene.own.workspace.pk), "reason": reason}
    return client.post("/staff/accounts/staffaccess/add/", form)


def paths():
    """Every route of the staff's pages, with ids that do not exist."""
    (resolver,) = [
        pattern
        for pattern in get_resolver().url_patterns
        if isinstance(pattern, URLResolver) and pattern.namespace == "staff"
    ]
    return [f"/staff/{path}" for path in _below(resolver.url_patterns)]


def _below(patterns, prefix=""):
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _below(pattern.url_patterns, path)
        else:
            filled = path.replace("<path:object_id>", "0").replace("<path:content_type_id>", "0")
            yield filled.replace("<int:content_type_id>", "0").replace("<path:url>", "x")


def test_nobody_else_finds_the_pages(owner):
    assert len(paths()) > 20
    for path in paths():
        if "(?P" in path:
            continue
        for method in ("get", "post"):
            anonymous = getattr(Client(), method)(path)
            assert anonymous.status_code in (302, 404), path
            if anonymous.status_code == 302:
                assert anonymous["Location"].startswith("/accounts/login/"), path
            assert getattr(owner, method)(path).status_code == 404, path


@pytest.mark.parametrize("path", LISTS)
def test_staff_open_the_pages_without_content(client, scene, path):
    response = client.get(f"/staff/{path}")
    assert response.status_code == 200
    assert b"secret" not in response.content
    assert "unsafe-inline" not in response["Content-Security-Policy"]


def test_staff_read_no_workspace_before_they_open_it(client, scene):
    assert client.get("/w/own-lab/").status_code == 404
    assert client.get(f"/r/{scene.run.pk}").status_code == 404


def test_opening_a_workspace_lets_staff_read_and_tells_the_owners(client, staff, scene, owner):
    assert opened(client, scene).status_code == 302
    assert client.get(f"/r/{scene.run.pk}").status_code == 200
    (event,) = AuditEvent.objects.filter(act=Act.STAFF_ACCESS)
    assert (event.workspace_id, event.actor_name) == (scene.own.workspace.pk, "op")
    page = owner.get("/w/own-lab/audit").content.decode()
    assert "Staff opened the workspace" in page
    assert REASON in page


def test_opening_lets_staff_change_nothing(client, scene):
    opened(client, scene)
    for path in (f"/r/{scene.run.pk}/delete", "/w/own-lab/tokens", "/w/own-lab/settings"):
        assert client.post(path, {"name": "x", "scope": "runs:read"}).status_code == 404, path


def test_opening_ends(client, scene):
    opened(client, scene)
    StaffAccess.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.get("/w/own-lab/").status_code == 404


def test_opening_ends_with_the_staff(client, staff, scene):
    opened(client, scene)
    User.objects.filter(pk=staff.pk).update(is_staff=False)
    assert client.get("/w/own-lab/").status_code == 404


def test_opening_needs_a_reason(client, scene):
    assert opened(client, scene, reason="x").status_code == 200
    assert not StaffAccess.objects.exists()


@pytest.mark.parametrize("workspace", ["no id", "\0", "0" * 5000])
def test_a_broken_id_of_a_workspace_is_refused(client, workspace):
    form = {"workspace": workspace, "reason": REASON}
    answer = client.post("/staff/accounts/staffaccess/add/", form)
    assert answer.status_code == 400
    assert not StaffAccess.objects.exists()


def test_staff_close_an_account_and_that_is_recorded(client, scene):
    path = f"/staff/accounts/user/{scene.viewer.pk}/change/"
    assert client.post(path, {"is_staff": "on", "username": "x"}).status_code == 302
    scene.viewer.refresh_from_db()
    assert (scene.viewer.is_active, scene.viewer.is_staff) == (False, False)
    assert scene.viewer.username == "viewer"
    (event,) = AuditEvent.objects.filter(act=Act.STAFF_ACCOUNT)
    assert event.detail == {"is_active": {"was": True, "is": False}}


def test_staff_add_and_delete_nothing_else(client, staff, scene):
    for model in staff_site._registry:
        name = model._meta.model_name
        row = model._default_manager.first()
        if row is not None:
            assert client.post(f"/staff/accounts/{name}/{row.pk}/delete/").status_code == 403, name
        if name != "staffaccess":
            assert client.post(f"/staff/accounts/{name}/add/").status_code == 403, name
    own = client.post(f"/staff/accounts/user/{staff.pk}/change/", {})
    assert own.status_code in (302, 403)
    assert User.objects.get(pk=staff.pk).is_active
